"""The goal `tests` covers first, and runs nothing on mutants before an action has strong mutation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fitgym.engine import Engine
from fitgym.evolution.budget import Budget
from fitgym.execution.executor import Executor
from fitgym.goals.base import Goal
from fitgym.goals.coverage import Coverage
from fitgym.goals.tests import Tests
from fitgym.subject.source import locate
from fitgym.suite.finishing import finish

TRIANGLE = str(Path(__file__).parents[1] / "programs" / "triangle.py")


def searching(executor: Executor, budget: str) -> Engine:
    options = {"tracked": Tests.kept, "usable": Tests.functions, "late": Tests.late, "search": "mosa"}
    return Engine(executor, **options, population=10, budget=Budget.parse(budget), seed=0)


@pytest.fixture
def executor() -> Iterator[Executor]:
    with Executor(locate(TRIANGLE)) as running:
        yield running


@pytest.fixture
def engine(executor: Executor) -> Engine:
    return searching(executor, "400x")


def test_until_then_no_mutant_counts_as_killed(engine: Engine) -> None:
    goal = Tests()
    engine.step()
    assert not engine.measures("strong_mutation") and "effects" not in engine.probes
    assert goal.value(engine) == engine.covered("branch").mean() / 2


def test_from_then_on_what_the_archive_kills_is_known(engine: Engine) -> None:
    goal = Tests()
    for _ in range(5):
        engine.step()
    before = goal.value(engine)
    archived = engine.archived_testcases()
    engine.activate(("branch", "strong_mutation"))
    killed = engine.covered("strong_mutation").mean()
    assert killed > 0 and goal.value(engine) == pytest.approx(before + killed / 2)
    assert all("effects" in engine.measurements.recorded(testcase) for testcase in archived)
    while not engine.over:
        engine.step()
    assert engine.covered("strong_mutation").mean() > killed
    assert engine.executions <= 400


def test_where_the_budget_ends_before_mutants_could_be_run_the_suite_is_finished_without_them(
    executor: Executor,
) -> None:
    engine = searching(executor, "32x")
    while engine.executions < 30 and not engine.over:
        engine.step()
    engine.activate(("branch", "strong_mutation"))
    assert engine.active == ("branch",) and not engine.records("strong_mutation")
    finished = finish(engine, [name for name in Tests.kept if engine.records(name)])
    assert finished.tests and finished.mutants is None


UNITS = """
def unit(size):
    if size < 1024:
        return "B"
    if size < 1048576:
        return "K"
    return "M"
"""


@pytest.mark.parametrize("goal", [Coverage, Tests])
def test_the_value_at_the_boundary_of_a_comparison_is_in_the_suite(goal: type[Goal], tmp_path: Path) -> None:
    tmp_path.joinpath("units.py").write_text(UNITS)
    with Executor(locate("units", path=tmp_path)) as executor:
        engine = Engine(
            executor,
            fitness=("branch",),
            tracked=goal.kept,
            late=goal.late,
            search="mosa",
            population=10,
            budget=Budget.parse("600x"),
            seed=0,
        )
        while not engine.over:
            engine.step()
        source = finish(engine, [name for name in goal.kept if engine.records(name)]).source
    for value, unit in ((1024, "K"), (1048576, "M")):  # alone or as a case of a table
        assert f'unit({value}) == "{unit}"' in source or f'({value}, "{unit}")' in source


def test_the_mutants_that_a_suite_kills_are_counted_even_if_the_search_ran_none(executor: Executor) -> None:
    engine = searching(executor, "60x")
    while not engine.over:
        engine.step()
    assert not engine.measures("strong_mutation")
    names = [name for name in Tests.kept if engine.records(name)]
    score = finish(engine, names, scored="strong_mutation").mutants
    assert score is not None and score.complete
    assert 0 < len(score.killed) < score.total and len(score.killed) + len(score.survivors) == score.total
