"""Factored UCB: the bounds by hand, the designed first sets, and learning."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from fitgym.agents.base import make
from fitgym.agents.factored_ucb import FactoredUCB, designed
from fitgym.agents.transition import Transition
from fitgym.errors import InputError


def told(agent: FactoredUCB, *outcomes: tuple[list[int], float]) -> Any:
    for bits, reward in outcomes:
        agent.observe(Transition(None, np.array(bits, np.int8), reward, None))
    return agent


def new_trained(seed: int, worth: np.ndarray[Any, Any], steps: int, **options: Any) -> Any:
    """An agent after so many decisions; a bit adds its worth to the reward, with noise of 0.1."""
    agent: Any = FactoredUCB(spaces.MultiBinary(len(worth)), seed=seed, **options)
    noise = np.random.default_rng(seed)
    for _ in range(steps):
        bits = agent.act(None, {})
        agent.observe(Transition(None, bits, float(bits @ worth + noise.normal(0, 0.1)), None))
    return agent


def test_the_bounds_are_those_worked_out_by_hand() -> None:
    agent: Any = FactoredUCB(spaces.MultiBinary(2), c=1, epsilon=0, normalise="none")
    told(agent, ([0, 1], 1.0), ([1, 1], 0.5), ([0, 0], 0.0))
    # t = 3, ln 3 = 1.0986122887; bit 0: N = (2, 1), Q = (0.5, 0.5); bit 1: N = (1, 2), Q = (0, 0.75)
    # sqrt(ln 3 / 2) = 0.7411519036, sqrt(ln 3) = 1.0481470740
    assert agent.means() == pytest.approx(np.array([[0.5, 0.5], [0.0, 0.75]]))
    assert agent.indices() == pytest.approx(np.array([[1.2411519036, 1.5481470740], [1.0481470740, 1.4911519036]]))
    assert agent.act(None, {}).tolist() == [1, 1], "epsilon is 0 and the two designed sets are over"


def test_rewards_are_measured_by_the_largest() -> None:
    agent = told(FactoredUCB(spaces.MultiBinary(1), normalise="largest"), ([0], 40.0), ([1], -10.0))
    assert agent.means().tolist() == [[1.0, -0.25]]


def test_a_value_without_decisions_has_no_upper_bound_and_is_no_deterministic_choice() -> None:
    agent = told(FactoredUCB(spaces.MultiBinary(2)), ([1, 0], -1.0))
    assert np.isinf(agent.indices()).tolist() == [[True, False], [False, True]]
    assert agent.choose(None, np.ones(4, bool), None).tolist() == [1, 0]


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 40])
def test_the_first_sets_tell_all_bits_apart_and_come_with_their_complements(n: int) -> None:
    design = designed(n, np.random.default_rng(n))
    assert design.shape == (2 * max(1, math.ceil(math.log2(n))), n)
    assert (design[0::2] + design[1::2] == 1).all()
    assert len({tuple(column) for column in design.T.tolist()}) == n


def test_the_first_decisions_are_the_designed_sets() -> None:
    agent: Any = FactoredUCB(spaces.MultiBinary(5), seed=3)
    for expected in agent.design.tolist():
        bits = agent.act(None, {})
        assert bits.tolist() == expected
        told(agent, (bits.tolist(), 1.0))
    assert (agent.counts == 3).all()


def test_a_share_of_the_bits_is_random() -> None:
    agent = new_trained(0, np.array([1.0, 1.0, 1.0, 1.0]), 50, c=0, epsilon=0.5)
    share = np.mean([agent.act(None, {}).mean() for _ in range(500)])
    # 2000 bits that are 0 with probability 1/4: the standard deviation of the share is 0.0097
    assert share == pytest.approx(0.75, abs=0.04)


@pytest.mark.parametrize("seed", range(3))
def test_it_learns_which_bits_pay_and_which_cost(seed: int) -> None:
    worth = np.array([0.5, -0.5, 0.3, -0.3, 0.5, -0.2])
    agent = new_trained(seed, worth, 400)
    assert agent.predict(None, deterministic=True)[0].tolist() == (worth > 0).astype(int).tolist()
    late = [float(new_trained(seed, worth, steps).act(None, {}) @ worth) for steps in range(150, 170)]
    assert np.mean(late) > 0.6, "at random it would earn 0.15, at best 1.3"


def test_with_a_discount_it_follows_a_change() -> None:
    agent = new_trained(1, np.array([1.0, 1.0]), 60, discount=0.9)
    for _ in range(60):
        bits = agent.act(None, {})
        told(agent, (bits.tolist(), float(-bits.sum())))
    assert agent.predict(None, deterministic=True)[0].tolist() == [0, 0]


def test_masked_values_are_not_chosen() -> None:
    agent = new_trained(0, np.array([1.0, 1.0, 1.0]), 30)
    mask = [True, False, True, True, False, True]
    assert agent.act(None, {"action_mask": mask})[0] == 0
    assert agent.predict(None, deterministic=True, action_masks=mask)[0].tolist() == [0, 1, 1]


def test_a_saved_agent_goes_on(tmp_path: Path) -> None:
    for steps in (2, 30):
        agent = new_trained(4, np.array([0.2, 0.1, -0.3]), steps)
        loaded: Any = make(str(agent.save(tmp_path / str(steps))), agent.action_space)
        for _ in range(10):
            bits = agent.act(None, {})
            assert bits.tolist() == loaded.act(None, {}).tolist()
            told(agent, (bits.tolist(), 0.3))
            told(loaded, (bits.tolist(), 0.3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"c": -1}, "the weight c of the bonus is -1"),
        ({"epsilon": 2}, "epsilon is 2, expected a probability between 0 and 1"),
        ({"discount": 0}, "the discount is 0, expected a number above 0"),
        ({"discount": 1.5}, "the discount is 1.5, expected a number above 0 and at most 1"),
    ],
)
def test_a_senseless_hyper_parameter_is_an_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        FactoredUCB(spaces.MultiBinary(2), **options)


@pytest.mark.parametrize("reward", [math.nan, math.inf])
def test_a_reward_that_is_not_finite_is_not_learnt(reward: float) -> None:
    agent = FactoredUCB(spaces.MultiBinary(2))
    with pytest.raises(InputError, match="expected a finite number"):
        told(agent, ([0, 1], reward))
    assert agent.counts.sum() == agent.n_updates == 0


# Catalogues of combinations

FUNCTIONS = ("a", "b", "c", "d", "e", "f")
CATALOGUE = ["+".join(("goal", *chosen)) for size in range(4) for chosen in combinations(FUNCTIONS, size)]
WORTH = {"goal": 0.2, "a": 0.5, "b": -0.3, "c": 0.0, "d": 0.3, "e": -0.5, "f": -0.2}


def worth(name: str) -> float:
    """The mean reward of a combination; the best is goal+a+d, or with c, which is worth nothing."""
    return sum(WORTH[part] for part in name.split("+"))


@pytest.mark.parametrize("text", ["factored_ucb", "linucb:features=action", "linucb"])
@pytest.mark.parametrize("seed", range(3))
def test_it_learns_which_functions_pay_in_fewer_decisions_than_there_are_sets(text: str, seed: int) -> None:
    agent = make(text, len(CATALOGUE), action_names=CATALOGUE, seed=seed)
    noise, seen = np.random.default_rng(seed), np.full(3, 0.5)
    assert len(CATALOGUE) == 42
    for _ in range(42):
        action = agent.act(seen, {})
        agent.observe(Transition(seen, action, 0.04 * (worth(CATALOGUE[int(action)]) + noise.normal(0, 0.1)), seen))
    best = CATALOGUE[int(agent.predict(seen, deterministic=True)[0])]
    assert worth(best) > 0.65, best  # at best 1, uniformly 0.11


def test_each_function_is_tried_in_and_out_first() -> None:
    agent: Any = make("factored_ucb", len(CATALOGUE), action_names=CATALOGUE, seed=1)
    steps = 0
    while (agent.counts == 0).any():
        agent.observe(Transition(None, agent.act(None, {}), 1.0, None))
        steps += 1
    assert agent.n_bits == 6 and steps <= 6
    assert agent.counts.sum() == 6 * steps


def test_the_best_sum_of_bounds_is_taken() -> None:
    names = ["goal", "goal+a", "goal+b", "goal+a+b"]
    agent: Any = make("factored_ucb:c=1,epsilon=0,normalise=none", 4, action_names=names)
    for action, reward in ((0, 0.0), (1, 1.0), (2, 0.0), (3, 1.0)):
        agent.observe(Transition(None, action, reward, None))
    # t = 4 and N = 2 everywhere, so the bonus is the same; Q(a, 1) = 1, Q(a, 0) = 0, Q(b, 0) = Q(b, 1) = 0.5
    assert agent.means().tolist() == [[0.0, 1.0], [0.5, 0.5]]
    assert agent.act(None, {}) == min((1, 3), key=agent.order.actions.tolist().index)
    assert agent.act(None, {"action_mask": [True, False, True, False]}) in (0, 2)


def test_a_value_that_left_the_window_is_tried_again() -> None:
    agent: Any = make("factored_ucb:window=2,epsilon=0", 3, action_names=["goal", "goal+a", "goal+b"])
    for action in (1, 0, 0):
        agent.observe(Transition(None, action, 1.0, None))
    assert agent.act(None, {}) in (1, 2)
