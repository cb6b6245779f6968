"""`fitgym generate` for a whole project: run it, print its summary, write its record."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from fitgym.commands.codes import DONE, FINDING, INTERRUPTED
from fitgym.commands.interruption import held

__all__ = ["run_project"]

EACH_S = 20.0
"""Default budget in seconds for each module of a project."""


def run_project(
    subject: str,
    keywords: Mapping[str, Any],
    *,
    budget: str,
    output: Path | None,
    only: Sequence[str],
    exclude: Sequence[str],
    tests: Path | None,
    jobs: int,
    again: bool,
    format: str,
    json: Path | None,
    quiet: bool,
) -> int:
    """Generate the suites of a project, and return the exit code; see `fitgym.commands.generate` for the arguments."""
    with held():
        from fitgym.commands.project_view import ProjectView
        from fitgym.evolution.budget import Budget
        from fitgym.project.generation import ProjectRequest, generate_project
        from fitgym.project.layout import find
        from fitgym.run.generation import writable_file
        from fitgym.run.setting import Setting
        from fitgym.suite.text.export import write

    to_stdout = json is not None and str(json) == "-"
    file = None if to_stdout else writable_file(json)
    project = find(subject, keywords["path"], only=only, exclude=exclude)
    usual = Budget(EACH_S * len(project.modules) / min(jobs, len(project.modules)), "s")
    request = ProjectRequest(
        project,
        Setting.from_keywords(**keywords),
        Budget.parse(budget) if budget else usual,
        output or project.generated,
        tests=project.tests if tests is None else tests,
        jobs=jobs,
        format=format,
        again=again,
    )
    with nullcontext() if quiet else ProjectView(len(project.modules)) as view:
        outcomes = generate_project(request, view or (lambda _: None))
    records = {name: outcome.record for name, outcome in outcomes.items() if outcome.record is not None}
    text = json_format.dumps({"modules": records}, indent=2) + "\n"
    if file is not None:
        write(text, file)
    sys.stdout.write(text if to_stdout else summary(outcomes, request.output) + "\n")
    if len(outcomes) < len(project.modules) or any(outcome.interrupted for outcome in outcomes.values()):
        return INTERRUPTED
    useful = any(outcome.path is not None or outcome.current for outcome in outcomes.values())
    return DONE if useful else FINDING


def summary(outcomes: Mapping[str, Any], output: Path) -> str:
    """Return the result of a project in a few lines."""
    records = [outcome.record for outcome in outcomes.values() if outcome.record is not None]
    if all(outcome.current for outcome in outcomes.values()):
        return f"{output}: all {len(outcomes)} modules are up to date (--again searches for more)"
    added = sum(record["tests"] for record in records)
    lines = [f"{len(records)} of {len(outcomes)} modules searched, {added} tests added -> {output}"]
    for noun in ("branches", "lines", "mutants"):
        before, after, total = _total(records, noun)
        if total:
            verb = " killed" if noun == "mutants" else ""
            lines.append(f"{noun} {before} -> {after} of {total}{verb}" if before else f"{noun} {after}/{total}{verb}")
    current = sum(outcome.current for outcome in outcomes.values())
    if current:
        lines.append(f"{current} up to date (--again searches for more)")
    postponed = sum(outcome.postponed for outcome in outcomes.values())
    if postponed:
        lines.append(f"{postponed} left for the next run: the budget was too small for all modules")
    for name, outcome in outcomes.items():
        if outcome.error:
            lines.append(f"not tested: {name}: {outcome.error}")
    return "\n".join(lines)


def _total(records: Sequence[Mapping[str, Any]], noun: str) -> tuple[int, int, int]:
    """Return the sums over all modules, see `_numbers`."""
    numbers = [_numbers(record, noun) for record in records]
    return sum(one[0] for one in numbers), sum(one[1] for one in numbers), sum(one[2] for one in numbers)


def _numbers(record: Mapping[str, Any], noun: str) -> tuple[int, int, int]:
    """Return three counts for a module: covered or killed by existing tests, by all tests, and in total."""
    if existing := record.get("existing"):
        before, after, total = (existing[noun][key] for key in ("before", "after", "total"))
        return before, before if after is None else after, total
    if noun == "mutants":
        score = record["mutants"]
        return (0, score["killed"], score["total"]) if score is not None else (0, 0, 0)
    measured = record["measured"]
    return (0, measured[noun]["covered"], measured[noun]["total"]) if measured is not None else (0, 0, 0)
