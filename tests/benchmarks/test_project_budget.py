"""The benchmark of divisions: planted curves give numbers that are computed by hand."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fitgym.allocation.curve import Curve
from fitgym.allocation.recorded import recorded
from fitgym.allocation.rules import RULES

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The script as a module."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module("project_budget")
    del sys.modules["project_budget"]


def curve(name: str, covered: list[int], total: int = 100, pace: float = 1.0) -> Curve:
    """A curve whose slices take equally long, after a start of 3 s."""
    return Curve(name, 0, total, tuple(covered), tuple(3.0 + pace * n for n in range(len(covered))))


STEADY = curve("steady", [10 * n for n in range(1, 9)])
DONE = curve("done", [2], total=2)


def test_a_row_is_read_back_as_the_curve_that_was_written(script: Any) -> None:
    row = {name: str(value) for name, value in script.row_of("shop", STEADY).items()}
    assert script.curve_of(row) == STEADY and row["project"] == "shop"


def test_equal_shares_and_hindsight_are_counted_by_hand(script: Any) -> None:
    assert script.after_slices((STEADY, DONE), RULES["by_size"], 5) == 50 + 0
    assert script.after_slices((STEADY, DONE), RULES["in_turn"], 5) == 40 + 2
    assert script.at_best((STEADY, DONE), 5) == 50


def test_gains_are_per_cent_above_equal_shares(script: Any) -> None:
    found = script.gains((STEADY, DONE), 3)
    assert found["in_turn"] == 0.0 and found["hindsight"] == pytest.approx(100 * (60 / 52 - 1))
    assert found["hindsight"] >= max(found[name] for name in RULES)


def test_the_null_arm_chooses_modules_with_open_branches_only(script: Any) -> None:
    assert script.after_slices((DONE, STEADY), script.by_chance(0), 9) >= 72
    assert script.after_slices((DONE,), script.by_chance(0), 3) == 2


def test_time_begins_after_the_first_slice(script: Any) -> None:
    assert [script.in_seconds(STEADY, t) for t in (0.0, 0.9, 1.0, 2.5, 99.0)] == [10, 10, 20, 30, 80]


def test_only_a_search_that_covers_everything_gives_time_back(script: Any) -> None:
    assert script.used(DONE, 5.0) == 0.0 and script.used(STEADY, 50.0) == 50.0


def test_what_is_left_is_handed_on(script: Any) -> None:
    assert script.after_seconds((STEADY, DONE), 6.0, 0.0, False) == 2 + 40
    assert script.after_seconds((STEADY, DONE), 6.0, 0.0, True) == 2 + 70


def test_the_function_of_the_command_gives_shares_by_size(script: Any) -> None:
    project = (STEADY, DONE, curve("slow", [5, 9, 12], total=60, pace=2.0))
    for seconds in (1.0, 4.0, 9.0):
        assert script.by_share(project, seconds) == script.after_seconds(project, seconds, 1.0, True)


def test_a_search_that_was_cut_off_is_no_part_of_a_project(script: Any) -> None:
    cut = Curve("slow", 0, 50, (1, 2), (5.0, 21.0))
    assert not script.is_whole(cut) and script.is_whole(STEADY) and script.is_whole(DONE)
    rows = [{k: str(v) for k, v in script.row_of("shop", one).items()} for one in (STEADY, DONE, cut)]
    assert script.projects(rows) == {}, "of three modules two are left, which is no project"


def test_a_seed_with_fewer_modules_is_left_out(script: Any) -> None:
    first = [Curve(f"m{n}", 0, 9, (1, 2), (1.0, 2.0)) for n in range(5)]
    second = [Curve(f"m{n}", 1, 9, (1, 2), (1.0, 2.0)) for n in range(4)]
    rows = [{k: str(v) for k, v in script.row_of("shop", one).items()} for one in (*first, *second)]
    assert script.projects(rows) == {"shop": [tuple(first)]}


def test_training_projects_have_no_test_module(script: Any) -> None:
    found = script.projects(script.rows().rows().values())
    names = {one.module for project in script.training(found, 20) for one in project}
    assert names and not names & recorded()["test"].keys()


def test_the_curves_that_come_with_fitgym_are_those_of_the_benchmark(script: Any) -> None:
    text = script.packaged(script.rows().rows().values())
    assert json.loads(text) == json.loads(script.PACKAGED.read_text("utf-8"))
