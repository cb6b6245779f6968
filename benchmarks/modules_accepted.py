#!/usr/bin/env python3
"""Which modules of 200 published packages can be tested, and what does fitgym say about the others?

    python benchmarks/modules_accepted.py --install results/packages --jobs 2
    python benchmarks/modules_accepted.py --packages results/packages --only docutils --most 30

Each module is started as in `fitgym generate`, and a few random test cases run. A plain interpreter then imports each
rejected module: if Python cannot import a module, fitgym need not accept it. Rows are stored in a file, so an
interrupted benchmark resumes. README.md in this folder explains the columns.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from remeasure import HERE, environment
from runs_file import RunsFile, typed

REQUIREMENTS = HERE / "requirements_modules.txt"
NEEDS = HERE / "requirements_modules_needs.txt"
LIMIT_S = 60.0  # for one module: start and test cases
PLAIN_LIMIT_S = 60.0
TESTCASES = 20

TESTED, EMPTY, NOT_IMPORTED, NO_SOURCE = "tested", "nothing to test", "not importable", "no source"
OPTION, REFUSED = "needs an option", "refused"
OUTCOMES = (TESTED, EMPTY, NOT_IMPORTED, NO_SOURCE, OPTION, REFUSED)

# Runs in a separate process, because a subject may crash its process.
TRY = """
import json, sys
import numpy as np
from fitgym.execution.executor import Executor
from fitgym.messages.limits import Limits
from fitgym.subject.source import locate
from fitgym.testcase.factory import TestFactory
from fitgym.testcase.statement import StatementTable
module, folder, number, programs = sys.argv[1:]
found = locate(module, folder, programs)
with Executor(found, Limits(import_seconds=40.0)) as executor:
    subject = executor.subject
    table = StatementTable()
    factory, chance = TestFactory(subject, table), np.random.default_rng(1)
    tests = [test for test in (factory.random_test(chance) for _ in range(int(number))) if test]
    traces = executor.run(tests, table)
    print(json.dumps({"run": sum(trace.failure == "" for trace in traces), "all": len(tests)}))
"""


@dataclass(frozen=True)
class Row:
    """The result of one module.

    Attributes:
        outcome: one of `OUTCOMES`.
        sentence: fitgym's message, "" if the module was tested.
        plain: the message of a plain interpreter, "" if it imports the module or was not started.
        run: number of generated test cases that finished.
        seconds: wall time.
    """

    package: str
    module: str
    outcome: str
    sentence: str
    plain: str
    run: int
    testcases: int
    seconds: float


def pinned(path: Path) -> list[str]:
    """Return the package names of a requirements file, in its order."""
    lines = path.read_text("utf-8").splitlines()
    return [line.partition("==")[0] for line in lines if "==" in line and not line.startswith("#")]


def install(folder: Path, *files: Path) -> None:
    """Install the packages of requirements files to a folder, without dependencies, unless they are there."""
    stamp, pins = folder / ".installed", "".join(file.read_text("utf-8") for file in files)
    if stamp.exists() and stamp.read_text("utf-8") == pins:
        return
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--upgrade"]
    wanted = [part for file in files for part in ("-r", str(file))]
    subprocess.run([*command, "--target", str(folder), *wanted], check=True)
    stamp.write_text(pins, "utf-8")


def modules_of(package: str, folder: Path) -> list[str]:
    """Return the installed modules of a package by name, in order, without tests and programs."""
    wanted = re.sub(r"[-_.]+", "-", package).lower()
    for found in importlib.metadata.distributions(path=[str(folder)]):
        if re.sub(r"[-_.]+", "-", found.metadata["Name"]).lower() == wanted:
            return sorted(filter(None, (_module(str(file)) for file in found.files or ())))
    return []


def _module(file: str) -> str:
    """Return the module in a file of a package, "" if the file is left out."""
    parts = Path(file).with_suffix("").parts
    if not file.endswith(".py") or not all(part.isidentifier() for part in parts):
        return ""
    if any(re.fullmatch(r"tests?|testing|conftest|__main__|test_.*|.*_tests?|setup", part) for part in parts):
        return ""
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def drawn(package: str, folder: Path, most: int, seed: int) -> list[str]:
    """Return at most `most` modules of a package; the same for the same seed, whatever the other packages."""
    found = modules_of(package, folder)
    return sorted(random.Random(f"{seed} {package}").sample(found, min(most, len(found))))


def examine(package: str, module: str, options: argparse.Namespace) -> Row:
    """Start one module and run a few test cases."""
    with tempfile.TemporaryDirectory(prefix="modules-", ignore_cleanup_errors=True) as name:
        scratch = Path(name)
        env = environment(options.packages, scratch)
        work = scratch / "work"
        work.mkdir()
        started = time.perf_counter()
        command = [sys.executable, "-c", TRY, module, str(options.packages.resolve()), str(TESTCASES), options.programs]
        code, out, err = _run(command, env, work, LIMIT_S)
        seconds = round(time.perf_counter() - started, 2)
        if code == 0:
            told = json.loads(out.splitlines()[-1])
            if not told["all"]:
                return Row(package, module, EMPTY, "no object of its classes can be made", "", 0, 0, seconds)
            return Row(package, module, TESTED, "", "", told["run"], told["all"], seconds)
        lines = [line for line in err.splitlines() if line.strip()]
        sentence = lines[-1].strip() if lines else f"ended with status {code}"
        if code == 124:
            sentence = f"not ready within {LIMIT_S:g} s"
        sentence = re.sub(r"^[\w.]*SubjectError: ", "", sentence)
        if "offers nothing to test" in sentence:
            return Row(package, module, EMPTY, sentence, "", 0, 0, seconds)
        if "fitgym needs Python source" in sentence or "namespace package" in sentence:
            return Row(package, module, NO_SOURCE, sentence, "", 0, 0, seconds)
        if "allow it with --programs" in sentence:
            return Row(package, module, OPTION, sentence, "", 0, 0, seconds)
        code, _, err = _run([sys.executable, "-c", f"import {module}"], env, work, PLAIN_LIMIT_S)
        plain = ""
        if code != 0:
            plain = ([line for line in err.splitlines() if line.strip()] or [f"status {code}"])[-1].strip()
        kind = plain.partition(":")[0].rpartition(".")[2]
        named = bool(plain) and (kind in sentence or code < 0 or "exits" in sentence or "ended the process" in sentence)
        return Row(package, module, NOT_IMPORTED if named else REFUSED, sentence, plain, 0, 0, seconds)


def _run(command: list[str], env: dict[str, str], cwd: Path, limit: float) -> tuple[int, str, str]:
    """Return status, output and errors; status 124 at the limit."""
    try:
        done = subprocess.run(
            command, env=env, cwd=cwd, timeout=limit, capture_output=True, text=True, errors="replace",
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        return 124, "", ""


FIELDS = tuple(Row.__dataclass_fields__)


def rows_file(path: Path) -> RunsFile:
    """The file of the rows."""
    return RunsFile(path, FIELDS, 2)


def read(path: Path) -> list[Row]:
    """Return the rows of a file, none if it does not exist; an incomplete line is left out."""
    return [typed(Row, row) for row in rows_file(path).rows().values()]


def general(sentence: str) -> str:
    """Return a message without the parts that differ between modules, so that messages of one class are equal."""
    text = re.sub(r"'[^']*'", "'…'", sentence)
    text = re.sub(r"/[^\s,;:]+", "…", text)
    return re.sub(r"\d+(\.\d+)?", "N", text)[:160]


def summary(rows: Iterable[Row]) -> str:
    """Return the Markdown table: the number of modules per outcome, and the messages by class."""
    rows = list(rows)
    counts = Counter(row.outcome for row in rows)
    packages = {row.package for row in rows}
    accepted = len(rows) - counts[REFUSED]
    lines = [
        "# Modules that can be tested",
        "",
        f"{len(rows)} modules of {len(packages)} packages. {accepted} ({accepted / max(1, len(rows)):.1%}) can be tested,",
        "or get a sentence that says what Python itself says, or which option to use. Median time of a module that was tested: "
        f"{statistics.median([row.seconds for row in rows if row.outcome == TESTED] or [0.0]):.1f} s.",
        "",
        "| outcome | modules | share |",
        "|---|---:|---:|",
        *(f"| {name} | {counts[name]} | {counts[name] / max(1, len(rows)):.1%} |" for name in OUTCOMES),
        "",
        "Sentences by class, with what differs between modules left out:",
        "",
        "| outcome | modules | sentence | for example |",
        "|---|---:|---|---|",
    ]
    classes: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row.outcome != TESTED:
            classes[row.outcome, general(row.sentence)].append(row)
    for (outcome, sentence), members in sorted(classes.items(), key=lambda one: (-len(one[1]), one[0])):
        shown = sentence.replace("|", "\\|")
        lines.append(f"| {outcome} | {len(members)} | {shown} | `{members[0].module}` |")
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
    parser.add_argument("--most", type=int, default=30, help="largest number of modules per package")
    parser.add_argument("--seed", type=int, default=1, help="draws them")
    parser.add_argument("--programs", default="", help="programs that an import may start, such as uname,git")
    parser.add_argument("--jobs", type=int, default=1, help="modules at the same time; at most one per core")
    parser.add_argument("--rows", type=Path, default=Path("results/modules/rows.csv"), metavar="FILE")
    parser.add_argument("--table", type=Path, metavar="FILE", help="also write the summary to this file")
    options = parser.parse_args(given)
    options.packages = options.packages or options.install
    if options.packages is None:
        parser.error("say where the packages are (--packages) or are to be installed (--install)")
    return options


def main() -> int:
    """Return 0 if at least 98 % of the modules are accepted, 1 otherwise."""
    options = arguments()
    if options.install:
        install(options.install, REQUIREMENTS, NEEDS)
    rows = read(options.rows)
    known = {(row.package, row.module) for row in rows}
    packages = [name for name in pinned(REQUIREMENTS) if not options.only or any(part in name for part in options.only)]
    jobs = [
        (package, module)
        for package in packages
        for module in drawn(package, options.packages, options.most, options.seed)
        if (package, module) not in known
    ]
    random.Random(options.seed).shuffle(jobs)  # so that an interrupted benchmark is a random sample

    def made() -> Iterator[dict[str, object]]:
        with ThreadPoolExecutor(max(1, min(options.jobs, os.cpu_count() or 1))) as pool:
            for number, row in enumerate(pool.map(lambda job: examine(*job, options), jobs), 1):
                rows.append(row)
                said = f": {row.sentence}" if row.outcome == REFUSED else ""
                print(f"{number}/{len(jobs)} {row.module}: {row.outcome}{said}", file=sys.stderr)
                yield asdict(row)

    rows_file(options.rows).add(made())
    text = summary(rows)
    print(text)
    if options.table:
        options.table.parent.mkdir(parents=True, exist_ok=True)
        options.table.write_text(text, "utf-8")
    return int(sum(row.outcome == REFUSED for row in rows) > 0.02 * len(rows))


if __name__ == "__main__":
    sys.exit(main())
