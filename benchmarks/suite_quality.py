#!/usr/bin/env python3
"""Compares suites of fitgym and of Pynguin for the same modules, from outside, by a reviewer's criteria.

    python benchmarks/suite_quality.py --install results/subjects                     # about half an hour
    python benchmarks/suite_quality.py --subjects results/subjects --only semver --mutants 20

README.md in this folder explains the columns.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from core_subjects import seconds
from mutation_check import Check, Score, limit_of, their_sources, tool_python
from mutation_check import outcomes as outcomes_of
from questions.peers import install_peers
from remeasure import HERE, environment, install, outcomes, run, subjects_folder
from rich.console import Console
from rich.table import Table

from fitgym.subject.source import locate

MODULES = HERE / "quality_subjects.txt"
TOOLS = ("fitgym", "pynguin")
RUNS = 5  # number of runs on the unchanged module


@dataclass(frozen=True)
class Shape:
    """The static properties of one test function.

    Attributes:
        statements: in its body, including nested blocks.
        checks: it has an `assert`, or expects an exception with `raises`.
        expected_failure: it is marked `xfail`.
    """

    statements: int
    checks: bool
    expected_failure: bool


@dataclass
class Row:
    """One suite.

    Attributes:
        failing: tests that do not always pass on the unchanged module; the mutation score leaves them out.
        killed, mutants: of the sample that both suites were run on.
        load: number of processes waiting for a core when generation began.
        problem: why there is no suite, "" if there is one.
    """

    module: str
    tool: str
    seed: int
    tests: int = 0
    unchecked: int = 0
    expected_failures: int = 0
    failing: int = 0
    statements: int = 0
    killed: int = 0
    mutants: int = 0
    wall_s: float = 0.0
    load: float = 0.0
    problem: str = ""
    survivors: list[str] = field(default_factory=list)

    @property
    def score(self) -> float:
        """Share of the mutants that the suite detects; 0 without a suite."""
        return self.killed / self.mutants if self.mutants else 0.0

    @property
    def length(self) -> float:
        """Mean number of statements per test."""
        return self.statements / max(1, self.tests)


def shapes(text: str) -> list[Shape]:
    """Return the test functions of a file, in order."""
    return [_shape(function) for function in _test_functions(ast.parse(text))]


def _test_functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    inside = [node.body if isinstance(node, ast.ClassDef) else [node] for node in tree.body]
    for node in itertools.chain.from_iterable(inside):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield node


def _shape(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Shape:
    inside = [node for node in ast.walk(function) if node is not function]
    called = [node.func for node in inside if isinstance(node, ast.Call)]
    attributes = [one.attr for one in called if isinstance(one, ast.Attribute)]
    checks = any(isinstance(node, ast.Assert) for node in inside) or any(
        name == "raises" or name.startswith("assert") for name in attributes
    )
    marked = any("xfail" in ast.unparse(one) for one in function.decorator_list)
    return Shape(sum(isinstance(node, ast.stmt) for node in inside), checks, marked)


def generate(tool: str, module: str, folder: Path, env: dict[str, str], options: argparse.Namespace) -> Path | str:
    """Return the suite that a tool writes for a module, or the reason why there is none."""
    for stale in folder.rglob("test_*.py"):
        stale.unlink()
    length = seconds(options.budget)
    if tool == "fitgym":
        command = [sys.executable, "-m", "fitgym", "generate", module, "--goal", options.goal, "--quiet"]
        command += ["--budget", options.budget, "--seed", str(options.seed), "--output", "suite"]
        command += ["--json", "record.json", *(["--search", options.search] if options.search else [])]
    else:
        command = [options.pynguin, "-m", "pynguin", "--project-path", str(options.subjects.resolve())]
        command += ["--module-name", module, "--output-path", "suite", "--report-dir", "report"]
        command += ["--maximum-search-time", f"{length:.0f}", "--maximum-mutation-time", f"{length:.0f}"]
        command += ["--seed", str(options.seed), "--algorithm", options.algorithm, "--no-rich"]
        command += ["--assertion-generation", options.assertions]
        env = env | {"PYNGUIN_DANGER_AWARE": "1", "PYTHONHASHSEED": "0"}
        del env["PYTHONPATH"]  # Pynguin extends the path itself, and its own packages are older
    done = run(command, env, folder, 10 * length + 120)
    (folder / "output.txt").write_text(done.stdout + done.stderr, "utf-8")
    found = sorted(path for path in folder.glob("suite/test_*.py") if "crash" not in path.name)
    if found:
        return found[0]
    last = ((done.stderr or done.stdout).strip().splitlines() or ["nothing said"])[-1]
    return f"no suite, exit code {done.returncode}: {last[:200]}"


def measure(tool: str, module: str, options: argparse.Namespace) -> tuple[Row, Path | None]:
    """Generate, read the file and run it on the unchanged module. Returns the row without score, and the suite.

    Tests that do not always pass on the unchanged module are removed from the suite that is scored.
    """
    folder = (options.results / f"{module}-{options.seed}" / tool).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    env = environment(options.subjects, folder)
    row = Row(module, tool, options.seed, load=round(os.getloadavg()[0], 2))
    started = time.perf_counter()
    suite = generate(tool, module, folder, env, options)
    row.wall_s = round(time.perf_counter() - started, 2)
    if isinstance(suite, str):
        row.problem = suite
        return row, None
    text = suite.read_text("utf-8")
    read = shapes(text)
    row.tests = len(read)
    row.statements = sum(shape.statements for shape in read)
    row.unchecked = sum(not shape.checks for shape in read)
    row.expected_failures = sum(shape.expected_failure for shape in read)
    runs = [outcomes(suite, env) for _ in range(RUNS)]
    seen = [(name, outcome) for one in runs for name, outcome in one.items()]
    failing = {name.rpartition(".")[2] for name, outcome in seen if outcome == "failed"}
    row.failing = len(failing)
    if not seen:
        row.problem = "pytest cannot run the suite"
        return row, None
    (folder / "scored").mkdir(exist_ok=True)
    scored = folder / "scored" / suite.name
    scored.write_text(without(text, failing), "utf-8")
    return row, scored


def without(text: str, names: set[str]) -> str:
    """Return a test file without the test functions of these names."""
    lines = text.splitlines(keepends=True)
    for function in reversed(list(_test_functions(ast.parse(text)))):
        if function.name in names:
            first = min([function.lineno, *(one.lineno for one in function.decorator_list)])
            del lines[first - 1 : function.end_lineno]
    return "".join(lines)


def score(made: Sequence[tuple[Row, Path | None]], options: argparse.Namespace) -> None:
    """Run the suites of one module on the same sample of cosmic-ray's mutants."""
    sources: list[tuple[str, str]] = []
    for row, suite in made:
        if suite is None:
            continue
        with tempfile.TemporaryDirectory(prefix="suite_quality_") as name:
            scratch = Path(name)
            env = environment(options.subjects, scratch) | {
                "MUTATED_LATE": "1"
            }  # Pynguin's suites first patch `random`
            check = Check(locate(row.module, options.subjects), suite, scratch, env)
            try:
                _, limit = limit_of(check, forked=True)
            except SystemExit as failed:
                row.problem = str(failed)
                continue
            sources = sources or their_sources(check, options.cosmic_ray, options.mutants)
            found = Score("cosmic-ray", outcomes_of(check, limit, sources, options.jobs, forked=True))
        row.killed, row.mutants, row.survivors = found.killed, found.total, found.survivors


def table(rows: Sequence[Row], options: argparse.Namespace) -> Table:
    """Return a line for each suite, and one for all suites of each tool."""
    title = (
        f"{options.budget} each, fitgym --goal {options.goal}, at most {options.mutants} mutants of cosmic-ray a module"
    )
    shown = Table("module", "tool", title=title, title_justify="left")
    for name in ("score", "tests", "no check", "xfail", "failing", "length", "wall s", "load"):
        shown.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        shown.add_row(
            row.module,
            row.tool,
            f"{row.score:.3f}",
            *map(str, (row.tests, row.unchecked, row.expected_failures, row.failing)),
            f"{row.length:.1f}",
            f"{row.wall_s:.1f}",
            f"{row.load:.1f}",
            end_section=row.tool == options.tools[-1],
        )
    for tool, means in summary(rows).items():
        shown.add_row(
            f"all {means['suites']}",
            tool,
            f"{means['score']:.3f}",
            str(means["tests"]),
            *(f"{means[name]:.1%}" for name in ("unchecked", "expected_failures", "failing")),
            f"{means['length']:.1f}",
            f"{means['wall_s']:.1f}",
            "",
        )
    return shown


def summary(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """Return for each tool the mean score, and shares and mean length over all of its tests.

    The mean is over the modules of which every suite could be scored.
    """
    found = {}
    unscored = {row.module for row in rows if row.problem}
    for tool in TOOLS:
        own = [row for row in rows if row.tool == tool]
        tests = sum(row.tests for row in own)
        if own:
            found[tool] = {
                "suites": len(own),
                "score": statistics.fmean([row.score for row in own if row.module not in unscored] or [0.0]),
                "tests": tests,
                "unchecked": sum(row.unchecked for row in own) / max(1, tests),
                "expected_failures": sum(row.expected_failures for row in own) / max(1, tests),
                "failing": sum(row.failing for row in own) / max(1, tests),
                "length": sum(row.statements for row in own) / max(1, tests),
                "wall_s": statistics.fmean(row.wall_s for row in own),
            }
    return found


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", type=Path, metavar="DIR", help="first install the pinned packages to this folder")
    parser.add_argument(
        "--subjects", type=Path, metavar="DIR", help="folder of the installed packages (default: the --install folder)"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="PART", help="only modules whose name contains this part"
    )
    parser.add_argument("--tools", nargs="+", default=TOOLS, choices=TOOLS)
    parser.add_argument("--budget", default="30s", help="of both, in seconds; Pynguin has its assertions on top")
    parser.add_argument("--goal", default="coverage", help="of fitgym")
    parser.add_argument("--search", help="of fitgym (default: its own)")
    parser.add_argument("--algorithm", default="DYNAMOSA", help="of Pynguin")
    parser.add_argument("--assertions", default="MUTATION_ANALYSIS", help="of Pynguin")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", type=int, default=200, help="largest number per module, evenly chosen; 0: all")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at the same time; generation runs one at a time")
    parser.add_argument(
        "--peers",
        type=Path,
        default=Path("results/peers"),
        metavar="DIR",
        help="folder for the installation of Pynguin",
    )
    parser.add_argument(
        "--tool-env",
        type=Path,
        default=Path("results/cosmic_ray"),
        metavar="DIR",
        help="folder for the installation of cosmic-ray",
    )
    parser.add_argument("--results", type=Path, default=Path("results/quality"), metavar="DIR")
    options = parser.parse_args(given)
    options.subjects = subjects_folder(parser, options)
    return options


def main(given: Sequence[str] | None = None) -> int:
    """Return 0 if every suite could be scored, 1 otherwise."""
    options, console = arguments(given), Console(width=None if sys.stdout.isatty() else 140)
    if options.install:
        install(options.install)
    present, absent = install_peers(options.peers, ("pynguin",))
    if absent:
        console.print(absent["pynguin"], markup=False)
        return 1
    options.pynguin = str(Path(present["pynguin"]).absolute())
    options.cosmic_ray = tool_python(options.tool_env)
    lines = MODULES.read_text("utf-8").splitlines()
    modules = [line for line in lines if line and not line.startswith("#")]
    modules = [one for one in modules if not options.only or any(part in one for part in options.only)]
    rows: list[Row] = []
    for module in modules:
        made = [measure(tool, module, options) for tool in options.tools]
        score(made, options)
        for row, _ in made:
            rows.append(row)
            print(f"{module} {row.tool}: {row.score:.3f}", *[row.problem] * bool(row.problem), file=sys.stderr)
        settings = {name: str(value) for name, value in vars(options).items()}
        report = {"settings": settings, "summary": summary(rows), "rows": [asdict(row) for row in rows]}
        options.results.mkdir(parents=True, exist_ok=True)
        (options.results / "table.json").write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    console.print(table(rows, options))
    return int(any(row.problem for row in rows))


if __name__ == "__main__":
    sys.exit(main())
