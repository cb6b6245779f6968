"""The fitness landscape of the released code: each of its differences from the paper is an option."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from fitgym.engine import Engine
from fitgym.envs.fitness_selection import FitnessSelection
from fitgym.execution.executor import Executor
from fitgym.goals.diversity import Diversity
from fitgym.goals.exceptions import Exceptions
from fitgym.subject.source import locate

ROOT = Path(__file__).parents[2]
ACCOUNT = str(Path(__file__).parents[1] / "programs" / "account.py")


@pytest.fixture(scope="module")
def executor():
    with Executor(locate(ACCOUNT)) as running:
        yield running


def started(executor, **options):
    engine = Engine(executor, seed=2, population=6, **options)
    for _ in range(3):
        engine.step()
    return engine


def test_a_constant_exception_fitness_guides_nothing_but_discovers(executor):
    engine = started(executor, fitness=("exception",), variants={"exception": {"constant": True}})
    assert engine.suite_fitness(engine.search.population).tolist() == [0.0] * len(engine.search.population)
    assert engine.covered("exception").any()


def test_without_the_variant_a_suite_that_raises_more_is_better(executor):
    engine = started(executor, fitness=("exception",))
    suites = engine.search.population
    raised = [engine.covers("exception", suite.testcases).any(axis=0).sum() for suite in suites]
    assert engine.suite_fitness(suites) == pytest.approx([1 / (1 + n) for n in raised])


def test_a_raw_value_is_the_scaled_one_times_the_number_of_targets(executor):
    scaled, raw = (started(executor, fitness=("branch",), combination=kind) for kind in ("scaled", "raw"))
    suite = raw.best
    n_targets = len(raw.function("branch").targets)
    same = scaled.measurements.suite_fitness("branch", [scaled.best])[0]
    assert raw.fitness_of("branch", suite) > 1.0 or raw.fitness_of("branch", suite) == 0.0
    assert scaled.best.testcases == suite.testcases  # one function alone guides equally, scaled or not
    assert raw.fitness_of("branch", suite) == pytest.approx(n_targets * same)


def test_in_a_raw_sum_a_function_with_many_targets_outweighs_one_without(executor):
    engine = started(executor, fitness=("branch", "exception"), combination="raw")
    suites = engine.search.population
    total = engine.suite_fitness(suites)
    parts = [np.array([engine.fitness_of(name, suite) for suite in suites]) for name in ("branch", "exception")]
    assert total == pytest.approx(parts[0] + parts[1])
    assert parts[1].max() <= 1.0


def test_the_released_reward_of_diversity_is_the_level_of_the_best_suite(executor):
    engine = started(executor, fitness=("diversity",), tracked=("method",))
    goal = Diversity("released")
    goal.begin(engine)
    level = 1.0 / engine.fitness_of("diversity", engine.best) - 1.0
    assert goal.reward(engine) == pytest.approx(level) == pytest.approx(goal.reward(engine))


def test_the_released_reward_of_exceptions_is_the_one_of_the_paper(executor):
    engine = started(executor, fitness=("exception",), tracked=("exception",))
    rewards = [Exceptions(name).reward(engine) for name in ("released", "paper")]
    assert rewards[0] == rewards[1] >= engine.covered("exception").sum()


@pytest.mark.parametrize(("goal", "arms"), [("exceptions", 5), ("diversity", 5), ("strong_mutation", 4)])
def test_the_replication_has_the_papers_reward_and_arms_in_the_released_landscape(goal, arms):
    study = tomllib.loads((ROOT / "studies" / f"affs_{goal}.toml").read_text("utf-8"))
    assert study["settings"]["reward"] == "paper"
    landscape = [arm for arm in study["arms"] if "released landscape" in arm["name"]]
    assert len(landscape) == arms
    for arm in landscape:
        assert arm["combination"] == "raw" and arm["variants"]["exception"] == {"constant": True}
    assert all(arm["reward"] == "released" for arm in study["arms"] if str(arm["agent"]).startswith("released"))


def test_an_environment_takes_the_whole_released_landscape():
    env = FitnessSelection(
        ACCOUNT,
        goal="diversity",
        reward="released",
        combination="raw",
        populations="per-action",
        variants={"exception": {"constant": True}, "diversity": {"last_two": True}},
        search="whole_suite:use_archive=false",
        population=6,
        budget="8g",
    )
    try:
        observation, _ = env.reset(seed=1)
        assert env.observation_space.contains(observation)
        observation, reward, *_ = env.step(3)
        assert env.observation_space.contains(observation)
        assert reward > 0
        assert env.record()["options"]["combination"] == "raw"
    finally:
        env.close()
