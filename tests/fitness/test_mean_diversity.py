"""Mean diversity: by hand, and independent of the size of a suite."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.engine import Engine
from fitgym.execution.executor import Executor
from fitgym.fitness._pairs import Pairs
from fitgym.goals.mean_diversity import MeanDiversity
from fitgym.subject.source import locate

ACCOUNT = str(Path(__file__).parents[1] / "programs" / "account.py")

TEXTS = st.lists(st.text("abc", min_size=1, max_size=6), min_size=1, max_size=4).map(tuple)


def mean(*groups):
    return Pairs(normalised=True).mean(range(len(groups)), lambda key: groups[key])


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ((("ab",), ("ab",)), 0.0),
        ((("ab",), ("ac",)), 0.5),
        ((("ab",), ("xyz",)), 1.0),
        ((("ab", "xyz"), ("ab",)), 0.5),  # (0 + 1) / 2
        ((("ab",), ("ac",), ("xy",)), (0.5 + 1 + 1) / 3),
        ((("ab",),), 0.0),
        ((("ab",), ()), 0.0),
        ((("ab",), (), ("ac",)), 0.5),
    ],
)
def test_the_mean_distance_of_pairs_by_hand(groups, expected):
    assert mean(*groups) == pytest.approx(expected, abs=1e-4)


@given(st.lists(TEXTS, min_size=2, max_size=5))
def test_it_lies_between_0_and_1_and_statements_may_be_repeated(groups):
    value = mean(*groups)
    assert 0.0 <= value <= 1.0
    assert mean(*(group * 3 for group in groups)) == pytest.approx(value, abs=1e-3)


def test_the_goal_looks_at_the_suite_as_it_would_be_exported():
    with Executor(locate(ACCOUNT)) as executor:
        goal = MeanDiversity()
        engine = Engine(
            executor, fitness=(goal.fitness,), tracked=goal.kept, usable=goal.functions, population=8, seed=1
        )
        for _ in range(4):
            engine.step()
        whole, reduced = engine.best_suite(goal.kept), engine.reduced_suite(goal.kept)
        assert set(reduced) < set(whole)
        assert engine.coverage_of(reduced)["branch"] == engine.coverage_of(whole)["branch"]
        goal.begin(engine)
        function = engine.function("mean_diversity")
        assert goal.value(engine) == pytest.approx(function.diversity(reduced, engine.table))
