"""The Gaussian policy: one step by hand, bounds, numbers of any size, and learning."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from fitgym.agents.base import make
from fitgym.agents.gaussian import Gaussian
from fitgym.agents.transition import Transition
from fitgym.errors import InputError

BOX = spaces.Box(np.array([0, -1], np.float32), np.array([4, 1], np.float32))


def told(agent: Gaussian, observation: Any, action: list[float], reward: float) -> None:
    agent.observe(Transition(observation, np.array(action, np.float32), reward, observation))


def test_one_step_is_the_one_worked_out_by_hand() -> None:
    agent = Gaussian(BOX, step=0.5, spread_step=0.1, spread=0.5)
    x = np.array([1.0])  # with the constant x = (1, 1), x . x = 2
    told(agent, x, [4, 0], 1.0)  # the first reward is the baseline, nothing moves
    assert not agent.weights.any() and agent.baseline == 1.0
    told(agent, x, [3, -0.5], 2.0)
    # b = 1, s = |2 - 1| so A = 1; z = (0.5, -0.5), mu = 0: the mean moves by 0.5 * z = (0.25, -0.25), W by half of it
    assert agent.mean(x) == pytest.approx([0.25, -0.25])
    assert agent.weights == pytest.approx(np.array([[0.125, 0.125], [-0.125, -0.125]]))
    # z^2 / sigma^2 - 1 = 0: the spread stays; the baseline is the mean of 1 and 2
    assert agent.sigma() == pytest.approx([0.5, 0.5]) and agent.baseline == pytest.approx(1.5)
    # the mean as an action: 2 + 2 * 0.25 and 0 + 1 * -0.25
    assert agent.predict(x, deterministic=True)[0] == pytest.approx([2.5, -0.25])


def test_it_begins_in_the_centre_of_the_box() -> None:
    assert Gaussian(BOX).predict(np.ones(3), deterministic=True)[0].tolist() == [2.0, 0.0]


def test_a_box_without_width_has_one_action() -> None:
    box = spaces.Box(np.array([2, 0], np.float32), np.array([2, 1], np.float32))
    agent = Gaussian(box)
    for reward in (0.0, 1.0, -1.0):
        action = agent.act(None, {})
        assert action[0] == 2.0
        told(agent, None, action.tolist(), reward)
    assert np.isfinite(agent.weights).all()


@pytest.mark.parametrize("seed", range(3))
def test_it_learns_an_action_that_depends_on_the_observation(seed: int) -> None:
    agent, rng = Gaussian(BOX, seed=seed), np.random.default_rng(seed)
    for _ in range(600):
        seen = rng.random(2)
        action = agent.act(seen, {})
        told(agent, seen, action.tolist(), -abs(action[0] - 4 * seen[0]) - abs(action[1] - 0.5))
    missed = [np.abs(agent.predict(np.array([v, 0.5]), deterministic=True)[0] - [4 * v, 0.5]) for v in (0.2, 0.5, 0.8)]
    assert np.mean(missed, axis=0)[0] < 0.7, "the centre of the box misses by 0.8 in the mean"
    low, high = (float(agent.predict(np.array([v, 0.5]), deterministic=True)[0][0]) for v in (0.1, 0.9))
    assert high > low + 1
    assert np.mean(missed, axis=0)[1] < 0.3


def test_the_spread_shrinks_where_the_mean_is_right() -> None:
    agent = Gaussian(BOX, seed=0)
    for _ in range(600):
        action = agent.act(None, {})
        told(agent, None, action.tolist(), -abs(action[0] - 2.0) - abs(action[1]))
    assert (agent.sigma() < 0.4).all()


REALS = st.floats(-1.7e308, 1.7e308)


@pytest.mark.filterwarnings("ignore:overflow")
@given(st.lists(st.tuples(REALS, REALS, REALS), max_size=12), st.integers(0, 9))
def test_it_stays_in_the_box_and_finite_whatever_it_sees(steps: list[tuple[float, float, float]], seed: int) -> None:
    agent = Gaussian(BOX, seed=seed, step=10.0, spread_step=10.0)
    for first, second, reward in steps:
        seen = np.array([first, second])
        action = agent.act(seen, {})
        assert BOX.contains(action)
        told(agent, seen, action.tolist(), reward)
        assert all(np.isfinite(array).all() for array in agent.arrays().values())
        assert (agent.sigma() >= 0.05 - 1e-12).all() and (agent.sigma() <= 1).all()


def test_actions_of_others_are_learnt_from_too() -> None:
    agent = Gaussian(BOX, seed=0)
    rng = np.random.default_rng(0)
    for _ in range(300):
        action = BOX.low + (BOX.high - BOX.low) * rng.random(2)
        told(agent, None, action.tolist(), float(action[1]))
    assert agent.predict(None, deterministic=True)[0][1] > 0.5


def test_another_length_of_observations_is_an_error() -> None:
    agent = Gaussian(BOX)
    told(agent, np.ones(3), [1, 0], 1.0)
    with pytest.raises(InputError, match="the observation has 2 entries, this agent has learnt from 3"):
        agent.act(np.ones(2), {})


def test_a_saved_agent_goes_on(tmp_path: Path) -> None:
    agent = Gaussian(BOX, seed=5)
    for reward in (0.1, 0.5, 0.2):
        told(agent, np.ones(2), agent.act(np.ones(2), {}).tolist(), reward)
    loaded: Any = make(str(agent.save(tmp_path / "agent")), BOX)
    for reward in (0.3, 0.9, 0.1):
        action = agent.act(np.ones(2), {})
        assert action.tolist() == loaded.act(np.ones(2), {}).tolist()
        for each in (agent, loaded):
            told(each, np.ones(2), action.tolist(), reward)


@pytest.mark.parametrize("reward", [math.nan, math.inf])
def test_a_reward_that_is_not_finite_is_not_learnt(reward: float) -> None:
    agent = Gaussian(BOX)
    with pytest.raises(InputError, match="expected a finite number"):
        told(agent, None, [1, 0], reward)
    assert agent.n_updates == 0 and agent.baseline == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": 0}, "the step size is 0, expected a number above 0"),
        ({"spread_step": -1}, "the step size of the spread is -1, expected a number above 0"),
        ({"spread": 2}, "the spread is 2, expected a number above 0 and at most 1"),
        ({"memory": 0}, "the memory of the running means is 0, expected a number above 0"),
    ],
)
def test_a_senseless_hyper_parameter_is_an_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Gaussian(BOX, **options)
