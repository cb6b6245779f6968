"""Artificial-v0: a real search on formulas, as an environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.envs.artificial import Artificial
from fitgym.errors import InputError, ResetNeeded


def episode(env: Artificial, choose: Any, seed: int = 0) -> list[float]:
    observation, _ = env.reset(seed=seed)
    rewards, done = [], False
    while not done:
        observation, reward, done, _, _ = env.step(choose(env, observation))
        rewards.append(reward)
    return rewards


def always(name: str) -> Any:
    return lambda env, observation: env.action_names.index(name)


def test_stable_baselines_accepts_it() -> None:
    checker = pytest.importorskip(
        "stable_baselines3.common.env_checker", reason="Stable-Baselines3 is in the extra 'deep'"
    )
    checker.check_env(gymnasium.make("fitgym/Artificial-v0").unwrapped)


@pytest.mark.parametrize("search", ["whole_suite", "mio", "mosa:crossover=0"])
def test_the_rewards_add_up_to_the_share_that_is_covered(search: str) -> None:
    env = Artificial(search=search, budget=600)
    env.reset(seed=1)
    assert env.engine is not None
    at_first = env.engine.n_covered
    rewards = episode(env, lambda env, _: int(env.action_space.sample(env.action_masks().astype(np.int8))), seed=1)
    assert sum(rewards) == pytest.approx((env.engine.n_covered - at_first) / 25)
    assert env.engine.evaluations == 600 and all(reward >= 0.0 for reward in rewards)


def test_what_is_seen_has_a_name_and_means_what_it_says() -> None:
    env = Artificial(gradient=4, plateau=0, deceptive=2, infeasible=3, budget=200, population=4, search="mosa")
    first, _ = env.reset(seed=3)
    assert env.feature_names == (
        "remaining",
        *("active_gradient", "covered_gradient", "least_gradient"),
        *("active_deceptive", "covered_deceptive", "least_deceptive"),
        *("active_infeasible", "covered_infeasible", "least_infeasible"),
    )
    assert first[0] == pytest.approx(1 - 4 / 200)
    seen, *_ = env.step(env.action_names.index("gradient+infeasible"))
    named = dict(zip(env.feature_names, seen.tolist(), strict=True))
    assert (named["active_gradient"], named["active_deceptive"], named["active_infeasible"]) == (1.0, 0.0, 1.0)
    assert named["covered_infeasible"] == 0.0 and named["least_infeasible"] >= 0.5
    assert named["least_gradient"] <= 1.0 - named["covered_gradient"]


def test_to_pursue_what_is_infeasible_is_worse_than_what_has_a_gradient() -> None:
    env = Artificial(gradient=10, plateau=0, deceptive=0, infeasible=10, search="mio")
    gradient, infeasible = (
        np.mean([sum(episode(env, always(name), seed)) for seed in range(3)]) for name in ("gradient", "infeasible")
    )
    assert gradient > infeasible + 0.3


def test_the_same_seed_gives_the_same_episode_and_another_one_another() -> None:
    env = Artificial(budget=400)
    assert episode(env, always("gradient"), 5) == episode(env, always("gradient"), 5)
    first = env.record()
    assert episode(env, always("gradient"), 6) != first["rewards"]
    assert first["actions"] == ["gradient"] * len(first["rewards"]) and first["options"]["gradient"] == 10


def test_it_ends_when_all_that_is_feasible_is_covered() -> None:
    env = Artificial(gradient=1, plateau=0, deceptive=0, infeasible=1, search="mio", budget=100_000)
    episode(env, always("gradient"))
    assert env.engine is not None and env.engine.n_covered == 1 and env.engine.evaluations < 100_000
    with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
        env.step(0)
    with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
        Artificial().step(0)


def test_bits_choose_groups_and_none_leaves_those_that_are() -> None:
    env = Artificial(actions="bits", budget=300, render_mode="ansi")
    env.reset(seed=0)
    env.step([0, 1, 0, 1])
    assert env.engine is not None and env.engine.active == ("plateau", "infeasible")
    env.step([0, 0, 0, 0])
    assert env.engine.active == ("plateau", "infeasible")
    assert "active plateau+infeasible, covered gradient " in env.render()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gradient": 0, "plateau": 0, "deceptive": 0, "infeasible": 0}, "the problem has no targets"),
        ({"gradient": 0, "plateau": 0, "deceptive": 0}, "all targets are infeasible"),
        ({"gradient": -1}, "the number of gradient targets is -1"),
        ({"budget": 0}, "the budget is 0"),
        ({"generations_per_step": 0}, "generations_per_step is 0"),
        ({"actions": "weights"}, "the groups have no weights"),
        ({"search": "moza"}, "did you mean 'mosa'"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Artificial(**arguments)
