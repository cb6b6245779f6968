"""The mutation score: what is known to kill runs first, and no kill is lost when time runs out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from fitgym.engine.engine import Engine
from fitgym.errors import OutOfBudget
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate
from fitgym.suite.assertions import finished_tests
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.score import MutationScore, mutation_score
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
    path = tmp_path_factory.mktemp("scored") / "grades.py"
    path.write_text(SOURCE)
    with Executor(locate(str(path))) as executor:
        yield Engine(executor, fitness=("branch", "strong_mutation"), seed=0)


@pytest.fixture
def tests(engine: Engine) -> list[FinishedTest]:
    (grade,) = [one.id for one in engine.subject.operations if one.name == "grade"]
    cases = [engine.table.testcase([Statement(grade, args=(Literal(text),))]) for text in ("3", "30")]
    engine.execute(cases)
    observed = [(one, one) for one in engine.observe(cases)]
    return [
        test
        for test in finished_tests([engine.table.statements(case) for case in cases], observed, engine.subject)
        if test is not None
    ]


def case_of(engine: Engine, test: FinishedTest) -> TestCase:
    return engine.table.testcase(test.statements)


def scored(engine: Engine, tests: list[FinishedTest], **options: Any) -> MutationScore:
    score = mutation_score(engine, tests, "", **options)
    assert score is not None
    return score


def test_each_mutant_belongs_to_the_first_test_that_kills_it(engine: Engine, tests: list[FinishedTest]) -> None:
    score = scored(engine, tests)
    assert score.complete and {test for _, test in score.killed} == {test.name for test in tests}


def test_likely_kills_are_tried_first(
    engine: Engine, tests: list[FinishedTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = scored(engine, tests)
    number = {mutant.id: at for at, mutant in enumerate(engine.subject.mutants)}
    last = case_of(engine, tests[-1])
    likely = {last: {number[mutant] for mutant, name in whole.killed if name == tests[-1].name}}
    tried: list[Any] = []
    kill = engine.kill

    def listed(trials: Any, *rest: Any, **options: Any) -> Any:
        tried.extend(trials)
        return kill(trials, *rest, **options)

    monkeypatch.setattr(engine, "kill", listed)
    again = scored(engine, tests, likely=likely)
    assert {mutant for mutant, _ in again.killed} == {mutant for mutant, _ in whole.killed}
    assert likely[last] and {(last, one) for one in likely[last]} == set(tried[: len(likely[last])])


def test_out_of_time_the_kills_so_far_count(
    engine: Engine, tests: list[FinishedTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = scored(engine, tests)
    kill = engine.kill

    def late(trials: Any, *rest: Any, **options: Any) -> Any:
        effects = kill(trials, *rest, **options)
        at = next(at for at, effect in enumerate(effects) if effect is not None and effect.killed)
        out = OutOfBudget("the deadline has passed")
        out.done = (*effects[: at + 1], *(None for _ in effects[at + 1 :]))
        raise out

    monkeypatch.setattr(engine, "kill", late)
    score = scored(engine, tests)
    assert not score.complete and len(score.killed) == 1 and set(score.killed) < set(whole.killed)
    assert len(score.killed) + len(score.survivors) == score.total
