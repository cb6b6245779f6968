"""Queries: read access to a running search, without side effects."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from fitgym.engine import Engine
from fitgym.engine.queries import Queries
from fitgym.engine.workbench import Workbench
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate

ROOT = Path(__file__).parents[2]
ACCOUNT = str(ROOT / "tests" / "programs" / "account.py") + ":Account"
PARTS = ("archive", "measurements", "search", "executor", "factory", "rng")


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Executor(locate(ACCOUNT)) as executor:
        found = Engine(executor, fitness=("branch", "exception"), seed=1, population=8)
        for _ in range(4):
            found.step()
        yield found


def test_queries_agree_with_each_other(engine: Engine) -> None:
    for name, (covered, known) in engine.coverage().items():
        assert engine.measures(name) and len(engine.function(name).targets) == known
        assert int(engine.covered(name).sum()) == covered
    suite = engine.best_suite()
    assert all(engine.has_trace(testcase) for testcase in suite)
    assert engine.coverage_of(suite)["branch"] == engine.coverage()["branch"]
    assert engine.covers("branch", suite).any(axis=0).sum() == engine.coverage()["branch"][0]
    assert set(engine.archived_testcases()) <= set(suite) | set(engine.archived_testcases())
    assert len(engine.discoveries()) == engine.coverage()["exception"][0]


def test_asking_changes_nothing(engine: Engine) -> None:
    before = engine.generation, engine.executions, engine.coverage(), engine.best.testcases
    for name in dir(Queries):
        if not name.startswith("_") and isinstance(getattr(Queries, name), property):
            getattr(engine, name)
    engine.best_suite(), engine.discoveries(), engine.ill_typed()
    engine.mean_fitness(("branch", "exception"), engine.population), list(map(engine.age_of, engine.population))
    assert before == (engine.generation, engine.executions, engine.coverage(), engine.best.testcases)


def test_the_mean_fitness_is_that_of_each_function(engine: Engine) -> None:
    found = engine.mean_fitness(("branch", "exception"), engine.population)
    for value, individual in zip(found.tolist(), engine.population, strict=True):
        both = engine.fitness_of("branch", individual) + engine.fitness_of("exception", individual)
        assert value == pytest.approx(both / 2)
    assert engine.mean_fitness((), engine.population).tolist() == [0.0] * len(engine.population)


def test_a_saved_population_is_the_one_that_was_there(engine: Engine) -> None:
    assert engine.saved_population("here") is None
    engine.save_population("here")
    assert list(engine.saved_population("here") or ()) == list(engine.search.population)


def test_the_workbench_has_no_way_to_steer_a_search() -> None:
    for name in (*PARTS, "step", "activate", "use", "prefer", "set_rates"):
        assert not hasattr(Workbench, name), name


@pytest.mark.parametrize("folder", ["fitgym/goals", "fitgym/suite", "envs", "fitgym/study"])
def test_nobody_reaches_through_the_engine_to_its_parts(folder: str) -> None:
    found = [
        f"{path.name}, line {node.lineno}: engine.{node.attr}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in PARTS
        and ast.unparse(node.value).rpartition(".")[2] == "engine"
    ]
    assert found == []
