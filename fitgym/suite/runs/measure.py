"""Measurement of the coverage of an exported file with coverage.py.

The units are those of coverage.py. A *branch* is an arc out of a line that has more than one destination, so `if a and
b` has two, however many conditions it has. A *line* is an executable statement. The goal `branch` uses another unit:
its targets are the outcomes of single conditions and the entries of functions.
"""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fitgym.errors import FitgymError
from fitgym.subject.code.syntax import deep_trees
from fitgym.subject.subject import Reference
from fitgym.suite.runs.rerun import Rerun

__all__ = ["Arc", "Measured", "arcs_by_test", "class_lines", "measure", "read_coverage"]

Arc = tuple[int, int]
"""A jump between lines as in coverage.py; negative numbers stand for entering and leaving a code object."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Coverage of one module, or of one class in it, in the units of coverage.py.

    Attributes:
        branches_covered, branches_total: arcs out of lines with more than one destination.
        lines_covered, lines_total: executable statements.
    """

    branches_covered: int
    branches_total: int
    lines_covered: int
    lines_total: int

    @property
    def branch_coverage(self) -> float:
        """Share of branches covered, in [0, 1]; 1 if there are none."""
        return self.branches_covered / self.branches_total if self.branches_total else 1.0

    def as_dict(self) -> dict[str, dict[str, int]]:
        """Return the numbers for a run record."""
        return {
            "branches": {"covered": self.branches_covered, "total": self.branches_total},
            "lines": {"covered": self.lines_covered, "total": self.lines_total},
        }


def measure(file: str | Path, reference: Reference, *, limit_s: float = 120.0) -> Measured:
    """Run a test file in a fresh interpreter in the sandbox and measure its coverage.

    Args:
        file: an exported suite.
        reference: its subject; if it names a class, only the lines of the class count.
        limit_s: time limit in seconds.

    Raises:
        FitgymError: the run wrote no data.
    """
    rerun = Rerun(Path(file).read_text(encoding="utf-8"), reference, measured=True, limit_s=limit_s)
    try:
        rerun.wait()
        if not rerun.coverage_file.exists():
            raise FitgymError(f"'{file}' could not be measured: {rerun.unusable or 'the run was killed'}")
        return read_coverage(rerun.coverage_file, reference)
    finally:
        rerun.close()


def read_coverage(data_file: Path, reference: Reference) -> Measured:
    """Read the coverage of the subject from a data file, without importing the subject.

    A JSON report is written next to the data file.
    """
    import coverage  # slow to import, and not needed before the search is over

    path = os.path.realpath(reference.path)
    report = data_file.with_suffix(".json")
    measured = coverage.Coverage(data_file=str(data_file), config_file=False, branch=True, messages=False)
    measured.load()
    if path not in measured.get_data().measured_files():  # the subject was never imported: count everything as missing
        measured.get_data().add_arcs({path: []})
    with deep_trees():
        measured.json_report(morfs=[path], outfile=str(report), ignore_errors=False)
    (entry,) = json.loads(report.read_text(encoding="utf-8"))["files"].values()
    first, last = 0, 1 << 60
    if reference.class_name:
        first, last = class_lines(Path(path).read_bytes(), reference.class_name)

    def count(key: str) -> int:
        """Count lines, or branches by their first line, in the range; only destinations of branches are negative."""
        places = (place[0] if isinstance(place, list) else place for place in entry[key])
        return sum(first <= place <= last for place in places)

    branches, lines = count("executed_branches"), count("executed_lines")
    return Measured(branches, branches + count("missing_branches"), lines, lines + count("missing_lines"))


def arcs_by_test(data_file: Path, reference: Reference) -> dict[str, frozenset[Arc]]:
    """Return the jumps in the subject's file by the name of the test function that made them, without imports."""
    import coverage

    data = coverage.CoverageData(basename=str(data_file))
    data.read()
    path = os.path.realpath(reference.path)
    found = {}
    for context in sorted(data.measured_contexts()):
        if context:
            data.set_query_context(context)
            found[context.rpartition(".")[2]] = frozenset(data.arcs(path) or ())
    return found


def class_lines(source: str | bytes, class_name: str) -> tuple[int, int]:
    """Return the first and last line of a class, including its decorators.

    Raises:
        KeyError: the source has no such class.
    """
    body: Sequence[ast.stmt] = ast.parse(source).body
    found: ast.ClassDef | None = None
    for part in class_name.split("."):
        found = next((node for node in _classes(body) if node.name == part), None)
        if found is None:
            raise KeyError(class_name)
        body = found.body
    assert found is not None
    first = min([found.lineno, *(decorator.lineno for decorator in found.decorator_list)])
    return first, found.end_lineno or first


def _classes(body: Iterable[ast.AST]) -> list[ast.ClassDef]:
    """Return the classes that a block defines, including those under `if`, `try` and the like, the last one first."""
    found: list[ast.ClassDef] = []
    for node in body:
        if isinstance(node, ast.ClassDef):
            found.insert(0, node)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.expr):
            found = _classes(ast.iter_child_nodes(node)) + found
    return found
