"""Which mutants test cases kill, while a suite is finished."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from fitgym.engine.engine import Engine
from fitgym.errors import OutOfBudget
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate
from fitgym.suite import mutant_effects
from fitgym.suite.allotment import Allotment
from fitgym.suite.mutant_effects import Mutation
from fitgym.testcase.expression import Literal
from fitgym.testcase.statement import Statement, TestCase

SOURCE = """
def grade(points: int) -> str:
    unused = points + 1
    if points > 10:
        return "high"
    return "low"
"""


@pytest.fixture(scope="module")
def executor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executor]:
    path = tmp_path_factory.mktemp("killed") / "grades.py"
    path.write_text(SOURCE)
    with Executor(locate(str(path))) as executor:
        yield executor


@pytest.fixture(scope="module")
def engine(executor: Executor) -> Engine:
    return Engine(executor, fitness=("branch", "strong_mutation"), seed=0)


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


def test_what_a_test_case_survived_in_the_search_is_not_tried_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (testcase, _), (other, _) = asked = calls(engine, 21, 3)
    engine.execute([testcase, other])
    known = {(test, number): impact for test in (testcase, other) for number, impact in engine.trace(test).effects}
    survived = {pair for pair, impact in known.items() if impact < math.inf}
    tried: list[Any] = []
    kill = engine.kill

    def listed(trials: Any, *rest: Any, **options: Any) -> Any:
        tried.extend(trials)
        return kill(trials, *rest, **options)

    monkeypatch.setattr(engine, "kill", listed)
    killed = Mutation(engine).killed(asked)
    assert survived and not survived & set(tried)
    dead = {number for (_, number), impact in known.items() if impact == math.inf}
    assert killed[0] | killed[1] >= dead
    assert [pair for pair in tried if known.get(pair) == math.inf] == tried[: len(known) - len(survived)]


def test_out_of_time_the_kills_so_far_are_returned_if_they_are_wanted(engine: Engine) -> None:
    with pytest.raises(OutOfBudget):
        Mutation(engine, Allotment(engine, 1)).killed(calls(engine, 22))
    assert Mutation(engine, Allotment(engine, 1)).killed(calls(engine, 23), partial=True) == [frozenset()]


@pytest.mark.parametrize("fitness", [("strong_mutation",), ("strong_mutation", "weak_mutation")])
def test_each_test_case_runs_on_a_few_mutants_before_any_runs_on_all(
    executor: Executor, fitness: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(executor, fitness=fitness, seed=0)
    testcases = [testcase for testcase, _ in calls(engine, 12, 1)]
    engine.execute(testcases)
    seen = [[one] for one in engine.observe(testcases)]
    every = Mutation(engine).matrix(testcases, seen, [None, None])
    monkeypatch.setattr(mutant_effects, "_FEW", 1)
    assert Mutation(engine).matrix(testcases, seen, [None, None]) == every
    monkeypatch.setattr(engine, "kill", once(engine.kill))
    first = Mutation(engine).matrix(testcases, seen, [None, None])
    for few, all_of_them in zip(first, every, strict=True):
        assert few is not None and all_of_them is not None and few.all < all_of_them.all


def once(kill: Any) -> Any:
    """Return a function that runs out of budget at its second call."""
    calls = iter([kill])

    def limited(*args: Any, **options: Any) -> Any:
        try:
            return next(calls)(*args, **options)
        except StopIteration:
            raise OutOfBudget from None

    return limited
