#!/usr/bin/env python3
"""Exported suites in bare environments: a new virtual environment with one package, its requirements and pytest.

    python benchmarks/blind_modules.py --packages results/blind --draw 15 --results results/draw
    python benchmarks/bare_environments.py results/draw --pythons 3.11 3.12 3.13 --table benchmarks/modules/bare.md

The suites are those of a results folder of `blind_modules.py`. They were made beside the packages of all others, so a
test may depend on one that its own package does not require, on the machine, or on the version of Python. Every
environment is made with `pip install PACKAGE==VERSION pytest`; suites run in a folder of their own with four
environment variables. Needs a package index.
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import blind_modules
from remeasure import run
from runs_file import RunsFile, typed

LIMIT_S = 300.0
DESIGNED = "3.11"
"""The version of Python that the suites are made with."""


@dataclass(frozen=True)
class Row:
    """One suite in one environment.

    Attributes:
        passed, skipped, failing: numbers of tests, each case of a parametrized test counted.
        failures: names and messages of the failing tests, separated by " | ".
        problem: why there is no result, "" if there is one.
    """

    python: str
    module: str
    package: str = ""
    passed: int = 0
    skipped: int = 0
    failing: int = 0
    failures: str = ""
    problem: str = ""


FIELDS = tuple(Row.__dataclass_fields__)


@cache
def interpreter(version: str) -> str:
    """Return the path of an interpreter of this version, from `PATH` or pyenv; "" if there is none."""
    for name in (f"python{version}", *sorted(map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python")))):
        if (found := shutil.which(name)) and _version(found) == version:
            return found
    return ""


def _version(path: str) -> str:
    done = subprocess.run(
        [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True
    )
    return done.stdout.strip()


def environment(scratch: Path) -> dict[str, str]:
    """Return the variables of every process: a separate home and temporary folder, and nothing else of the user."""
    for name in ("home", "tmp"):
        (scratch / name).mkdir(parents=True, exist_ok=True)
    places = {"HOME": str(scratch / "home"), "TMPDIR": str(scratch / "tmp")}
    return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **places}


def outcome(suite: Path, module: str, requirement: str, python: str, folder: Path) -> Row:
    """Make the environment of a package, and run one suite in it."""
    package = requirement.partition("==")[0]
    place = folder / python / package
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    own = environment(place)
    made = run([interpreter(python), "-m", "venv", str(place / "venv")], own, place, LIMIT_S)
    user = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    there = str(place / "venv" / "bin" / "python")
    if not made.returncode:
        made = run([there, "-m", "pip", "install", "--quiet", requirement, "pytest"], user, place, 2 * LIMIT_S)
    if made.returncode:
        return Row(python, module, package, problem=_last(made.stderr) or "it cannot be installed")
    shutil.copytree(suite.parent, place / "suite")
    command = [there, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=junit.xml", suite.name]
    done = run(command, own, place / "suite", LIMIT_S)
    row = read_report(place / "suite" / "junit.xml", Row(python, module, package), _last(done.stdout + done.stderr))
    shutil.rmtree(place, ignore_errors=True)
    return row


def read_report(report: Path, row: Row, said: str) -> Row:
    """Return the row with the outcomes of a JUnit report."""
    try:
        root = ElementTree.parse(report).getroot()
    except (OSError, ElementTree.ParseError):
        return Row(row.python, row.module, row.package, problem=said or "pytest wrote no report")
    counts: collections.Counter[str] = collections.Counter()
    failures = []
    for case in root.iter("testcase"):
        tags = {child.tag for child in case}
        kind = "failing" if tags & {"failure", "error"} else "skipped" if "skipped" in tags else "passed"
        counts[kind] += 1
        if kind == "failing":
            told = next((child.get("message", "") for child in case if child.tag in ("failure", "error")), "")
            failures.append(f"{case.get('name')}: {' '.join(told.split())[:160]}")
    return Row(
        row.python,
        row.module,
        row.package,
        counts["passed"],
        counts["skipped"],
        counts["failing"],
        " | ".join(failures),
    )


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return re.sub(r"https?://\S+", "URL", lines[-1])[:200] if lines else ""


def summary(rows: Sequence[Row]) -> str:
    """Return the Markdown table: one row for each version of Python, then the tests that fail."""
    lines = [
        "# Suites in bare environments",
        "",
        "| Python | suites | tests that pass | skipped | fail | suites without a result |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for python in dict.fromkeys(row.python for row in rows):
        of = [row for row in rows if row.python == python]
        ran = [row for row in of if not row.problem]
        counts = [sum(getattr(row, name) for row in ran) for name in ("passed", "skipped", "failing")]
        lines.append(f"| {python} | {len(ran)} | {counts[0]} | {counts[1]} | {counts[2]} | {len(of) - len(ran)} |")
    bad = [row for row in rows if row.failing or row.problem]
    lines += ["", "| Python | module | fail | what |", "|---|---|---:|---|"] if bad else []
    for row in bad:
        what = (row.problem or row.failures).replace("|", "\\|")
        lines.append(f"| {row.python} | `{row.module}` | {row.failing} | {what[:200]} |")
    return "\n".join(lines) + "\n"


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", type=Path, help="results folder of blind_modules.py")
    parser.add_argument("--pythons", nargs="+", default=[DESIGNED], metavar="VERSION")
    parser.add_argument(
        "--only", action="append", default=[], metavar="PART", help="only modules with this in their name"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path("results/bare"), metavar="DIR")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="default: bare.csv in the folder of the suites")
    parser.add_argument("--table", type=Path, metavar="FILE", help="also write the summary to this file")
    options = parser.parse_args(given)
    options.rows = options.rows or options.suites / "bare.csv"
    if missing := [version for version in options.pythons if not interpreter(version)]:
        parser.error(f"no interpreter of Python {missing[0]} was found in PATH or pyenv")
    return options


def main() -> int:
    """Return 0 if every test of every suite passes or is skipped everywhere, 1 otherwise."""
    options = arguments()
    pins = {line.partition("==")[0]: line for line in blind_modules.REQUIREMENTS.read_text("utf-8").splitlines()}
    of_module = {row.module: pins[row.package] for row in blind_modules.read(options.suites / "rows.csv")}
    file = RunsFile(options.rows, FIELDS, 2)
    known = {key[:2] for key in file.rows()}
    jobs = [
        (suite, module, of_module[module], python)
        for python in options.pythons
        for suite in sorted(options.suites.glob("*/suite/**/test_*.py"))
        if (module := suite.relative_to(options.suites).parts[0].rsplit("-", 2)[0]) in of_module
        and all(part in module for part in options.only)
        and (python, module) not in known
    ]

    def made() -> Iterator[dict[str, object]]:
        with ThreadPoolExecutor(max(1, options.jobs)) as pool:
            rows = pool.map(lambda job: outcome(*job, options.folder.resolve()), jobs)
            for number, row in enumerate(rows, 1):
                print(
                    f"{number}/{len(jobs)} {row.python} {row.module}: {row.failing} fail {row.problem}", file=sys.stderr
                )
                yield asdict(row)

    file.add(made())
    rows = [typed(Row, row) for row in file.rows().values()]
    text = summary(rows)
    print(text)
    if options.table:
        options.table.parent.mkdir(parents=True, exist_ok=True)
        options.table.write_text(text, "utf-8")
    return int(any(row.failing or row.problem for row in rows))


if __name__ == "__main__":
    sys.exit(main())
