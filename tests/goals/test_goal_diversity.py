"""The goal of a diverse suite: the best value so far, and rewards that follow the current best suite."""

import pickle
from pathlib import Path

import pytest
from nightly import nightly

from fitgym.engine import Engine
from fitgym.envs.fitness_selection import FitnessSelection
from fitgym.execution.executor import Executor
from fitgym.goals.diversity import Diversity
from fitgym.run.generation import generate
from fitgym.subject.source import locate

ACCOUNT = str(Path(__file__).parents[1] / "programs" / "account.py")


@pytest.fixture(scope="module")
def executor():
    with Executor(locate(ACCOUNT)) as running:
        yield running


def started(executor, reward):
    engine = Engine(executor, fitness=("diversity",), tracked=("method",), population=8)
    engine.step()
    goal = Diversity(reward)
    goal.begin(engine)
    return engine, goal


def div(engine):
    return 1.0 / engine.fitness_of("diversity", engine.search.best) - 1.0


def test_the_value_is_the_greatest_sum_of_distances_so_far(executor):
    engine, goal = started(executor, "gain")
    seen = [div(engine)]
    for _ in range(8):
        engine.step()
        seen.append(div(engine))
        assert goal.value(engine) == pytest.approx(max(seen))
    assert goal.value(engine) > seen[0]


def test_the_value_stays_while_a_less_diverse_suite_is_the_best(executor):
    engine, goal = started(executor, "gain")
    for _ in range(8):
        engine.step()
    reached = goal.value(engine)
    engine.search.population.reverse()  # as functions that like other suites could do
    assert div(engine) < reached
    assert goal.value(engine) == reached
    assert goal.reward(engine) > 0  # what was gained since the beginning
    assert goal.reward(engine) == 0


def test_the_papers_reward_is_the_fall_of_the_fitness_and_negative_when_it_rises(executor):
    engine, goal = started(executor, "paper")
    before = engine.fitness_of("diversity", engine.search.best)
    for _ in range(4):
        engine.step()
    now = engine.fitness_of("diversity", engine.search.best)
    assert goal.reward(engine) == before - now > 0
    engine.search.population.reverse()
    after = engine.fitness_of("diversity", engine.search.best)
    assert goal.reward(engine) == now - after < 0


def test_a_new_run_begins_at_its_own_value(executor):
    engine, goal = started(executor, "gain")
    for _ in range(8):
        engine.step()
    assert goal.value(engine) > 0
    other, _ = started(executor, "gain")
    goal.begin(other)
    assert goal.value(other) == pytest.approx(div(other))


def test_a_forked_and_a_pickled_episode_go_on_alike():
    def on(env):
        return [env.step(action) for action in (0, 3, 9)]

    with FitnessSelection(ACCOUNT, goal="diversity", budget="60g", population=6, reward="gain") as env:
        env.reset(seed=4)
        for action in (1, 5, 20, 2, 0, 7, 3):  # past the first sweep
            env.step(action)
        with env.fork() as fork, pickle.loads(pickle.dumps(env)) as twin:
            assert repr(on(env)) == repr(on(fork)) == repr(on(twin))


def test_the_released_variant_can_be_asked_for():
    variants = {"diversity": {"last_two": True}}
    with FitnessSelection(ACCOUNT, goal="diversity", population=6, variants=variants) as env:
        env.reset(seed=4)
        env.step(0)
        assert env.engine.measurements.fitness["diversity"].last_two
        assert env.record()["options"]["variants"] == variants


@nightly
def test_a_suite_is_generated_that_enters_every_operation(tmp_path):
    run = generate(ACCOUNT, goal="diversity", budget="12g", population=8, output=tmp_path)
    entered = run.record["coverage"]["method"]
    assert entered["covered"] == entered["total"] > 0
    assert run.record["goal_value"] > 0
    assert run.source
