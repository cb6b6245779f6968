"""Factored UCB: one upper confidence bound for each value of each bit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import MultiBinary, Space
from numpy.typing import NDArray

from fitgym.agents._numbers import finite_reward, non_negative, positive, probability
from fitgym.agents._space import fitted
from fitgym.agents.base import Agent
from fitgym.agents.transition import Transition
from fitgym.errors import InputError

__all__ = ["FactoredUCB"]


class FactoredUCB(Agent):
    """A combinatorial bandit for `MultiBinary`: it rates the two values of each bit instead of all 2^n sets.

    The first decisions try sets of bits and their complements, see `designed`. After that bit i takes the value

        v_i = argmax over v in {0, 1} of  Q(i, v) + c * sqrt(ln t / N(i, v)),     t = sum over v of N(i, v)

    and with probability epsilon a random value instead. N(i, v) is the number of decisions in which bit i had value v. Q(i, v) is the mean reward of these decisions. A value
    without decisions has an infinite bound. Each bit has a preferred value that decides ties, drawn when the agent is
    made. The deterministic choice leaves the bonus out. Observations are ignored.

    Random values separate the bits. Without them two bits that change together keep the same means, and a bit that costs
    can hide behind a bit that pays.

    The rule fits rewards that are nearly a sum over bits. It cannot learn that two bits pay only together.

    Args:
        action_space, action_names, seed: as for every agent.
        c: weight of the bonus, at least 0. The source has sqrt(3 / 2) = 1.22. The default is smaller, because a single
            bit decides only a part of the reward.
        epsilon: probability of a random value, for each bit, in [0, 1].
        normalise: divide rewards by the largest absolute reward so far, so that c fits rewards of any size.
        discount: in (0, 1]; the reward of s decisions ago weighs discount^s. 1 forgets nothing.

    Raises:
        InputError: c is negative, epsilon is not in [0, 1], or the discount is not in (0, 1].

    References:
        Chen, Wang and Yuan 2013, Combinatorial Multi-Armed Bandit: General Framework and Applications, algorithm 1
        (CUCB): an upper confidence bound for each base arm, and the best set for these bounds.

    Differs from CUCB: the rule has random values. The source observes an outcome of each base arm. Here all bits share the reward of the decision,
    so the other bits are noise in Q(i, v). The base arms are the 2n pairs (bit, value), so the best set takes the better
    value of each bit.
    """

    spaces: ClassVar[tuple[type[Space[Any]], ...]] = (MultiBinary,)
    learns: ClassVar[bool] = True

    def __init__(
        self,
        action_space: Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        c: float = 0.3,
        epsilon: float = 0.1,
        normalise: bool = True,
        discount: float = 1.0,
    ) -> None:
        super().__init__(action_space, action_names, seed)
        self.c = non_negative(c, "the weight c of the bonus")
        self.epsilon = probability(epsilon, "epsilon")
        self.normalise = normalise
        self.discount = positive(discount, "the discount")
        if self.discount > 1:
            raise InputError(f"the discount is {discount}, expected a number above 0 and at most 1")
        self.design = designed(self.n_actions, self.rng)
        self.preferred: NDArray[np.int8] = self.rng.integers(0, 2, self.n_actions, np.int8)
        self.counts: NDArray[np.float64] = np.zeros((self.n_actions, 2))
        self.sums: NDArray[np.float64] = np.zeros((self.n_actions, 2))
        self.largest = 0.0
        self._tried = 0

    def means(self) -> NDArray[np.float64]:
        """Q(i, v), 0 for a value without decisions; shape `(n_actions, 2)`."""
        scale = self.largest if self.normalise and self.largest > 0 else 1.0
        means = np.zeros_like(self.sums)
        np.divide(self.sums / scale, self.counts, out=means, where=self.counts > 0)
        return means

    def indices(self) -> NDArray[np.float64]:
        """The upper confidence bounds, infinite for a value without decisions; shape `(n_actions, 2)`."""
        # A discount can bring t below 1, where the logarithm is negative.
        logarithms = np.log(np.maximum(self.counts.sum(axis=1, keepdims=True), 1.0))
        bounds = np.full_like(self.counts, np.inf)
        bonus = np.zeros_like(self.counts)
        tried = self.counts > 0
        np.divide(np.broadcast_to(logarithms, bonus.shape), self.counts, out=bonus, where=tried)
        np.add(self.means(), self.c * np.sqrt(bonus), out=bounds, where=tried)
        return bounds

    def act(self, observation: Any, info: Mapping[str, Any]) -> NDArray[np.int8]:
        """The next designed set, or the value with the larger bound for each bit."""
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> NDArray[np.int8]:
        """The action of `act`; without `rng` the value with the larger mean for each bit."""
        if rng is None:
            return fitted(self._larger(np.where(self.counts > 0, self.means(), -np.inf)), allowed)
        if self._tried < len(self.design):
            return fitted(self.design[self._tried], allowed)
        random = rng.random(self.n_actions) < self.epsilon
        bits = np.where(random, rng.integers(0, 2, self.n_actions, np.int8), self._larger(self.indices()))
        return fitted(bits, allowed)

    def update(self, transition: Transition) -> None:
        """Add the reward to the value that each bit had."""
        reward = finite_reward(transition.reward)
        had = np.arange(self.n_actions), np.asarray(transition.action, np.intp)
        if self.discount < 1:
            self.counts *= self.discount
            self.sums *= self.discount
        self.counts[had] += 1
        self.sums[had] += reward
        self.largest = max(self.largest, abs(reward))
        self._tried = min(self._tried + 1, len(self.design))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The designed sets, the number of them that were tried, the preferred values, and what the values paid."""
        return {
            "design": self.design.copy(),
            "tried": np.array(self._tried),
            "preferred": self.preferred.copy(),
            "counts": self.counts.copy(),
            "sums": self.sums.copy(),
            "largest": np.array(self.largest),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what `arrays` gave."""
        self.design, self.preferred = arrays["design"].copy(), arrays["preferred"].copy()
        self.counts, self.sums = arrays["counts"].copy(), arrays["sums"].copy()
        self._tried, self.largest = int(arrays["tried"]), float(arrays["largest"])

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
