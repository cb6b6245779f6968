"""Environments with other decisions, or with several goals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from nightly import every

from fitgym.engine import Engine
from fitgym.envs import VARIANTS
from fitgym.envs.algorithm_selection import AlgorithmSelection
from fitgym.envs.multi_goal import MultiGoal
from fitgym.errors import InputError
from fitgym.evolution.budget import Budget
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate
from fitgym.testing import check_env_strict

TRIANGLE = str(Path(__file__).parents[1] / "programs" / "triangle.py")
VAULT = str(Path(__file__).parents[1] / "programs" / "vault.py")
SMALL: dict[str, Any] = {"subject": TRIANGLE, "budget": "30g", "population": 6}
MORE: dict[str, dict[str, Any]] = {
    "fitgym/MultiGoal-v0": {"weights": [1.0, 0.5]},
    "fitgym/Focus-v0": {"subject": VAULT, "generations_per_step": 2},  # five at a time cover the triangle in two steps
}


@pytest.mark.parametrize("name", every(4, VARIANTS, 3))
def test_every_variant_passes_the_strict_check(name: str) -> None:
    check_env_strict(f"fitgym.envs:{name}", steps=4, **{**SMALL, **MORE.get(name, {})})


@pytest.mark.parametrize("name", every(4, VARIANTS, 1))
def test_gymnasium_and_stable_baselines_accept_every_variant(name: str) -> None:
    env = gymnasium.make(name, **{**SMALL, **MORE.get(name, {})})
    check_env(env.unwrapped)
    checker = pytest.importorskip(
        "stable_baselines3.common.env_checker", reason="Stable-Baselines3 is in the extra 'deep'"
    )
    checker.check_env(env.unwrapped)
    env.close()


# ---------------------------------------------------------------------------------------------------------- algorithms


def test_each_algorithm_keeps_its_population_while_others_work() -> None:
    with Executor(locate(TRIANGLE)) as executor:
        engine = Engine(executor, population=6)
        engine.step()
        suites = [one.testcases for one in engine.search.population]
        engine.use("mosa")
        for _ in range(25):  # what is forgotten meanwhile is nothing that waits
            engine.step()
        mosa = [one.testcases for one in engine.search.population]
        engine.use("whole_suite")
        assert sorted(one.testcases for one in engine.search.population) == sorted(suites)
        engine.step()
        engine.use("mosa")
        assert set(mosa) >= {one.testcases for one in engine.search.population}


def test_an_algorithm_that_comes_back_has_its_test_cases_run_again_for_what_counts_now() -> None:
    with Executor(locate(TRIANGLE)) as executor:
        engine = Engine(executor, population=6, usable=["direct_branch"])
        engine.step()
        engine.use("mosa")
        engine.step()
        engine.activate(["direct_branch", "output"])  # which need more to be recorded
        engine.step()
        engine.use("whole_suite")
        engine.step()
        assert engine.active == ("direct_branch", "output") and engine.search.best.length > 0


def test_at_the_end_of_the_budget_nothing_is_exchanged_by_half() -> None:
    with Executor(locate(TRIANGLE)) as executor:
        engine = Engine(executor, population=6, search="adynamosa", budget=Budget(20, "x"))
        while not engine.over:
            engine.step()
        engine.activate(["direct_branch", "line"])
        assert engine.active == ("branch",)
        engine.use("mosa")
        engine.use("adynamosa")
        assert engine.search_name == "adynamosa" and engine.best_suite()


def test_algorithms_share_the_archive_and_pursue_what_is_open() -> None:
    with Executor(locate(TRIANGLE)) as executor:
        engine = Engine(executor, search="mosa", population=10)
        for _ in range(10):
            engine.step()
        covered = engine.coverage()["branch"][0]
        engine.use("one_goal")  # which looks at no archive: all targets count for it
        assert len(engine.targets()) == engine.coverage()["branch"][1]
        engine.step()
        engine.use("dynamosa")
        assert engine.coverage()["branch"][0] >= covered
        assert len(engine.targets()) == engine.coverage()["branch"][1] - engine.coverage()["branch"][0]


def test_the_agent_chooses_the_algorithm() -> None:
    with AlgorithmSelection(**SMALL, searches=["mosa", "mio:kept=5"], goal="coverage", generations_per_step=2) as env:
        env.reset(seed=1)
        assert env.engine is not None and env.engine.search_name == "mosa" and env.engine.active == ("branch",)
        assert env.action_names == ["mosa", "mio:kept=5"]
        env.step(1)
        assert env.engine.search_name == "mio:kept=5" and env.engine.generation == 3
        env.step(0)
        assert env.engine.search_name == "mosa"
        record = env.record()
        assert (record["actions"], record["options"]["searches"]) == (["mio:kept=5", "mosa"], ["mosa", "mio:kept=5"])
        with pytest.raises(ValueError, match="action 2 is not in the catalogue of 2 actions"):
            env.step(2)


def test_the_functions_that_guide_all_algorithms_can_be_named() -> None:
    with AlgorithmSelection(**SMALL, fitness="exception+line") as env:
        env.reset(seed=0)
        env.step(2)
        assert env.engine is not None and env.engine.active == ("exception", "line")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"actions": "bits"}, "has no option 'actions'"),
        ({"searches": ["mosa", "mosa"]}, "expected at least one and each of them once"),
        ({"searches": ["moza"]}, "did you mean 'mosa'"),
        ({"fitness": "colour"}, "there is no fitness function 'colour'"),
    ],
)
def test_algorithms_that_make_no_sense_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        AlgorithmSelection(TRIANGLE, **arguments)


# ------------------------------------------------------------------------------------------------------ several goals


def test_without_weights_the_reward_is_a_vector_within_its_bounds() -> None:
    with MultiGoal(**SMALL, goals=["coverage", "exceptions"], reward="gain") as env:
        env.reset(seed=2)
        total = np.zeros(2)
        for action in (0, 3, 5):
            _, reward, _, _, info = env.step(action)
            assert reward.shape == (2,) and reward.dtype == np.float32 and reward in env.reward_space
            assert np.array_equal(reward, info["rewards"])
            total += reward
        assert env.reward_dim == 2 and total.max() > 0.0


def test_with_weights_it_is_their_sum_and_the_same_run() -> None:
    options: dict[str, Any] = {**SMALL, "goals": ["coverage", "exceptions"], "reward": "gain"}
    with MultiGoal(**options) as vector, MultiGoal(**options, weights=[2.0, 0.25]) as scalar:
        vector.reset(seed=2)
        scalar.reset(seed=2)
        for action in (0, 3, 5):
            several, one = vector.step(action)[1], scalar.step(action)[1]
            assert isinstance(one, float) and one == pytest.approx(2.0 * several[0] + 0.25 * several[1], rel=1e-6)
        assert scalar.record()["options"]["weights"] == [2.0, 0.25]
        assert scalar.record()["options"]["goals"] == ["coverage", "exceptions"]


def test_goals_bring_all_that_any_of_them_needs() -> None:
    with MultiGoal(**SMALL, goals=["strong_mutation", "diversity", "exceptions"]) as env:
        names = set(env.goal.functions)
        assert {"strong_mutation", "diversity", "exception", "branch"} <= names
        env.reset(seed=0)
        _, reward, *_ = env.step(0)
        assert reward.shape == (3,)
        assert env.reward_range[1] == float("inf") and 0.0 <= env.goal.value(env.engine) < 1.0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"goals": ["coverage"]}, "expected at least two"),
        ({"goals": ["coverage", "coverage"]}, "each of them once"),
        ({"goals": ["coverage", "beauty"]}, "no goal named 'beauty'"),
        ({"weights": [1.0]}, "expected a finite number for each of 2 goals"),
        ({"weights": [1.0, float("nan")]}, "expected a finite number"),
        ({"goal": "coverage"}, "there are several goals here"),
    ],
)
def test_goals_that_make_no_sense_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MultiGoal(TRIANGLE, **arguments)


def test_weights_of_fitness_functions_are_an_environment_of_their_own() -> None:
    env = gymnasium.make("fitgym/WeightedFitness-v0", **SMALL, goal="coverage")
    assert isinstance(env.action_space, gymnasium.spaces.Box) and env.unwrapped.goal.fitness == "branch"
    env.close()
