"""Means of rewards by action, of all rewards or of the recent ones."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fitgym.agents._numbers import finite_reward, number
from fitgym.errors import InputError

__all__ = ["Averages"]


class Averages:
    """How often each action was taken and what it paid, as much of it as is remembered.

    With w(s) the weight of the reward of decision s, of t decisions so far,

        N(a) = sum of w(s) over decisions s for a        Q(a) = (sum of w(s) * R(s) over decisions s for a) / N(a)

        w(s) = 1                           by default
             = discount ^ (t - s)          with a discount below 1
             = 1 if t - s < window else 0  with a window

    Args:
        n: number of actions.
        discount: in (0, 1]; 1 forgets nothing.
        window: decisions that are remembered; 0 for all.
        normalise: measure rewards by the largest absolute one ever seen, so that they are in [-1, 1].

    Attributes:
        counts: N(a), shape `(n,)`.
        sums: the numerators of Q(a), not normalised, shape `(n,)`.
        largest: the largest absolute reward ever seen.

    Raises:
        InputError: the discount or the window makes no sense, or both are asked for.

    References:
        Garivier and Moulines 2011, On Upper-Confidence Bound Policies for Switching Bandit Problems: the
        discounted and the windowed averages.
    """

    def __init__(self, n: int, discount: float = 1.0, window: int = 0, *, normalise: bool = False) -> None:
        kept = number(discount)
        if kept is None or not 0 < kept <= 1:
            raise InputError(f"the discount is {discount}, expected a number above 0 and at most 1")
        if not (isinstance(window, int | np.integer) and not isinstance(window, bool) and window >= 0):
            raise InputError(f"the window is {window}, expected a whole number of decisions, 0 for all of them")
        if kept < 1 and window:
            raise InputError(f"discount {discount} and window {window} both forget: use one of them")
        self.discount = kept
        self.window = int(window)
        self.normalise = normalise
        self.counts: NDArray[np.float64] = np.zeros(n)
        self.sums: NDArray[np.float64] = np.zeros(n)
        self.largest = 0.0
        self._recent: deque[tuple[int, float]] = deque()

    def add(self, action: int, reward: float) -> None:
        """Remember what an action paid.

        Raises:
            InputError: the reward is infinite or not a number; nothing is changed.
        """
        finite_reward(reward)
        if self.discount < 1:
            self.counts *= self.discount
            self.sums *= self.discount
        self.counts[action] += 1
        self.sums[action] += reward
        self.largest = max(self.largest, abs(reward))
        if self.window:
            self._recent.append((action, reward))
            if len(self._recent) > self.window:
                forgotten, _ = self._recent.popleft()
                self.counts[forgotten] -= 1
                # The sum of what is left, not a difference that would carry rounding errors along for ever.
                self.sums[forgotten] = math.fsum(r for a, r in self._recent if a == forgotten)

    def means(self) -> NDArray[np.float64]:
        """Q(a), 0 for actions of which nothing is remembered; shape `(n,)`."""
        scale = self.largest if self.normalise and self.largest > 0 else 1.0
        known = self.counts > 0
        means = np.zeros(len(self.counts))
        np.divide(self.sums, self.counts * scale, out=means, where=known)
        return means

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that is remembered."""
        return {
            "counts": self.counts.copy(),
            "sums": self.sums.copy(),
            "largest": np.array(self.largest),
            "recent_actions": np.array([action for action, _ in self._recent], np.int64),
            "recent_rewards": np.array([reward for _, reward in self._recent], np.float64),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what `arrays` gave."""
        self.counts, self.sums = arrays["counts"].copy(), arrays["sums"].copy()
        self.largest = float(arrays["largest"])
        rewards = arrays["recent_rewards"].tolist()
        self._recent = deque(zip(arrays["recent_actions"].tolist(), rewards, strict=True))
