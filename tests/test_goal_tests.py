"""The goal `tests` covers first, and runs nothing on mutants before an action has strong mutation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fitgym.engine import Engine
from fitgym.evolution.budget import Budget
from fitgym.execution.executor import Executor
from fitgym.goals.tests import Tests
from fitgym.subject.source import locate

TRIANGLE = str(Path(__file__).parent / "programs" / "triangle.py")


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Executor(locate(TRIANGLE)) as executor:
        yield Engine(
            executor,
            tracked=Tests.kept,
            usable=Tests.functions,
            late=Tests.late,
            search="mosa",
            population=10,
            budget=Budget.parse("400x"),
            seed=0,
        )


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
