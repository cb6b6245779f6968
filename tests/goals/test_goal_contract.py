"""The contract of every goal."""

import math
from pathlib import Path

import pytest

from fitgym.engine import FITNESS, Engine
from fitgym.envs.catalogue import catalogue
from fitgym.envs.fitness_selection import GOALS
from fitgym.errors import UnknownName
from fitgym.execution.executor import Executor
from fitgym.goals.base import REWARDS
from fitgym.run.setting import SearchOptions, defaults, may_infect
from fitgym.subject.source import locate

ACCOUNT = str(Path(__file__).parents[1] / "programs" / "account.py")


@pytest.fixture(scope="module")
def executor():
    with Executor(locate(ACCOUNT)) as running:
        yield running


def start(executor, goal, seed=0):
    tracked = (*goal.kept, *goal.tracked)
    engine = Engine(executor, fitness=(goal.fitness,), tracked=tracked, usable=goal.functions, seed=seed, population=8)
    engine.step()
    return engine


@pytest.mark.parametrize("name", GOALS.names())
def test_a_goal_names_fitness_functions_that_exist(name):
    goal = GOALS.load(name)
    named = {goal.fitness, *goal.kept, *goal.tracked, *goal.functions, *goal.required}
    assert named <= set(FITNESS.names())
    assert goal.fitness in goal.functions
    assert set(goal.required) <= set(goal.functions)


@pytest.mark.parametrize("name", GOALS.names())
def test_a_worker_starts_with_the_probes_for_weak_mutation_if_the_goal_tracks_it(name):
    goal = GOALS.load(name)
    always = frozenset().union(
        *(FITNESS.load(one).needs for one in (goal.fitness, *goal.kept, *goal.tracked, *goal.late))
    )
    assert may_infect(name, "fixed:branch") is ("infection" in always)
    assert may_infect(name, "ucb")


@pytest.mark.parametrize("name", GOALS.names())
def test_a_goals_own_catalogue_can_be_built_and_has_no_action_twice(name):
    goal = GOALS.load(name)
    actions = catalogue(goal.catalogue, goal.functions, goal.required)
    assert len({frozenset(action) for action in actions}) == len(actions) > 1


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("name", GOALS.names())
def test_the_value_never_falls_and_rewards_are_finite_and_in_their_range(executor, name, reward):
    goal = GOALS.load(name)(reward)
    engine = start(executor, goal)
    goal.begin(engine)
    last = goal.value(engine)
    for functions in catalogue(goal.catalogue, goal.functions, goal.required)[:6]:
        engine.activate(functions)
        engine.step()
        received = goal.reward(engine)
        lowest, highest = goal.reward_range
        assert math.isfinite(received) and lowest <= received <= highest
        assert goal.value(engine) >= last
        last = goal.value(engine)
    assert last > 0


@pytest.mark.parametrize("name", GOALS.names())
def test_gains_add_up_to_what_was_gained(executor, name):
    goal = GOALS.load(name)("gain")
    engine = start(executor, goal)
    goal.begin(engine)
    first, total = goal.value(engine), 0.0
    for _ in range(6):
        engine.step()
        total += goal.reward(engine)
    assert total == pytest.approx(goal.value(engine) - first)


def test_the_coverage_goal_is_reached_when_every_branch_is_covered(executor):
    goal = GOALS.load("coverage")("paper")
    engine = start(executor, goal)
    assert goal.reached(engine) == (goal.value(engine) == 1.0)
    for _ in range(60):
        engine.step()
    assert goal.value(engine) == 1.0
    assert goal.reached(engine)


def test_another_reward_is_refused_by_name():
    with pytest.raises(UnknownName, match="no reward named 'gian'; did you mean 'gain'"):
        GOALS.load("coverage")("gian")


@pytest.mark.parametrize("name", GOALS.names())
def test_the_growth_of_an_episode_depends_on_its_first_and_last_value_only(executor, name):
    goal = GOALS.load(name)("growth")
    engine = start(executor, goal)
    goal.begin(engine)
    first, total = goal.value(engine), 0.0
    for functions in catalogue(goal.catalogue, goal.functions, goal.required)[:5]:
        engine.activate(functions)
        engine.step()
        total += goal.reward(engine)
    assert total == pytest.approx(math.log((goal.value(engine) + goal.unit) / (first + goal.unit)))
    assert total > 0 or goal.value(engine) == first


def test_every_goal_has_the_same_default_reward_as_the_environment():
    assert {GOALS.load(name)().reward_name for name in GOALS.names()} == {defaults(SearchOptions)["reward"]}
