"""Features have names and bounds, and describe a running search correctly."""

from pathlib import Path
from typing import Any

import pytest

from fitgym.engine import Engine
from fitgym.envs.feature_set import FEATURE_SETS, FeatureSet
from fitgym.envs.features.base import Block, Moment, View, blocks
from fitgym.envs.parts import Part
from fitgym.errors import FitgymError, UnknownName
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate

TRIANGLE = str(Path(__file__).parents[1] / "programs" / "triangle.py")
FUNCTIONS = ("exception", "branch", "line")


@pytest.fixture(scope="module")
def engine():
    with Executor(locate(TRIANGLE)) as executor:
        running = Engine(executor, fitness=("branch",), tracked=("exception",), population=8)
        for _ in range(5):
            running.step()
        yield running


def test_a_block_whose_names_and_values_do_not_agree_is_named() -> None:
    class Wrong(Block):
        def names(self, view: View) -> list[str]:
            return ["one", "two"]

        def values(self, engine: Any, view: View, moment: Moment) -> list[float]:
            return [0.5]

    with pytest.raises(FitgymError, match="feature block Wrong has 2 names and 1 values"):
        FeatureSet("wrong", (Wrong(),)).observe(None, View(()), Moment())  # type: ignore[arg-type]


def named(features, engine, n_actions=1, **moment):
    """Feature values by name."""
    view = View(FUNCTIONS, n_actions)
    values = features.observe(engine, view, Moment(**moment))
    return dict(zip(features.names(view), map(float, values), strict=True))


@pytest.mark.parametrize("name", FEATURE_SETS)
def test_every_value_has_a_name_and_lies_between_0_and_1(engine, name):
    features = FeatureSet.load(name)
    values = named(features, engine, value=1e9, gains=(5.0, -3.0), stagnation=10**6, action=3, n_actions=4)
    assert len(values) == len(features.names(View(FUNCTIONS)))
    assert all(0.0 <= value <= 1.0 for value in values.values())


def test_the_papers_features_are_what_it_lists(engine):
    values = named(FeatureSet.load("paper-v1"), engine)
    assert [values[f"active_{name}"] for name in FUNCTIONS] == [0.0, 1.0, 0.0]
    assert values["fitness"] == pytest.approx(engine.fitness_of("branch", engine.search.best))
    size = len(engine.search.best)
    assert values["suite_size"] == pytest.approx(size / (size + 20))
    covered, total = engine.coverage()["branch"]
    assert values["coverage"] == pytest.approx(covered / total)


def test_the_full_features_add_goal_gains_stagnation_budget_and_action(engine):
    # x / (x + half): 10 / (10 + 10), 1 / (1 + 1), 3 / (3 + 1), 5 / (5 + 10); action 2 of 0..7 is the third of eight.
    values = named(
        FeatureSet.load("full-v1"),
        engine,
        remaining=0.25,
        value=10.0,
        scale=10.0,
        gains=(1.0, 3.0),
        stagnation=5,
        action=2,
        n_actions=8,
    )
    assert values["goal"] == 0.5
    assert [values[f"gain_{k}"] for k in (1, 2, 3)] == [0.5, 0.75, 0.0]
    assert values["stagnation"] == pytest.approx(1 / 3)
    assert values["remaining_budget"] == 0.25
    assert values["last_action"] == 3 / 8


def test_a_function_that_was_never_measured_counts_as_uncovered(engine):
    values = named(FeatureSet.load("full-v1"), engine)
    assert "line" not in engine.measurements.fitness
    assert (values["fitness_line"], values["coverage_line"]) == (1.0, 0.0)


def test_each_observation_is_a_fresh_array(engine):
    features = FeatureSet.load("paper-v1")
    first = features.observe(engine, View(FUNCTIONS), Moment())
    first[:] = -1
    assert (features.observe(engine, View(FUNCTIONS), Moment()) >= 0).all()


def test_names_are_versioned_and_distinct():
    assert all(name.rpartition("-v")[2].isdigit() for name in FEATURE_SETS)


def test_an_unknown_set_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match=r"no feature set named 'full'; did you mean 'full-v[12]'"):
        FeatureSet.load("full")


@pytest.mark.parametrize("name", [name for name in blocks().names() if not blocks().load(name).reads_inactive])
def test_a_block_that_reads_no_inactive_function_says_the_same_if_only_guiding_ones_are_measured(name: str) -> None:
    features = FeatureSet.load(name)
    seen = []
    for usable in (("method", "output", "input", "exception"), ()):
        with Executor(locate(TRIANGLE)) as executor:
            engine = Engine(executor, fitness=("branch",), usable=usable, population=8, seed=3)
            for _ in range(5):
                engine.step()
            view = View(("branch", "method", "output", "input", "exception"), 4, (), ("one",))
            moment = Moment(value=2.0, gains=(1.0, 0.5), stagnation=2, action=1, slots=(Part(size=4, covered=0.5),))
            seen.append(features.observe(engine, view, moment).tolist())
    assert seen[0] == seen[1]


def test_a_block_that_says_nothing_is_taken_to_read_inactive_functions() -> None:
    assert Block.reads_inactive
    assert (
        FeatureSet.load("true_fitness+parts").reads_inactive and not FeatureSet.load("parts+last_choice").reads_inactive
    )
