"""The summary of a run: its record in a few lines, for a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["left_out", "summary"]

WORST_LINES = 8
"""The maximum number of lines with surviving mutants in a summary."""


def summary(record: Mapping[str, Any], suite_path: Path | None) -> str:
    """Return the result in a few lines for a person."""
    measured = record["measured"]
    seconds = record["seconds"]["search"] + record["seconds"]["finish"]  # "finish" includes "mutants"
    lines = [
        f"{record['subject']}: {_counted(record['tests'], 'test')}, {_counted(record['statements'], 'statement')}"
        + (f" -> {suite_path}" if suite_path else ""),
    ]
    if measured is not None:
        lines.append(
            f"branches {measured['branches']['covered']}/{measured['branches']['total']}, "
            f"lines {measured['lines']['covered']}/{measured['lines']['total']} (coverage.py, of the exported file)"
        )
    if existing := record.get("existing"):
        lines += _before_and_after(existing)
    elif record["mutants"] is not None:
        lines.append(_mutants_in_words(record["mutants"]))
    kinds = ", ".join(f"{e['type']} in {e['function']}" for e in record["exceptions"][:8])
    more = len(record["exceptions"]) - 8
    lines.append(
        _counted(len(record["exceptions"]), "exception")
        + (f": {kinds}" + (f" and {more} more" if more > 0 else "") if kinds else "")
    )
    lines.append(
        f"{_counted(record['generations'], 'generation')}, {_counted(record['executions'], 'execution')}, "
        f"{_counted(record['steps'], 'decision')}, {seconds:.1f} s"
    )
    if record["unfinished"]:
        lines.append(f"not finished: {'; '.join(record['unfinished'])}")
    if record["dropped"]:
        lines.append(f"left out: {_counted(len(record['dropped']), 'test')}, {left_out(record)}")
    return "\n".join(lines)


def left_out(record: Mapping[str, Any]) -> str:
    """Return the reasons why tests were left out of the suite, with their numbers of tests, most frequent first."""
    reasons = Counter(test["reason"] for test in record["dropped"])
    return ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common())


def _before_and_after(existing: Mapping[str, Any]) -> list[str]:
    """Return two lines: results of the existing tests alone, and together with the new ones."""
    branches, mutants = existing["branches"], existing["mutants"]
    total = branches["total"]
    before = f"branches {branches['before']}/{total}, mutants {mutants['before']}/{mutants['total']} killed"
    after = f"branches {branches['after']}/{total}"
    if mutants["after"] is not None:
        after += ", " + _mutants_in_words({**mutants, "killed": mutants["after"]})
    return [f"existing tests: {before}", f"together with the new tests: {after}"]


def _mutants_in_words(score: Mapping[str, Any]) -> str:
    """Return the number of killed mutants, and the lines in which most survive."""
    lines = Counter(score["survivor_lines"])
    worst = sorted(sorted(lines, key=lambda line: -lines[line])[:WORST_LINES])
    where = ", ".join(f"{line} ({lines[line]})" if lines[line] > 1 else str(line) for line in worst)
    more = " and elsewhere" if len(lines) > WORST_LINES else ""
    return f"mutants {score['killed']}/{score['total']} killed" + (
        f", survivors in lines {where}{more}" if where else ""
    )


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
