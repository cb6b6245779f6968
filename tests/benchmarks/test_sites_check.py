"""The check of both kinds of probes: equal searches pass, and differences are reported."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fitgym.instrument._sites", reason="the probes in C were not built")

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SUBJECT = """
def grade(points: int, name: str) -> str:
    if not 0 <= points <= 100:
        raise ValueError(name)
    return "pass" if points * 2 > 99 and name in ("ann", "bob") else "fail"
"""


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = set(sys.modules)
    yield importlib.import_module("sites_check")
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("sites_check", "remeasure", "questions", "workload"):
            del sys.modules[name]


def options(folder: Path, **changed: Any) -> argparse.Namespace:
    return argparse.Namespace(**{"subjects": folder, "seed": 0, "executions": 60, **changed})


def test_a_subject_is_searched_the_same_with_either_kind(script: Any, tmp_path: Path) -> None:
    tmp_path.joinpath("grades.py").write_text(SUBJECT)
    row = script.check("grades", options(tmp_path))
    assert row.findings == []
    assert row.executions[0] == row.executions[1] >= 60
    assert row.sites > 5
    assert row.failures == {}


def test_a_subject_that_is_not_the_same_twice_says_nothing_about_the_probes(script: Any, tmp_path: Path) -> None:
    tmp_path.joinpath("clock.py").write_text(
        "import time\n\ndef late(t: int) -> bool:\n    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) < t\n"
    )
    row = script.check("clock", options(tmp_path))
    assert row.findings == []
    assert row.itself


def test_a_subject_that_cannot_be_searched_is_a_finding(script: Any, tmp_path: Path) -> None:
    row = script.check("nowhere", options(tmp_path))
    assert len(row.findings) == 1
    assert "nowhere" in row.findings[0]


def seen(statement: str, fuel: int = 1) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    return (statement,), ("", fuel, (b"", b"", b""), None, None, (), None, ())


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ([seen("f()"), seen("g()")], []),
        ([seen("f()"), seen("h()")], ["test case 1 is another one, so something was learnt that no trace shows"]),
        ([seen("f()", 2), seen("h()")], ["test case 0 differs in fuel: f()"]),
        ([seen("f()")], ["2 test cases against 1"]),
    ],
)
def test_the_first_difference_is_told(script: Any, second: list[Any], said: list[str]) -> None:
    assert script.differences([seen("f()"), seen("g()")], second) == said
