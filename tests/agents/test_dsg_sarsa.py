"""DSG-Sarsa: updates by hand, tile coding, and the queue of Sutton and Barto's book."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fitgym.agents._features import Tiles, vector
from fitgym.agents.base import Transition
from fitgym.agents.dsg_sarsa import DSGSarsa
from fitgym.errors import InputError


def seen(*entries: float) -> NDArray[np.float64]:
    return np.array(entries)


# Updates


def test_three_updates_are_those_worked_out_by_hand() -> None:
    agent = DSGSarsa(2, alpha=0.5, beta=0.1, epsilon=0)
    agent.order.actions = np.array([0, 1])
    # Nothing is known, so delta = R - Rbar + 0 - 0 = 1; action 1 is untried and comes next.
    agent.observe(Transition(seen(1.0), 0, 1.0, seen(1.0)))
    assert agent.average == pytest.approx(0.1)
    assert agent.weights == pytest.approx([0.5, 0.5, 0, 0])
    assert agent.act(seen(1.0), {}) == 1
    # q([0.5], .) = (0.5 * 0.5 + 0.5, 0), so action 0 comes next: delta = 0 - 0.1 + 0.75 - 0 = 0.65.
    agent.observe(Transition(seen(1.0), 1, 0.0, seen(0.5)))
    assert agent.average == pytest.approx(0.165)
    assert agent.weights == pytest.approx([0.5, 0.5, 0.325, 0.325])
    assert agent.act(seen(0.5), {}) == 0
    # q([0], .) = (0.5, 0.325): delta = 0.5 - 0.165 + 0.5 - 0.75 = 0.085, and w(0) grows by 0.5 * 0.085 * [0.5, 1].
    agent.observe(Transition(seen(0.5), 0, 0.5, seen(0.0)))
    assert agent.average == pytest.approx(0.1735)
    assert agent.weights == pytest.approx([0.52125, 0.5425, 0.325, 0.325])


@pytest.mark.parametrize(("episodic", "delta"), [(False, 1.5), (True, 1.0)])
def test_the_end_of_an_episode_is_no_end_unless_asked_for(episodic: bool, delta: float) -> None:
    agent = DSGSarsa(1, alpha=1.0, beta=0.0, episodic=episodic)
    agent.observe(Transition(seen(0.0), 0, 0.5, seen(1.0)))
    assert agent.weights == pytest.approx([0.0, 0.5])
    agent.observe(Transition(seen(0.0), 0, 1.5, seen(1.0), terminated=True))
    # delta = 1.5 + q(s') - 0.5 with q(s') = 0.5, or 0 where the end counts as one.
    assert agent.weights == pytest.approx([0.0, 0.5 + delta])


def test_normalised_rewards_are_measured_by_the_largest() -> None:
    agent = DSGSarsa(1, alpha=1.0, beta=1.0, normalise=True)
    agent.observe(Transition(seen(), 0, 400.0, seen()))
    assert agent.average == 1.0 and agent.weights.tolist() == [1.0]


def test_the_action_chosen_while_observing_is_the_one_taken() -> None:
    agent = DSGSarsa(5, epsilon=1.0, seed=2)
    for action in range(5):
        agent.observe(Transition(seen(0.1), action, 0.0, seen(0.2)))
    for _ in range(20):
        chosen = agent.arrays()["next"]
        assert agent.act(seen(0.2), {}) == chosen
        agent.observe(Transition(seen(0.2), int(chosen), 0.0, seen(0.2)))


def test_a_chosen_action_that_is_forbidden_is_replaced() -> None:
    agent = DSGSarsa(3, epsilon=0, seed=0)
    for action in (0, 1, 2, 0):
        agent.observe(Transition(seen(0.1), action, float(action), seen(0.1)))
    assert agent.arrays()["next"] == 2
    assert agent.act(seen(0.1), {"action_mask": [True, True, False]}) == 1


def test_the_next_action_is_one_that_the_mask_of_the_next_step_allows() -> None:
    agent = DSGSarsa(4, epsilon=1.0, seed=0)
    mask = np.array([False, True, False, False])
    for _ in range(8):
        agent.observe(Transition(seen(0.1), 0, 0.0, seen(0.1), info={"action_mask": mask}))
        assert agent.arrays()["next"] == 1


@pytest.mark.parametrize("options", [{}, {"tiles": 4}], ids=["linear", "tiles"])
def test_the_value_of_a_constant_surplus_goes_to_its_action(options: dict[str, Any]) -> None:
    agent = DSGSarsa(2, seed=0, **options)
    observation = seen(0.3, 0.7)
    for _ in range(400):
        action = agent.act(observation, {})
        agent.observe(Transition(observation, action, float(action), observation))
    assert agent.predict(observation, deterministic=True)[0] == 1
    assert agent.average == pytest.approx(0.95, abs=0.1)  # 1 with probability 0.95


@pytest.mark.parametrize("observation", [[0.1], [0.1, 0.2, 0.3]])
def test_an_observation_of_another_length_is_an_error(observation: list[float]) -> None:
    agent = DSGSarsa(1)
    agent.observe(Transition(seen(0.1, 0.2), 0, 0.0, seen(0.1, 0.2)))
    with pytest.raises(InputError, match=f"has {len(observation)} entries, this agent has learnt from 2"):
        agent.values(np.array(observation))


@pytest.mark.parametrize("observation", ["text", {"a": 1}, [float("nan")], [float("inf")]])
def test_an_observation_that_is_no_row_of_numbers_is_an_error(observation: Any) -> None:
    with pytest.raises(InputError, match="the observation"):
        vector(observation)


# Tile coding


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3), st.integers(0, 4))
def test_the_value_of_an_action_is_the_sum_over_its_cells(entries: list[float], action: int) -> None:
    tiles = Tiles(5, 3, tiles=4, tilings=8, memory=512)
    weights = np.random.default_rng(0).normal(size=512)
    places, x = tiles.of(seen(*entries), action)
    assert x.sum() == 8
    assert tiles.values(weights, seen(*entries))[action] == pytest.approx(float(weights[places] @ x))


@given(st.lists(st.floats(-3, 3), min_size=3, max_size=3), st.sampled_from([512, 1000, 4096]))
def test_the_cells_are_those_of_the_definition(entries: list[float], memory: int) -> None:
    tiles = Tiles(5, 3, tiles=4, tilings=8, memory=memory)
    odd = np.random.default_rng((3, 4, 8, memory)).integers(0, 2**63, 5, dtype=np.uint64).astype(object) * 2 + 1

    def scattered(number: int) -> int:
        """SplitMix64's finaliser in whole numbers of any length."""
        number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        number = (number ^ number >> 27) * 0x94D049BB133111EB % 2**64
        return int(number ^ number >> 31)

    for action in range(5):
        expected = []
        for grid in range(8):
            shifts = [grid * (2 * i + 1) % 8 / 8 for i in range(3)]
            intervals = [math.floor(entry * 4 + shift) for entry, shift in zip(entries, shifts, strict=True)]
            mixed = sum(interval * int(o) for interval, o in zip(intervals, odd, strict=False)) + (grid + 1) * int(
                odd[3]
            )
            expected.append(scattered((action + 1) * int(odd[4]) % 2**64 ^ scattered(mixed % 2**64)) % memory)
        assert tiles.of(seen(*entries), action)[0].tolist() == expected
        tiles.values(np.zeros(memory), seen(*entries))
        assert tiles.of(seen(*entries), action)[0].tolist() == expected
        tiles.values(np.zeros(memory), seen(9.0, 9.0, 9.0))


def test_near_observations_share_most_cells_and_far_ones_none() -> None:
    tiles = Tiles(1, 2, tiles=4, tilings=8, memory=1 << 20)

    def cells(*entries: float) -> set[int]:
        return set(tiles.of(seen(*entries), 0)[0].tolist())

    here = cells(0.5, 0.5)
    # One eighth of an interval is 1 / 32: a step of that size along one entry leaves exactly one grid's cell.
    assert len(here & cells(0.5 + 1 / 32 + 1e-9, 0.5)) in (6, 7)
    assert not here & cells(0.9, 0.9)


def test_actions_have_cells_of_their_own() -> None:
    tiles = Tiles(2, 2, tiles=4, tilings=8, memory=1 << 20)
    assert not set(tiles.of(seen(0.5, 0.5), 0)[0]) & set(tiles.of(seen(0.5, 0.5), 1)[0])


def test_cells_are_the_same_in_every_process() -> None:
    tiles = Tiles(3, 2, tiles=4, tilings=2, memory=4096)
    assert tiles.of(seen(0.25, 0.75), 1)[0].tolist() == [1908, 2075]


# A task with a known solution


class Queue(gymnasium.Env[Any, Any]):
    """The access-control queue: 10 servers, customers that pay 1, 2, 4 or 8; accept (1) or reject (0) the first one.

    A busy server becomes free with probability 0.06 at each step.

    References:
        Sutton and Barto 2018, Reinforcement Learning: An Introduction, 2nd edition, example 10.2.
    """

    SERVERS, PAYS, FREED = 10, (1, 2, 4, 8), 0.06
    observation_space = spaces.Box(0, 1, (44,), np.float64)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.free, self.customer = self.SERVERS, int(self.np_random.integers(4))
        return self._seen(), self._info()

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        reward = 0.0
        if action == 1 and self.free:
            reward = float(self.PAYS[self.customer])
            self.free -= 1
        self.free += int(self.np_random.binomial(self.SERVERS - self.free, self.FREED))
        self.customer = int(self.np_random.integers(4))
        return self._seen(), reward, False, False, self._info()

    def _seen(self) -> NDArray[np.float64]:
        row = np.zeros(44)
        row[4 * self.free + self.customer] = 1.0
        return row

    def _info(self) -> dict[str, Any]:
        return {"action_mask": np.array([True, self.free > 0])}


def binomial(k: int, n: int, p: float) -> float:
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


def chain(accepts: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Transitions between numbers of free servers, and the expected reward, under a policy `(11, 4)`."""
    move, pays = np.zeros((11, 11)), np.zeros(11)
    for free in range(11):
        for customer, pay in enumerate(Queue.PAYS):
            taken = bool(accepts[free, customer]) and free > 0
            left = free - taken
            pays[free] += pay * taken / 4
            for freed in range(Queue.SERVERS - left + 1):
                move[free, left + freed] += binomial(freed, Queue.SERVERS - left, Queue.FREED) / 4
    return move, pays


def gain(accepts: NDArray[np.bool_]) -> float:
    """The long-run average reward of a policy."""
    move, pays = chain(accepts)
    balance = np.vstack([move.T - np.eye(11), np.ones(11)])
    stationary = np.linalg.lstsq(balance, np.append(np.zeros(11), 1.0), rcond=None)[0]
    return float(stationary @ pays)


def best_gain() -> float:
    """By trying all policies that accept a customer from some number of free servers on."""
    best = 0.0
    for first in np.ndindex(12, 12, 12):
        accepts = np.arange(11)[:, None] >= np.array([*first, 1])
        best = max(best, gain(accepts)) if sorted(first, reverse=True) == list(first) else best
    return best


def test_the_queue_is_learnt_nearly_to_its_optimum() -> None:
    agent = DSGSarsa(2, alpha=0.01, beta=0.01, epsilon=0.1, seed=0).learn(Queue(), 60_000, seed=0)
    accepts = np.zeros((11, 4), bool)
    for free in range(11):
        for customer in range(4):
            row = np.zeros(44)
            row[4 * free + customer] = 1.0
            mask = np.array([True, free > 0])
            accepts[free, customer] = agent.predict(row, deterministic=True, action_masks=mask)[0] == 1
    assert gain(accepts) > 0.97 * best_gain()
    # While learning one action in twenty is wrong, so the average that the agent believes in is a little lower.
    assert agent.average == pytest.approx(gain(accepts), rel=0.15)
