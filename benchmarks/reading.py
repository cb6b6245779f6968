#!/usr/bin/env python3
"""Sixty exported tests from ten packages, drawn by a seed, to be read and judged one by one.

    python benchmarks/reading.py draw --packages results/blind --draw 8 --results results/reading
    python benchmarks/reading.py table results/reading/verdicts.csv --output benchmarks/reading/table.md

`draw` writes `sheet.md`, the tests in their files' words, and `verdicts.csv`, one empty row per test. A reader looks at
each test with the module's source beside it and fills in a verdict and a reason. `table` summarises them. The tests
themselves are not committed, because they quote other people's packages.
"""

from __future__ import annotations

import argparse
import ast
import csv
import json
import random
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import core_subjects
from blind_modules import REQUIREMENTS, drawn
from modules_accepted import pinned
from remeasure import Subject, environment, source_file
from scipy import stats

PACKAGES, TESTS = 10, 6
VERDICTS = ("keep", "edit", "delete")
RUBRIC = """# Tests to read

Read each test as the maintainer of the package would, with the module's source beside it. Write into `verdicts.csv`:

- `keep`: I would commit it as it is. It checks behaviour that someone could break, and I understand it.
- `edit`: it checks something worth checking, but I would change it first (say what).
- `delete`: it checks nothing worth checking, repeats another test, or has no clear purpose.
"""


@dataclass(frozen=True)
class Verdict:
    """One test and what a reader said about it.

    Attributes:
        verdict: one of `VERDICTS`, "" as long as nobody has read the test.
    """

    number: int
    module: str
    test: str
    verdict: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Suite:
    """An exported file and the module that it tests."""

    module: str
    source: str
    text: str

    def tests(self) -> dict[str, str]:
        """Return the source of every test function by its name, with its decorators."""
        lines = self.text.splitlines()
        found = {}
        for node in ast.parse(self.text).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                found[node.name] = "\n".join(lines[first - 1 : node.end_lineno])
        return found


def suite_of(package: str, options: argparse.Namespace) -> Suite | None:
    """Generate a suite for the module drawn from a package; None if there is none."""
    module = drawn(package, options.packages, options.draw)
    if not module:
        return None
    subject = Subject("blind", package, "", module)
    folder = (options.results / subject.slug).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    env = environment(options.packages, folder)
    source = source_file(module, env, folder)
    initial = Path(source)
    is_package = initial.name == "__init__.py" and any(file != initial for file in initial.parent.rglob("*.py"))
    row = core_subjects.Row(module, options.seed)
    core_subjects.generate(subject, options.seed, options, folder, env, row, is_package=is_package)
    file = next(iter(sorted((folder / "suite").rglob("test_*.py"))), None)
    return Suite(module, source, file.read_text("utf-8")) if file else None


def suites(options: argparse.Namespace) -> list[Suite]:
    """Return the first suites with enough tests, in an order of packages that the seed draws."""
    names = pinned(REQUIREMENTS)
    random.Random(options.draw).shuffle(names)
    found: list[Suite] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        while names and len(found) < PACKAGES:
            batch = [names.pop(0) for _ in range(min(len(names), options.jobs))]
            made = pool.map(lambda name: suite_of(name, options), batch)
            found += [suite for suite in made if suite is not None and len(suite.tests()) >= TESTS]
            print(f"{len(found)} of {PACKAGES} suites", file=sys.stderr)
    return found[:PACKAGES]


def draw(options: argparse.Namespace) -> None:
    """Make the suites, draw the tests, and write the sheet and the empty verdicts."""
    chance = random.Random(options.draw)
    text, verdicts = [RUBRIC], list[Verdict]()
    for suite in suites(options):
        text.append(f"\n# `{suite.module}`\n\nSource: {suite.source}\n")
        tests = suite.tests()
        for name in sorted(chance.sample(sorted(tests), TESTS), key=list(tests).index):
            verdicts.append(Verdict(len(verdicts) + 1, suite.module, name))
            text.append(f"## {len(verdicts)}\n\n```python\n{tests[name]}\n```\n")
    options.results.mkdir(parents=True, exist_ok=True)
    (options.results / "sheet.md").write_text("\n".join(text), "utf-8")
    write(options.results / "verdicts.csv", verdicts)


def write(path: Path, verdicts: Sequence[Verdict]) -> None:
    """Write verdicts as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(file, [each.name for each in fields(Verdict)], lineterminator="\n")
        rows.writeheader()
        rows.writerows(asdict(verdict) for verdict in verdicts)


def read(path: Path) -> list[Verdict]:
    """Return the verdicts of a file.

    Raises:
        ValueError: for a test without a verdict or a reason.
    """
    found = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            verdict = Verdict(int(row["number"]), row["module"], row["test"], row["verdict"].strip(), row["reason"])
            if verdict.verdict not in VERDICTS or not verdict.reason.strip():
                raise ValueError(f"test {verdict.number} needs a verdict, one of {json.dumps(VERDICTS)}, and a reason")
            found.append(verdict)
    return found


def table(verdicts: Sequence[Verdict]) -> str:
    """Return the summary in Markdown: the counts, and the reason for each test."""
    counts = Counter(verdict.verdict for verdict in verdicts)
    interval = stats.binomtest(counts["keep"], len(verdicts)).proportion_ci(method="wilson")
    lines = [
        f"# {len(verdicts)} tests of {len({verdict.module for verdict in verdicts})} packages, read one by one",
        "",
        f"Kept {counts['keep']} ({counts['keep'] / len(verdicts):.0%}, 95 % interval {interval.low:.0%} to {interval.high:.0%}), "
        f"edited {counts['edit']}, deleted {counts['delete']}.",
        "",
        "| | module | test | verdict | reason |",
        "|---:|---|---|---|---|",
    ]
    for each in verdicts:
        reason = each.reason.strip().replace("|", "\\|")
        lines.append(f"| {each.number} | `{each.module}` | `{each.test}` | {each.verdict} | {reason} |")
    return "\n".join(lines) + "\n"


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw", help="make the suites and draw the tests")
    drawing.add_argument("--packages", type=Path, required=True, metavar="DIR", help="folder of the blind packages")
    drawing.add_argument("--draw", type=int, default=1, help="seed for drawing packages, modules and tests")
    drawing.add_argument("--seed", type=int, default=1, help="seed of the runs")
    drawing.add_argument("--budget", default="20s", help="such as 20s or 5000x")
    drawing.add_argument("--jobs", type=int, default=1, help="runs at the same time; at most one per core")
    drawing.add_argument("--results", type=Path, default=Path("results/reading"), metavar="DIR")
    drawing.set_defaults(goal="tests", agent=None, search=None)
    summing = commands.add_parser("table", help="summarise the verdicts")
    summing.add_argument("verdicts", type=Path, help="the CSV file with verdicts and reasons")
    summing.add_argument("--output", type=Path, metavar="FILE", help="also write the summary to this file")
    return parser.parse_args(given)


def main() -> int:
    """Return 0 when the sheet or the table is written."""
    options = arguments()
    if options.command == "draw":
        draw(options)
        return 0
    text = table(read(options.verdicts))
    print(text)
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
