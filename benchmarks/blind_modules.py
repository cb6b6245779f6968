#!/usr/bin/env python3
"""Branch coverage on one module from each of 50 packages that were not used in development.

    python benchmarks/blind_modules.py --install results/blind --budget 20s
    python benchmarks/blind_modules.py --packages results/blind --budget 5000x --table benchmarks/modules/blind.md

A seed draws the modules: one per package that has enough statements, is no test and can be imported by a plain
interpreter. coverage.py measures the exported file in a fresh interpreter. Rows are stored in a file, so an interrupted
benchmark resumes. README.md in this folder explains the columns.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import core_subjects
from modules_accepted import install, modules_of, pinned
from remeasure import HERE, Subject, environment, outcomes, plain_branches, run, source_file
from runs_file import RunsFile, typed

REQUIREMENTS = HERE / "requirements_blind.txt"
NEEDS = HERE / "requirements_blind_needs.txt"
LEAST_STATEMENTS = 50


@dataclass(frozen=True)
class Row:
    """One suite.

    Attributes:
        covered, total: branches counted by coverage.py; 0 covered without a suite.
        failing: tests that fail in a plain run.
        rate: test-case executions per second of the search.
        wall_s: seconds of the whole command.
        problem: why there is no suite, "" if there is one.
    """

    package: str
    module: str
    seed: int
    budget: str
    covered: int = 0
    total: int = 0
    tests: int = 0
    failing: int = 0
    executions: int = 0
    rate: float = 0.0
    wall_s: float = 0.0
    problem: str = ""

    @property
    def share(self) -> float:
        """The share of covered branches, in [0, 1]; 1 for a suite of a module without branches."""
        return self.covered / self.total if self.total else float(not self.problem)


def statements(file: Path) -> int:
    """Return the number of statements in a source file without docstrings; 0 if it cannot be parsed."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, RecursionError, OSError):
        return 0
    return sum(
        isinstance(node, ast.stmt) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in ast.walk(tree)
    )


def drawn(package: str, folder: Path, seed: int) -> str:
    """Return the module drawn for a package, "" if none fits the rule; the same for the same seed."""
    found = modules_of(package, folder)
    random.Random(f"{seed} {package}").shuffle(found)
    with tempfile.TemporaryDirectory(prefix="blind-", ignore_cleanup_errors=True) as name:
        scratch = Path(name)
        env = environment(folder, scratch)
        for module in found:
            place = folder / module.replace(".", "/")
            file = next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)
            if file is None or statements(file) < LEAST_STATEMENTS or "vendor" in module:
                continue
            if run([sys.executable, "-c", f"import {module}"], env, scratch, 60).returncode == 0:
                return module
    return ""


def measure(package: str, options: argparse.Namespace) -> Row:
    """Generate a suite for the module of a package, and measure it without fitgym."""
    module = drawn(package, options.packages, options.draw)
    if not module:
        return Row(package, "", options.seed, options.budget, problem="no module fits the rule")
    subject = Subject("blind", package, "", module)
    folder = (options.results / f"{subject.slug}-{options.budget}-{options.seed}").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    env = environment(options.packages, folder)
    row = core_subjects.Row(module, options.seed)
    of_plain = source_file(module, env, folder)
    initial = Path(of_plain)
    is_package = initial.name == "__init__.py" and any(file != initial for file in initial.parent.rglob("*.py"))
    record = core_subjects.generate(subject, options.seed, options, folder, env, row, is_package=is_package)
    suite = next(iter(sorted((folder / "suite").rglob("test_*.py"))), None)
    if record is None or suite is None:
        problem = row.findings[-1] if row.findings else "no suite"
        total = plain_total(of_plain, env, folder)
        return Row(package, module, options.seed, options.budget, total=total, wall_s=row.wall_s, problem=problem[:200])
    results = outcomes(suite, env)
    branches = plain_branches(subject, of_plain, suite, env)
    seconds = record["seconds"]["search"]
    return Row(
        package,
        module,
        options.seed,
        options.budget,
        covered=branches.covered if branches else 0,
        total=branches.total if branches else 0,
        tests=len(results),
        failing=sum(outcome != "passed" for outcome in results.values()),
        executions=record["executions"],
        rate=round(record["executions"] / seconds, 1) if seconds else 0.0,
        wall_s=row.wall_s,
        problem="" if branches else "coverage.py measured nothing",
    )


def plain_total(file: str, env: dict[str, str], folder: Path) -> int:
    """Return the number of branches that coverage.py finds in a file."""
    code = (
        "import sys, coverage; c = coverage.Coverage(branch=True, data_file=None, config_file=False); "
        "a = c._analyze(sys.argv[1]); print(a.numbers.n_branches)"
    )
    done = run([sys.executable, "-c", code, file], env, folder, 60)
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip().isdigit() else 0


FIELDS = tuple(Row.__dataclass_fields__)


def rows_file(path: Path) -> RunsFile:
    """The file of rows, with package, module, seed and budget as the key."""
    return RunsFile(path, FIELDS, 4)


def read(path: Path) -> list[Row]:
    """Return the rows of a file, none if it does not exist."""
    return [typed(Row, row) for row in rows_file(path).rows().values()]


def summary(rows: Sequence[Row], budget: str) -> str:
    """Return the Markdown table, the worst modules first."""
    drawn_rows = [row for row in rows if row.module]
    shares = [row.share for row in drawn_rows] or [0.0]
    rates = [row.rate for row in drawn_rows if row.rate] or [0.0]
    lines = [
        f"# One module of each of {len(drawn_rows)} packages, {budget}",
        "",
        f"Branch coverage by coverage.py: mean {statistics.fmean(shares):.3f}, median {statistics.median(shares):.3f}. "
        f"Executions a second: median {statistics.median(rates):.0f}. "
        f"Without a suite: {sum(bool(row.problem) for row in drawn_rows)}. "
        f"Failing tests: {sum(row.failing for row in drawn_rows)}.",
        "",
        "| module | branches | share | tests | executions a second | wall s | |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    for row in sorted(drawn_rows, key=lambda one: (one.share, one.module)):
        problem = row.problem.replace("|", "\\|")
        lines.append(
            f"| `{row.module}` | {row.covered}/{row.total} | {row.share:.3f} | {row.tests} | {row.rate:.0f} "
            f"| {row.wall_s:.1f} | {problem} |"
        )
    return "\n".join(lines) + "\n"


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", type=Path, metavar="DIR", help="first install the pinned packages to this folder")
    parser.add_argument(
        "--packages", type=Path, metavar="DIR", help="folder of the installed packages (default: the --install folder)"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="PART", help="only packages whose name contains this part"
    )
    parser.add_argument("--draw", type=int, default=1, help="seed for drawing the modules")
    parser.add_argument("--seed", type=int, default=1, help="seed of the runs")
    parser.add_argument("--budget", default="20s", help="such as 20s or 5000x")
    parser.add_argument("--goal", default="coverage")
    parser.add_argument("--agent", help="default: the goal's own")
    parser.add_argument("--search", help="default: fitgym's")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time; at most one per core")
    parser.add_argument("--results", type=Path, default=Path("results/blind_runs"), metavar="DIR")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="default: rows.csv in the results folder")
    parser.add_argument("--table", type=Path, metavar="FILE", help="also write the summary to this file")
    options = parser.parse_args(given)
    options.packages = options.packages or options.install
    options.rows = options.rows or options.results / "rows.csv"
    if options.packages is None:
        parser.error("say where the packages are (--packages) or are to be installed (--install)")
    return options


def main() -> int:
    """Return 0 if every package has a suite whose tests pass, 1 otherwise."""
    options = arguments()
    if options.install:
        install(options.install, REQUIREMENTS, NEEDS)
    rows = [row for row in read(options.rows) if (row.seed, row.budget) == (options.seed, options.budget)]
    known = {row.package for row in rows}
    names = [name for name in pinned(REQUIREMENTS) if not options.only or any(part in name for part in options.only)]
    jobs = [name for name in names if name not in known]

    def made() -> Iterator[dict[str, object]]:
        with ThreadPoolExecutor(max(1, min(options.jobs, os.cpu_count() or 1))) as pool:
            for number, row in enumerate(pool.map(lambda name: measure(name, options), jobs), 1):
                rows.append(row)
                told = f"{row.module or row.package}: {row.share:.3f} {row.problem}"
                print(f"{number}/{len(jobs)} {told}", file=sys.stderr)
                yield asdict(row)

    rows_file(options.rows).add(made())
    text = summary([row for row in rows if row.package in names], options.budget)
    print(text)
    if options.table:
        options.table.parent.mkdir(parents=True, exist_ok=True)
        options.table.write_text(text, "utf-8")
    return int(any(row.problem or row.failing for row in rows))


if __name__ == "__main__":
    sys.exit(main())
