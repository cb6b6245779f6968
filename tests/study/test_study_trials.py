"""The kinds of trials: their measurements, and reproducible runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fitgym.errors import InputError
from fitgym.study.trials.artificial import Artificial
from fitgym.study.trials.base import Measured, Trial
from fitgym.study.trials.episode import Episode
from fitgym.study.trials.search import SearchTrial

SMALL: list[tuple[Trial, str, str]] = [
    (Artificial(), "gradient:3+plateau:1", "60x"),
    (Episode.of({"population": 4}), "colorsys", "60x"),
    (Episode.of({"population": 4, "agent": "all", "goal": "coverage"}), "colorsys", "8g"),
    (SearchTrial(population=6, fitness="line+branch+exception"), "colorsys", "60x"),
    (SearchTrial(population=6, search="mio", smart=True, fitness="line+branch"), "colorsys", "60x"),
]


@pytest.mark.parametrize(("trial", "subject", "budget"), SMALL, ids=lambda value: str(value)[:40])
def test_the_same_run_is_the_same_again_and_has_its_metrics(trial: Trial, subject: str, budget: str) -> None:
    first, second = (trial.measure(subject, 3, budget, None) for _ in range(2))
    assert replace(first, seconds={}) == replace(second, seconds={})
    assert set(trial.metrics) <= set(first.measures)
    assert trial.measure(subject, 4, budget, None).run != first.run


def test_an_episode_tells_its_course() -> None:
    found = Episode.of({"population": 4, "agent": "uniform"}).measure("textwrap", 0, "100x", None)
    steps = int(found.measures["steps"])
    assert len(found.series["action"]) == len(found.series["reward"]) == steps
    assert len(found.series["value"]) == len(found.series["executions"]) == steps + 1
    assert found.series["value"][-1] == found.measures["value"] and found.series["executions"][-1] == 100
    assert sum(found.series["reward"]) == pytest.approx(found.measures["rewards"])
    assert found.run["actions"] == found.series["action"]
    assert 0.0 < found.seconds["deciding"] < found.seconds["run"]


def test_own_and_all_are_the_functions_of_the_goal() -> None:
    own = Episode.of({"population": 4, "agent": "own", "goal": "coverage"}).measure("colorsys", 0, "40x", None)
    every = Episode.of({"population": 4, "agent": "all", "goal": "coverage"}).measure("colorsys", 0, "40x", None)
    assert set(own.series["action"]) == {"branch"}
    (names,) = set(every.series["action"])
    assert len(names.split("+")) == 8


def test_own_and_all_follow_the_goal_that_an_id_fixes_and_the_functions_that_were_given() -> None:
    fixed = Episode.of({"env": "fitgym/StrongMutation-v0", "agent": "own"}).setting("colorsys", 0, "40x", None)
    assert fixed.agent == "fixed:strong_mutation"
    given = Episode.of({"functions": "line,branch", "agent": "all"}).setting("colorsys", 0, "40x", None)
    assert given.agent == "fixed:line+branch"


def enough(trial: Trial, subject: str) -> str:
    """A budget in seconds that lasts for several generations, on a busy machine too."""
    return f"{1 + 3 * trial.measure(subject, 0, '1g', None).seconds['run']:.1f}s"


def test_an_episode_may_be_limited_by_the_clock() -> None:
    trial = Episode.of({"population": 4, "agent": "own"})
    assert trial.measure("textwrap", 0, enough(trial, "textwrap"), None).measures["steps"] >= 1


def test_a_search_is_worth_what_its_suite_covers() -> None:
    whole = SearchTrial(population=6, search="whole_suite:use_archive=false").measure("colorsys", 0, "200x", None)
    archive = SearchTrial(population=6).measure("colorsys", 0, "200x", None)
    for found in (whole, archive):
        assert 0.0 < found.measures["share"] <= 1.0 and found.measures["share"] == found.measures["branch"]
        assert found.measures["executions"] == 200 and found.series["executions"][-1] == 200
        assert found.measures["share"] == found.series["covered"][-1]
    assert archive.series["covered"] == sorted(archive.series["covered"])  # it loses nothing


def test_a_budget_that_ends_before_the_first_generation_is_said_to() -> None:
    with pytest.raises(InputError, match=r"budget of 0\.001s ended before the first generation"):
        SearchTrial(population=6).measure("colorsys", 0, "0.001s", None)


def test_with_smart_selection_all_targets_are_counted_that_the_suite_covers() -> None:
    found = SearchTrial(population=6, smart=True, fitness="line+branch").measure("colorsys", 0, "200x", None)
    lines_of_branches = 0.9  # most lines are no targets: the branches around them stand for them
    assert found.series["covered"][-1] == (found.measures["line"] + found.measures["branch"]) / 2 > lines_of_branches


def test_a_search_may_be_limited_by_the_clock() -> None:
    trial = SearchTrial(population=6)
    budget = enough(trial, "colorsys")
    found = trial.measure("colorsys", 0, budget, None)
    assert found.measures["executions"] > 0 and 0.0 < found.measures["share"] <= 1.0
    assert found.seconds["run"] >= float(budget.removesuffix("s"))


def test_of_one_call_every_test_case_has_one_statement() -> None:
    found = SearchTrial(population=6, rates="one_call").measure("colorsys", 0, "100x", None)
    assert found.measures["statements"] == found.measures["tests"] >= 2


def test_a_search_ends_when_there_are_no_more_test_cases_and_counts_the_lines_that_they_run(tmp_path: Path) -> None:
    file = tmp_path / "thrice.py"
    file.write_text(
        "def thrice() -> int:\n    total = 0\n    for i in range(3):\n        total += i\n    return total\n"
    )
    found = SearchTrial(population=6, rates="one_call").measure(str(file), 0, "60x", None)
    assert found.measures["executions"] == found.measures["tests"] == 1
    assert found.measures["lines_run"] == 1 + 1 + 3 + 1  # the head of the loop counts once


def test_what_is_covered_at_once_has_the_largest_area() -> None:
    quick: Measured = Artificial("random_search").measure("gradient:1", 0, "5000x", None)
    assert quick.measures["covered"] == 1.0
    *_, first, last = quick.series["evaluations"]  # when it was covered, and the end of the budget
    assert last == 5000 and quick.measures["area"] == pytest.approx(1.0 - first / 5000)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fitness": "exception"}, "fitness: 'exception' has no targets that are known before the search"),
        ({"fitness": "brunch"}, "fitness: no fitness function named 'brunch'; did you mean 'branch'"),
        ({"secondary": "size"}, "secondary: no secondary objective named 'size'"),
        ({"search": "mosa:crosover=1"}, "search: "),
        ({"rates": "one-call"}, "rates: no rates named 'one-call'; did you mean 'one_call'"),
        ({"population": 1}, "population: 1 is below 2"),
    ],
)
def test_a_search_that_cannot_be_is_refused_with_the_setting(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as raised:
        SearchTrial(**settings).check("60x")
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    "subject", ["gradient", "gradient:0", "gradient:x", "slope:3", "infeasible:3", "gradient:1+gradient:2"]
)
def test_a_problem_that_is_none_is_refused(subject: str) -> None:
    with pytest.raises(InputError):
        Artificial().check_subject(subject, None)
