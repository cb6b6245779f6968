#!/usr/bin/env python3
"""Generate a suite for each subject of a set, and measure every suite again from outside.

    python benchmarks/core_subjects.py --install results/subjects
    python benchmarks/core_subjects.py --subjects results/subjects --budget 30s --seeds 1 --jobs 2
    python benchmarks/core_subjects.py --subjects results/subjects --goal exceptions --agent ucb

README.md in this folder explains the columns.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from remeasure import (
    Branches,
    Subject,
    bare,
    clean_branches,
    environment,
    install,
    outcomes,
    plain_branches,
    raised,
    run,
    source_file,
    subjects,
    subjects_folder,
)
from rich.console import Console
from rich.table import Table

RE_RUNS = 3
ALLOWED_OVER_BUDGET = 0.2


@dataclass
class Row:
    """One run on one subject.

    Attributes:
        findings: problems in words; empty if there are none.
    """

    subject: str
    seed: int
    tests: int = 0
    passed: int = 0
    recorded: Branches | None = None
    plain: Branches | None = None
    clean: Branches | None = None
    exceptions: int = 0
    raised: int = 0
    wall_s: float = 0.0
    findings: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Branch coverage measured by coverage.py, 0 without a suite."""
        return self.plain.share if self.plain else 0.0


def measure(subject: Subject, seed: int, options: argparse.Namespace) -> Row:
    """Generate a suite, then check the exported file without fitgym."""
    folder = (options.results / f"{subject.slug}-{seed}").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    env = environment(options.subjects, folder)
    row = Row(subject.text, seed)
    record = generate(subject, seed, options, folder, env, row)
    if record is None:
        return row
    suite = folder / "suite" / record["suite_path"] if record["suite_path"] else None
    if suite is None or not suite.exists():
        row.findings.append("no suite")
        return row
    rerun(suite, env, seed, row)
    file = source_file(subject.module, env, folder)
    row.plain, row.clean = plain_branches(subject, file, suite, env), clean_branches(subject, file, suite, env)
    compare_branches(record, row)
    compare_exceptions(record, raised(file, suite, env), row)
    return row


def generate(
    subject: Subject,
    seed: int,
    options: argparse.Namespace,
    folder: Path,
    env: dict[str, str],
    row: Row,
    *,
    is_package: bool = False,
) -> dict[str, Any] | None:
    """Run `fitgym generate` in a separate process. Returns the record, or None with the reason in `row.findings`.

    Of a package only the module itself, its `__init__.py`, gets a suite.
    """
    for stale in [folder / "record.json", *(folder / "suite").rglob("*.py")]:
        stale.unlink(missing_ok=True)
    command = [sys.executable, "-m", "fitgym", "generate", subject.text, "--goal", options.goal, "--quiet"]
    command += ["--budget", options.budget, "--seed", str(seed), "--output", "suite", "--json", "record.json"]
    command += ["--agent", options.agent] if options.agent else []
    command += ["--search", options.search] if options.search else []
    command += ["--exclude", f"{subject.text}.*"] if is_package else []
    started = time.perf_counter()
    done = run(command, env, folder, 10 * seconds(options.budget) + 120)
    row.wall_s = round(time.perf_counter() - started, 2)
    (folder / "stdout.txt").write_text(done.stdout, "utf-8")
    (folder / "stderr.txt").write_text(done.stderr, "utf-8")
    if options.budget.endswith("s") and row.wall_s > seconds(options.budget) * (1 + ALLOWED_OVER_BUDGET):
        row.findings.append(f"{row.wall_s - seconds(options.budget):.1f} s over budget")
    if done.returncode != 0 or not (folder / "record.json").exists():
        last = (done.stderr.strip().splitlines() or ["nothing said"])[-1]
        row.findings.append(f"exit code {done.returncode}: {last[:200]}")
        return None
    record: dict[str, Any] = json.loads((folder / "record.json").read_text("utf-8"))
    return record["modules"][subject.text] if "modules" in record else record


def seconds(budget: str) -> float:
    """Return a budget in seconds; for budgets in another unit, more time than any run of the benchmark needs."""
    return float(budget[:-1]) if budget.endswith("s") else 60.0


def rerun(suite: Path, env: dict[str, str], seed: int, row: Row) -> None:
    """Run the suite three times in fresh interpreters, the last time in random order; every test must always pass."""
    runs = [outcomes(suite, env, seed if number == RE_RUNS - 1 else None) for number in range(RE_RUNS)]
    names = set().union(*runs)
    row.tests = len(names)
    row.passed = sum(all(one.get(name) == "passed" for one in runs) for name in names)
    if not names:
        row.findings.append("pytest cannot run the suite")
    for name in sorted(names):
        seen = [one.get(name, "missing") for one in runs]
        if set(seen) != {"passed"}:
            row.findings.append(f"{name}: {', '.join(seen)}")


def compare_branches(record: dict[str, Any], row: Row) -> None:
    """Compare the record's branch coverage with coverage.py's."""
    measured = record.get("measured")
    if measured is not None:
        row.recorded = Branches(measured["branches"]["covered"], measured["branches"]["total"])
    if row.plain is None:
        row.findings.append("coverage.py measured nothing")
    elif row.recorded != row.plain:
        said = f"{row.recorded.covered}/{row.recorded.total}" if row.recorded else "nothing"
        row.findings.append(f"record says {said} branches, coverage.py {row.plain.covered}/{row.plain.total}")


def compare_exceptions(record: dict[str, Any], found: set[tuple[str, str]], row: Row) -> None:
    """Check that an exported test raises and expects every exception of the record."""
    said = {(entry["type"], bare(entry["function"])) for entry in record["exceptions"]}
    row.exceptions, row.raised = len(said), len(said & found)
    row.findings += [f"{kind} in {function} is in the record only" for kind, function in sorted(said - found)]


def table(rows: list[Row], options: argparse.Namespace) -> Table:
    """Return a table of the rows and their means."""
    shown = Table(title=f"{options.goal}, {options.agent or 'own agent'}, {options.budget}", title_justify="left")
    counts = ("tests", "passed", "recorded", "coverage.py", "clean", "share", "exceptions", "raised")
    for name in ("subject", "seed", *counts, "wall s"):
        shown.add_column(name, justify="left" if name == "subject" else "right", no_wrap=True)
    shown.add_column("findings", overflow="fold")
    for row in rows:
        shown.add_row(
            *(row.subject, str(row.seed), str(row.tests), str(row.passed)),
            *(f"{b.covered}/{b.total}" if b else "-" for b in (row.recorded, row.plain, row.clean)),
            *(f"{row.share:.3f}", str(row.exceptions), str(row.raised), f"{row.wall_s:.1f}"),
            f"{len(row.findings)}: {row.findings[0]}" if row.findings else "",
        )
    shown.add_section()
    shown.add_row(
        *(
            f"all {len(rows)}",
            "",
            str(sum(row.tests for row in rows)),
            str(sum(row.passed for row in rows)),
            "",
            "",
            "",
        ),
        f"{statistics.fmean(row.share for row in rows):.3f}",
        *(str(sum(row.exceptions for row in rows)), str(sum(row.raised for row in rows))),
        f"{statistics.fmean(row.wall_s for row in rows):.1f}",
        str(sum(map(bool, (row.findings for row in rows)))),
    )
    return shown


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", type=Path, metavar="DIR", help="first install the pinned packages to this folder")
    parser.add_argument(
        "--subjects", type=Path, metavar="DIR", help="folder of the installed packages (default: the --install folder)"
    )
    parser.add_argument("--set", default="core", choices=["core", "extra", "large"])
    parser.add_argument(
        "--only", action="append", default=[], metavar="PART", help="only subjects whose name contains this part"
    )
    parser.add_argument("--goal", default="coverage")
    parser.add_argument("--agent", help="default: the goal's own")
    parser.add_argument("--search", help="default: fitgym's")
    parser.add_argument("--budget", default="30s")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time; at most one per core")
    parser.add_argument("--results", type=Path, default=Path("results/core"), metavar="DIR")
    parser.add_argument("--json", type=Path, metavar="FILE", help="default: table.json in the results folder")
    options = parser.parse_args()
    options.subjects = subjects_folder(parser, options)
    return options


def main() -> int:
    """Return 0 without findings, 1 otherwise."""
    options, console = arguments(), Console(width=None if sys.stdout.isatty() else 200)
    if options.install:
        install(options.install)
    chosen = subjects(options.set, options.only)
    if not chosen:
        console.print(f"no subject has {' or '.join(options.only)} in its name")
        return 2
    jobs = [(subject, seed) for subject in chosen for seed in options.seeds]
    rows: list[Row] = []
    with ThreadPoolExecutor(max(1, min(options.jobs, os.cpu_count() or 1))) as pool:
        for row in pool.map(lambda job: measure(job[0], job[1], options), jobs):
            rows.append(row)
            print(
                f"{len(rows)}/{len(jobs)} {row.subject}: {row.share:.3f}", *row.findings, sep="\n    ", file=sys.stderr
            )
    console.print(table(rows, options))
    path = options.json or options.results / "table.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    settings = {name: str(value) for name, value in vars(options).items()}
    path.write_text(json.dumps({"settings": settings, "rows": [asdict(row) for row in rows]}, indent=2) + "\n", "utf-8")
    return int(any(row.findings for row in rows))


if __name__ == "__main__":
    sys.exit(main())
