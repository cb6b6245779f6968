"""The comparison of suites: properties read from test files, and their totals."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

SUITE = """import pytest


def test_plain():
    value = 1
    assert value == 1


@pytest.mark.xfail(strict=True)
def test_marked():
    with open("x"):
        int("x")


def test_expects():
    with pytest.raises(ValueError):
        int("x")


class TestUnit:
    def test_inside(self):
        self.assertEqual(1, 1)

    def help(self):
        assert True


def test_nothing():
    int("1")
"""


@pytest.fixture(scope="module")
def quality() -> Iterator[Any]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("suite_quality")
    finally:
        sys.path.remove(str(BENCHMARKS))


def test_shapes_tell_checks_expected_failures_and_length(quality: Any) -> None:
    told = [(one.statements, one.checks, one.expected_failure) for one in quality.shapes(SUITE)]
    plain, marked, expects, inside, nothing = (2, True), (2, False), (2, True), (1, True), (1, False)
    assert told == [(*plain, False), (*marked, True), (*expects, False), (*inside, False), (*nothing, False)]


def test_failing_tests_are_cut_out_with_their_marks(quality: Any) -> None:
    left = quality.without(SUITE, {"test_marked", "test_inside"})
    assert "xfail" not in left and "test_inside" not in left and "def help" in left
    assert len(quality.shapes(left)) == 3


def test_scores_are_meant_by_module_and_shares_by_test(quality: Any) -> None:
    rows = [
        quality.Row("a", "fitgym", 1, tests=3, unchecked=3, statements=6, killed=1, mutants=2),
        quality.Row("b", "fitgym", 1, tests=1, statements=6, killed=2, mutants=2),
        quality.Row("c", "fitgym", 1, killed=0, mutants=2),
        quality.Row("c", "pynguin", 1, problem="no suite"),
    ]
    found = quality.summary(rows)
    assert found["fitgym"]["score"] == 0.75
    assert (found["fitgym"]["unchecked"], found["fitgym"]["length"]) == (0.75, 3.0)
    assert (found["pynguin"]["score"], found["pynguin"]["length"]) == (0.0, 0.0)


def test_the_modules_are_in_the_core_set(quality: Any) -> None:
    remeasure = importlib.import_module("remeasure")
    named = [line for line in quality.MODULES.read_text("utf-8").splitlines() if not line.startswith("#")]
    assert len(named) == 10
    assert set(named) <= {subject.module for subject in remeasure.subjects("core", [])}
