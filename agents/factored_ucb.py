"""Factored UCB: upper confidence bounds for single functions instead of combinations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Discrete, MultiBinary, Space
from numpy.typing import NDArray

from fitgym.agents._averages import Averages
from fitgym.agents._functions import function_bits
from fitgym.agents._numbers import non_negative, probability
from fitgym.agents._order import Order
from fitgym.agents._space import fitted
from fitgym.agents.base import Agent
from fitgym.agents.transition import Action, Transition

__all__ = ["FactoredUCB"]


class FactoredUCB(Agent):
    """A combinatorial bandit: it rates the two values of each bit instead of all combinations.

    The bound of value v of bit i is

        B(i, v) = Q(i, v) + c * sqrt(ln t / N(i, v)),     t = sum over v of N(i, v)

    N(i, v) is the number of decisions in which bit i had value v. Q(i, v) is the mean reward of these decisions. A value
    without decisions has an infinite bound. The agent takes

        MultiBinary    each bit the value with the larger bound
        Discrete       the action with the largest sum of B(i, v) over its bits, v its value of bit i

    and with probability epsilon a random value of the bit, or a random allowed action. The deterministic choice leaves the
    bonus and epsilon out. Observations are ignored.

    In `MultiBinary` the bits are those of the action. The first decisions try sets of bits and their complements, see
    `designed`. Each bit has a preferred value that decides ties, drawn when the agent is made.

    In `Discrete` the bits are the fitness functions that an action combines: `exception+branch` combines two. A function
    that all actions combine is left out. While some value has no decision, the agent takes the action with the most such
    values. So for 64 sets of 8 functions there are 14 estimates, and about 4 first decisions instead of 64. If no action
    combines several functions, each action is a bit of its own. Ties go to the action that comes first in a random order,
    drawn when the agent is made.

    Random values separate the bits. Without them two bits that change together keep the same means, and a bit that costs
    can hide behind a bit that pays.

    The rule fits rewards that are nearly a sum over bits. It cannot learn that two bits pay only together. In a catalogue
    whose sets are small, the means of a bit depend on the bits that occur with it; `linucb:features=action` separates them.

    Args:
        action_space, action_names, seed: as for every agent.
        c: weight of the bonus, at least 0. The default is that of the source, sqrt(3 / 2) = 1.22.
        epsilon: probability of a random value for each bit, or of a random action, in [0, 1].
        normalise: unit of the rewards: `running` (a running standard deviation, see `ucb`), `largest` (the largest absolute
            reward so far) or `none`.
        discount: in (0, 1]; the reward of s decisions ago weighs discount^s. 1 forgets nothing.
        window: only the most recent `window` decisions count; 0 for all.

    Raises:
        InputError: a hyper-parameter is outside its range, or both discount and window are asked for.

    References:
        Chen, Wang and Yuan 2013, Combinatorial Multi-Armed Bandit: General Framework and Applications, algorithm 1
        (CUCB): an upper confidence bound for each base arm, and the best set for these bounds.

    Differs from CUCB: the rule has random values and a running scale. The source observes an outcome of each base arm. Here
    all bits share the reward of the decision, so the other bits are noise in Q(i, v). The base arms are the pairs (bit,
    value), so the best set of `MultiBinary` takes the better value of each bit.
    """

    spaces: ClassVar[tuple[type[Space[Any]], ...]] = (Discrete, MultiBinary)
    learns: ClassVar[bool] = True

    def __init__(
        self,
        action_space: Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        c: float = math.sqrt(3 / 2),
        epsilon: float = 0.1,
        normalise: str | bool = "running",
        discount: float = 1.0,
        window: int = 0,
    ) -> None:
        super().__init__(action_space, action_names, seed)
        self.c = non_negative(c, "the weight c of the bonus")
        self.epsilon = probability(epsilon, "epsilon")
        self._of_bits = isinstance(self.action_space, MultiBinary)
        # The values that each action of `Discrete` has, value v of bit i as entry 2 i + v.
        bits = np.zeros((0, self.n_actions), np.int8) if self._of_bits else function_bits(self.action_names)
        self.n_bits = bits.shape[1]
        self._values = 2 * np.arange(self.n_bits) + bits
        self.averages = Averages(2 * self.n_bits, discount, window, normalise=normalise)
        self.normalise = self.averages.scale.normalise
        self.discount, self.window = self.averages.discount, self.averages.window
        self.design: NDArray[np.int8] = np.zeros((0, self.n_bits), np.int8)
        self.preferred: NDArray[np.int8] = np.zeros(0, np.int8)
        if self._of_bits:
            self.design = designed(self.n_actions, self.rng)
            self.preferred = self.rng.integers(0, 2, self.n_actions, np.int8)
        self.order = Order(0 if self._of_bits else self.n_actions, self.rng)
        self._tried = 0

    @property
    def counts(self) -> NDArray[np.float64]:
        """N(i, v), shape `(n_bits, 2)`."""
        return self.averages.counts.reshape(-1, 2)

    def means(self) -> NDArray[np.float64]:
        """Q(i, v), 0 for a value without decisions; shape `(n_bits, 2)`."""
        return self.averages.means().reshape(-1, 2)

    def indices(self) -> NDArray[np.float64]:
        """The upper confidence bounds, infinite for a value without decisions; shape `(n_bits, 2)`."""
        counts = self.counts
        # A discount can bring t below 1, where the logarithm is negative.
        logarithms = np.log(np.maximum(counts.sum(axis=1, keepdims=True), 1.0))
        bounds = np.full_like(counts, np.inf)
        bonus = np.zeros_like(counts)
        tried = counts > 0
        np.divide(np.broadcast_to(logarithms, bonus.shape), counts, out=bonus, where=tried)
        np.add(self.means(), self.c * np.sqrt(bonus), out=bounds, where=tried)
        return bounds

    def act(self, observation: Any, info: Mapping[str, Any]) -> Action:
        """The next set or action to try first, or the one with the largest bounds."""
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> Action:
        """The action of `act`; without `rng` the one with the largest means."""
        return self._bits(allowed, rng) if self._of_bits else self._action(allowed, rng)

    def update(self, transition: Transition) -> None:
        """Add the reward to the value that each bit had."""
        if self._of_bits:
            had = 2 * np.arange(self.n_bits) + np.asarray(transition.action, np.int64)
        else:
            had = self._values[int(transition.action)]
        self.averages.add(had, transition.reward)
        self._tried = min(self._tried + 1, len(self.design))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The first decisions, the preferred values for ties, and the counts and sums."""
        averages = self.averages.arrays()
        return {
            **averages,
            "design": self.design.copy(),
            "tried": np.array(self._tried),
            "preferred": self.preferred.copy(),
            "order": self.order.actions.copy(),
            "counts": averages["counts"].reshape(-1, 2),
            "sums": averages["sums"].reshape(-1, 2),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state from `arrays`."""
        self.design, self.preferred = arrays["design"].copy(), arrays["preferred"].copy()
        self._tried = int(arrays["tried"])
        if "order" in arrays:
            self.order.actions = arrays["order"].copy()
        flat = {name: arrays[name].ravel() for name in ("counts", "sums")}
        self.averages.restore({**arrays, **flat})

    def _bits(self, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> NDArray[np.int8]:
        """A set of `MultiBinary`."""
        if rng is None:
            return fitted(self._larger(np.where(self.counts > 0, self.means(), -np.inf)), allowed)
        if self._tried < len(self.design):
            return fitted(self.design[self._tried], allowed)
        random = rng.random(self.n_actions) < self.epsilon
        bits = np.where(random, rng.integers(0, 2, self.n_actions, np.int8), self._larger(self.indices()))
        return fitted(bits, allowed)

    def _action(self, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        """An action of `Discrete`."""
        if rng is None:
            known = np.where(self.counts > 0, self.means(), -np.inf)
            return self.order.largest(known.ravel()[self._values].sum(axis=1), allowed)
        untried = (self.averages.counts == 0)[self._values].sum(axis=1)
        if untried[allowed].any():
            return self.order.largest(untried.astype(np.float64), allowed)
        if rng.random() < self.epsilon:
            return int(rng.choice(np.flatnonzero(allowed)))
        return self.order.largest(self.indices().ravel()[self._values].sum(axis=1), allowed)

    def _larger(self, values: NDArray[np.float64]) -> NDArray[np.int8]:
        """For each bit the value with the larger entry, the preferred value of equal ones."""
        zero, one = values[:, 0], values[:, 1]
        return np.where(zero == one, self.preferred, one > zero).astype(np.int8)


def designed(n: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """The sets to try first: ceil(log2 n) random sets, at least one, each followed by its complement.

    Each bit has both values equally often, and no two bits have the same values throughout. Bits with the same values
    would have the same bounds, and would change together in all later decisions.

    Args:
        n: number of bits.
        rng: draws the sets.

    Returns:
        One set in each row, shape `(2 * max(1, ceil(log2 n)), n)`.
    """
    size = max(1, math.ceil(math.log2(n)))
    codes = rng.permutation(2**size)[:n] if size <= 16 else np.arange(n)  # a distinct number for each bit
    sets = (codes[None, :] >> np.arange(size)[:, None]) & 1
    design: NDArray[np.int8] = np.stack([sets, 1 - sets], axis=1).reshape(2 * size, n).astype(np.int8)
    return design
