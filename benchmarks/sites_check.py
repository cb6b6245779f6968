#!/usr/bin/env python3
"""Check that the probes in C and in Python agree: runs the same search with both, on each subject of a set.

    python benchmarks/sites_check.py --install results/subjects
    python benchmarks/sites_check.py --subjects results/subjects --set extra --executions 2000

README.md in this folder explains the columns.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

from questions.processes import apart
from questions.searching import engine_on
from remeasure import install, subjects, subjects_folder
from rich.console import Console
from rich.table import Table

from fitgym.execution.executor import Limits
from fitgym.instrument.trace import Trace

FACTORIES = ("c", "python")
FITNESS = ("branch", "direct_branch", "weak_mutation")  # records counts, distances, direct calls and infection
POPULATION = 10
# Fuel must end every loop before the clock does, even with the slower probes, because the clock is not deterministic.
LIMITS = Limits(fuel=20_000, seconds=20.0)

NAMES = ("failure", "fuel", "reached", "direct", "infected", "calls", "raised", "stops")
"""The fields of a trace without mutants."""

recorded = attrgetter(*NAMES)

Seen = tuple[tuple[str, ...], tuple[Any, ...]]
"""A test case and its recorded fields."""


@dataclass
class Row:
    """The check of one subject.

    Attributes:
        subject: its name.
        executions: test cases of the search with each factory.
        sites: number of reached sites.
        failures: number of test cases that ended by each limit.
        itself: differences between two searches with the same factory. Then the subject depends on the time, for
            example, and cannot compare the factories.
        findings: other differences, and failed comparisons.
    """

    subject: str
    executions: tuple[int, ...] = ()
    sites: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    itself: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)


def searched(subject: str, folder: Path, seed: int, executions: int) -> list[Seen]:
    """Return every test case that a search executes with the factory of this process, with its recorded fields."""
    seen: list[Seen] = []
    with engine_on(subject, folder, seed=seed, limits=LIMITS, fitness=FITNESS, population=POPULATION) as engine:
        run = engine.executor.run

        def recording(testcases: Sequence[Any], table: Any, *more: Any, **named: Any) -> list[Trace]:
            traces: list[Trace] = run(testcases, table, *more, **named)
            for testcase, trace in zip(testcases, traces, strict=True):
                seen.append((tuple(map(repr, table.statements(testcase))), recorded(trace)))
            return traces

        engine.executor.run = recording  # type: ignore[method-assign]
        while engine.executions < executions:
            engine.step()
    return seen


def check(subject: str, options: argparse.Namespace) -> Row:
    """Run the same search with both factories."""
    row, started = Row(subject), time.perf_counter()
    request = (subject, options.subjects.resolve(), options.seed, options.executions)
    try:
        first, second = (apart(searched, *request, environment={"FITGYM_SITES": name}) for name in FACTORIES)
        found = differences(first, second)
        if found:
            row.itself = differences(first, apart(searched, *request, environment={"FITGYM_SITES": FACTORIES[0]}))
    except Exception as problem:
        row.findings.append(f"{type(problem).__name__}: {' '.join(str(problem).split())[:300]}")
        return row
    row.executions = (len(first), len(second))
    row.sites = len({site for _, data in first for site in memoryview(data[2][0]).cast("I")})
    row.failures = dict(Counter(data[0] for _, data in first if data[0]))
    row.findings += [] if row.itself else found
    row.seconds = round(time.perf_counter() - started, 1)
    return row


def differences(first: list[Seen], second: list[Seen]) -> list[str]:
    """Describe the first difference; all later differences follow from it."""
    for number, (one, other) in enumerate(zip(first, second, strict=False)):
        if one[0] != other[0]:
            return [f"test case {number} is another one, so something was learnt that no trace shows"]
        parts = [name for name, a, b in zip(NAMES, one[1], other[1], strict=True) if a != b]
        if parts:
            return [f"test case {number} differs in {', '.join(parts)}: {'; '.join(one[0])[:300]}"]
    return [] if len(first) == len(second) else [f"{len(first)} test cases against {len(second)}"]


def table(rows: list[Row], options: argparse.Namespace) -> Table:
    """Return a table of the rows, and the number of rows without findings."""
    shown = Table(title=f"{options.executions} executions, seed {options.seed}", title_justify="left")
    shown.add_column("subject", no_wrap=True)
    for name in ("C", "Python", "sites", "stopped", "s"):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("findings", overflow="fold")
    for row in rows:
        executions = [str(number) for number in row.executions] or ["-", "-"]
        stopped = ", ".join(f"{number} {name}" for name, number in row.failures.items())
        shown.add_row(
            *(row.subject, *executions, str(row.sites), stopped or "-", f"{row.seconds:.1f}"),
            "; ".join([*(f"with C sites twice: {what}" for what in row.itself), *row.findings]),
        )
    shown.add_section()
    shown.add_row(f"{sum(not row.findings and not row.itself for row in rows)} of {len(rows)} equal")
    shown.add_row(f"{sum(bool(row.itself) for row in rows)} not the same twice")
    return shown


def main() -> int:
    """Check all chosen subjects; the exit code is 1 if one differs or could not be searched."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", type=Path, metavar="DIR", help="first install the pinned packages to this folder")
    parser.add_argument(
        "--subjects", type=Path, metavar="DIR", help="folder of the installed packages (default: the --install folder)"
    )
    parser.add_argument("--set", default="core", choices=["core", "extra", "large"])
    parser.add_argument(
        "--only", action="append", default=[], metavar="PART", help="only subjects whose name contains this part"
    )
    parser.add_argument("--executions", type=int, default=500, help="of each search")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.subjects = subjects_folder(parser, options)
    if options.install is not None:
        install(options.install)
    rows = []
    for subject in subjects(options.set, options.only):
        rows.append(check(subject.text, options))
        said = "; ".join(rows[-1].findings) or ("not the same twice" if rows[-1].itself else "equal")
        print(f"{subject.text}: {said}", file=sys.stderr, flush=True)
    if not rows:
        parser.error(f"no subject of the set '{options.set}' has {' or '.join(options.only)} in its name")
    Console(width=None if sys.stdout.isatty() else 200).print(table(rows, options))
    return 1 if any(row.findings for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
