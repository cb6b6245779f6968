"""Which mutants test cases kill, while a suite is finished."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fitgym.engine.engine import Engine
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate
from fitgym.suite.mutant_effects import Mutation
from fitgym.testcase.expression import Literal
from fitgym.testcase.statement import Statement, TestCase

SOURCE = """
def grade(points: int) -> str:
    if points > 10:
        return "high"
    return "low"
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    path = tmp_path_factory.mktemp("killed") / "grades.py"
    path.write_text(SOURCE)
    with Executor(locate(str(path))) as executor:
        yield Engine(executor, fitness=("branch", "strong_mutation"), seed=0)


def calls(engine: Engine, *numbers: int) -> list[tuple[TestCase, None]]:
    (grade,) = [one.id for one in engine.subject.operations if one.name == "grade"]
    return [(engine.table.testcase([Statement(grade, args=(Literal(str(n)),))]), None) for n in numbers]


def test_a_mutant_is_tried_until_enough_test_cases_have_killed_it(engine: Engine) -> None:
    first, second, third = Mutation(engine).killed(calls(engine, 20, 30, 0), enough=1)
    assert first and third and not first & third
    every = Mutation(engine).killed(calls(engine, 20, 30, 0))
    assert every[0] == first and every[2] == third and every[1] >= second


def test_only_the_given_mutants_are_tried(engine: Engine) -> None:
    (some,) = Mutation(engine).killed(calls(engine, 20))
    one = frozenset({min(some)})
    assert Mutation(engine).killed(calls(engine, 20, 30), among=one) == [one, one]
    assert Mutation(engine).killed(calls(engine, 20), among=frozenset()) == [frozenset()]
