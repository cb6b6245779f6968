"""Secondary objectives: each is a cost, and can be exchanged during a search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fitgym.engine import SEARCH, SECONDARY, Engine
from fitgym.errors import UnknownName
from fitgym.evolution.individual import Individual
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate

PROGRAMS = Path(__file__).parents[1] / "programs"


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Executor(locate(str(PROGRAMS / "triangle.py"))) as running:
        yield running


@pytest.mark.parametrize("name", SECONDARY.names())
def test_a_cost_is_finite_and_at_least_nothing_and_that_of_a_suite_is_the_sum(executor: Executor, name: str) -> None:
    engine = Engine(executor, search="mosa", population=20)
    for _ in range(5):
        engine.step()
    testcases = [individual.testcases[0] for individual in engine.search.population]
    objective = SECONDARY.load(name)(engine.subject, engine.table)
    costs = objective.of(testcases, list(map(engine.measurements.trace, testcases)))
    assert costs.shape == (len(testcases),) and np.isfinite(costs).all() and (costs >= 0.0).all()
    suites = [Individual(tuple(testcases)), Individual(tuple(testcases[:3])), Individual(tuple(testcases[:1]))]
    expected = [costs.sum(), costs[:3].sum(), costs[0]]
    assert objective.of_suites(suites, engine.measurements.trace) == pytest.approx(expected)


@pytest.mark.parametrize("search", SEARCH.names())
def test_it_can_be_exchanged_between_two_generations(executor: Executor, search: str) -> None:
    engine = Engine(executor, search=search, population=8)
    for name in (*SECONDARY.names(), "length"):
        engine.prefer(name)
        for _ in range(3):
            engine.step()
    assert engine.generation == 3 * (1 + len(SECONDARY.names())) and engine.coverage()["branch"][0] > 0


def test_the_archive_keeps_by_the_objective_that_counts_now(executor: Executor) -> None:
    engine = Engine(executor, search="mosa", population=20, secondary="performance")
    for _ in range(5):
        engine.step()
    testcases = list(engine.archive.best("branch").values())
    traces = list(map(engine.measurements.trace, testcases))
    raising = np.array([1e4 * (trace.raised is not None) for trace in traces])
    stored = SECONDARY.load("performance")(engine.subject, engine.table).of(testcases, traces)
    columns = list(engine.archive.best("branch"))
    assert engine.archive._values["branch"][columns] == pytest.approx(stored + raising)
    engine.prefer("length")
    assert engine.archive._values["branch"][columns].tolist() == [*(raising + list(map(len, testcases)))]
    assert list(engine.archive.best("branch").values()) == testcases  # until something shorter comes


def test_a_test_case_that_returns_replaces_a_shorter_one_that_raises(executor: Executor) -> None:
    engine = Engine(executor, search="mosa", population=20)
    for _ in range(15):
        engine.step()
    known = [testcase for individual in engine.population for testcase in individual.testcases]
    returning = [testcase for testcase in known if engine.measurements.trace(testcase).raised is None]
    covers = engine.covers("branch", returning).any(axis=0)
    for column, testcase in engine.archive.best("branch").items():
        assert not (covers[column] and engine.measurements.trace(testcase).raised)


def test_an_objective_that_does_not_exist_is_refused(executor: Executor) -> None:
    with pytest.raises(UnknownName, match="did you mean 'length'"):
        Engine(executor, secondary="lenght")
