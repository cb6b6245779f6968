"""The toy environment: its formulas by hand, and its best policy against all policies."""

from __future__ import annotations

import itertools
import json
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from nightly import nightly

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.agents.base import make
from fitgym.envs.toy import ACTIONS, FADING, GROUND, MIRAGE, RISING, STEADY, Toy, optimum
from fitgym.errors import InputError, ResetNeeded


def earned(env: Toy, choose: Callable[[Toy], int], seed: int | None = None) -> float:
    """The return of one episode."""
    env.reset(seed=seed)
    total, done = 0.0, False
    while not done:
        _, reward, done, _, _ = env.step(choose(env))
        total += reward
    return total


def rewards(*actions: int, horizon: int = 5) -> list[float]:
    env = Toy(horizon)
    env.reset()
    return [env.step(action)[1] for action in actions]


def test_gymnasium_accepts_it() -> None:
    check_env(gymnasium.make("fitgym/Toy-v0").unwrapped)


def test_stable_baselines_accepts_it() -> None:
    checker = pytest.importorskip(
        "stable_baselines3.common.env_checker", reason="Stable-Baselines3 is in the extra 'deep'"
    )
    checker.check_env(gymnasium.make("fitgym/Toy-v0", noise=0.1).unwrapped)


@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        ([STEADY, STEADY], [0.4, 0.4]),
        ([FADING, FADING, FADING], [0.9, 0.765, 0.65025]),
        ([RISING, RISING, STEADY, RISING], [0.0, 0.2, 0.4, 0.6]),
        ([MIRAGE, STEADY, MIRAGE], [0.9, 0.4 * 0.93, 0.9 * 0.93]),
        ([GROUND, STEADY, GROUND, STEADY], [0.0, 0.4 * 1.15, 0.0, 0.4 * 1.3225]),
        ([MIRAGE, GROUND, FADING], [0.9, 0.0, 0.9 * 1.15 * 0.93]),
    ],
)
def test_rewards_are_those_worked_out_by_hand(actions: list[int], expected: list[float]) -> None:
    assert rewards(*actions) == pytest.approx(expected)


def test_more_than_five_of_ground_are_worth_five() -> None:
    assert rewards(*[GROUND] * 7, STEADY, horizon=8)[-1] == pytest.approx(0.4 * 1.15**5)


@pytest.mark.parametrize("horizon", [2, 4, 6])
def test_no_sequence_of_actions_earns_more_than_the_optimum(horizon: int) -> None:
    returns = [sum(rewards(*actions, horizon=horizon)) for actions in itertools.product(range(5), repeat=horizon)]
    assert max(returns) == pytest.approx(optimum(horizon)[0])


@pytest.mark.parametrize("horizon", [2, 7, 40])
def test_the_best_policy_earns_the_optimum(horizon: int) -> None:
    assert earned(Toy(horizon), Toy.best_action) == pytest.approx(optimum(horizon)[0])


def test_the_best_action_is_right_after_a_mistake_too() -> None:
    env = Toy(6)
    best = {
        first: max(sum(rewards(first, *rest, horizon=6)) for rest in itertools.product(range(5), repeat=5))
        for first in range(5)
    }
    for first in range(5):
        assert earned(env, lambda e, f=first: f if not e.record()["actions"] else e.best_action()) == pytest.approx(
            best[first]
        )


def test_the_returns_that_the_documentation_names() -> None:
    assert round(optimum(40)[0], 2) == 39.46
    single = [earned(Toy(), lambda _, a=action: a) for action in range(5)]
    assert round(max(single), 2) == 16.0 and np.argmax(single) in (STEADY, RISING)
    assert round(earned(Toy(), most_at_once), 2) == 13.0
    rng = np.random.default_rng(0)
    assert np.mean([earned(Toy(), lambda _: int(rng.integers(5))) for _ in range(200)]) == pytest.approx(21.2, abs=0.7)


def most_at_once(env: Toy) -> int:
    """The action whose next reward is largest, by trying each on a copy."""
    return int(np.argmax([env.fork().step(action)[1] for action in range(5)]))


def test_the_best_policy_begins_with_ground_and_ends_with_the_mirage() -> None:
    env = Toy()
    earned(env, Toy.best_action)
    taken = env.record()["actions"]
    assert taken[:5] == ["ground"] * 5 and taken[-1] == "mirage" and "mirage" not in taken[:30]


def test_observations_name_the_state() -> None:
    env = Toy(4)
    env.reset()
    env.step(FADING)
    seen = dict(zip(env.feature_names, env.step(MIRAGE)[0].tolist(), strict=True))
    assert {name: value for name, value in seen.items() if value} == {
        "remaining": 0.5,
        "share_fading": 0.25,
        "share_mirage": 0.25,
        "last_mirage": 1.0,
    }


def test_noise_comes_from_the_seed_and_has_its_deviation() -> None:
    assert earned(Toy(noise=0.5), lambda _: STEADY, seed=3) == earned(Toy(noise=0.5), lambda _: STEADY, seed=3)
    returns = [earned(Toy(noise=0.5), lambda _: STEADY, seed=seed) for seed in range(400)]
    # 40 draws: deviation 0.5 * sqrt(40) = 3.16 around 16; the mean of 400 episodes deviates by 0.16.
    assert np.mean(returns) == pytest.approx(16.0, abs=0.5)
    assert np.std(returns) == pytest.approx(3.16, abs=0.4)


def test_a_fork_goes_on_alike_and_apart() -> None:
    env = Toy(noise=0.3)
    env.reset(seed=1)
    env.step(GROUND)
    for twin in (env.fork(), pickle.loads(pickle.dumps(env))):
        assert [twin.step(a)[1] for a in (0, 1, 2)] == [e.step(a)[1] for e in [env.fork()] for a in (0, 1, 2)]
    assert env.record()["actions"] == ["ground"]


def test_the_record_and_the_spec_are_json_and_repeat_the_episode() -> None:
    env = gymnasium.make("fitgym/Toy-v0", horizon=6, noise=0.1)
    assert env.spec is not None and "Toy-v0" in env.spec.to_json()
    toy: Any = env.unwrapped
    earned(toy, lambda _: RISING, seed=9)
    record = json.loads(json.dumps(toy.record()))
    again = Toy(**record["options"])
    actions = iter(record["actions"])
    earned(again, lambda _: ACTIONS.index(next(actions)), seed=record["seed"])
    assert again.record() | {"env": ""} == toy.record() | {"env": ""}


def test_an_episode_without_a_seed_is_repeated_by_its_record() -> None:
    toy = Toy(6, 0.1)
    earned(toy, lambda _: RISING, seed=9)
    earned(toy, lambda _: RISING)
    record, again = toy.record(), Toy(6, 0.1)
    earned(again, lambda _: RISING, seed=record["seed"])
    assert again.record() == record


def test_rendering_is_one_line() -> None:
    env = Toy(3, render_mode="ansi")
    env.reset()
    env.step(STEADY)
    assert env.render() == "step 1 of 3, earned 0.40, taken: steady 1, fading 0, rising 0, mirage 0, ground 0"


def test_it_must_be_reset_before_it_goes_on() -> None:
    env = Toy(2)
    for call in (lambda: env.step(0), env.best_action):
        with pytest.raises(ResetNeeded):
            call()
    earned(env, lambda _: 0)
    with pytest.raises(ResetNeeded):
        env.step(0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"horizon": 1}, "the horizon is 1, expected a whole number of at least 2 steps"),
        ({"horizon": 2.5}, "the horizon is 2.5, expected a whole number of at least 2 steps"),
        ({"noise": np.nan}, "the noise is nan, expected a standard deviation of at least 0"),
        ({"noise": -1}, "the noise is -1, expected a standard deviation of at least 0"),
    ],
)
def test_senseless_arguments_are_explained(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Toy(**arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize("action", [-1, 5])
def test_an_action_that_does_not_exist_is_refused(action: int) -> None:
    env = Toy()
    env.reset()
    with pytest.raises(ValueError, match=f"action {action} is not one of the 5 actions"):
        env.step(action)


@pytest.mark.parametrize("name", ["ucb:c=0.3", "softmax", "epsilon_greedy", "dsg_sarsa"])
def test_agents_that_look_no_further_than_a_step_fall_for_the_mirage(name: str) -> None:
    returns, mirages = [], 0
    for seed in range(10):
        env = Toy()
        make(name, env.action_space, seed=seed).learn(env, episodes=1)
        returns.append(sum(env.record()["rewards"]))
        mirages += env.record()["actions"].count("mirage")
    assert mirages > 10 * 40 / 5 and np.mean(returns) < 21.2


@nightly
def test_ppo_learns_it_to_95_percent_of_the_optimum() -> None:
    stable_baselines3 = pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is in the extra 'deep'")
    import torch
    from stable_baselines3.common.env_util import make_vec_env

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # of so small a network more threads make a slower one
    model = stable_baselines3.PPO(
        "MlpPolicy",
        make_vec_env(Toy, n_envs=8, seed=0),
        n_steps=80,
        batch_size=160,
        n_epochs=8,
        learning_rate=1e-3,
        gamma=1.0,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [32, 32]},
        seed=0,
        device="cpu",
    )
    model.learn(30_000)
    torch.set_num_threads(threads)
    env = Toy()
    assert earned(env, lambda e: int(model.predict(e._observation(), deterministic=True)[0])) > 0.95 * optimum()[0]
