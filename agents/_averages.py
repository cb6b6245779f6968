"""Means of rewards by action, of all rewards or of the recent ones."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fitgym.agents._numbers import number
from fitgym.agents._scale import Scale
from fitgym.errors import InputError

__all__ = ["Averages", "forgetting"]


def forgetting(discount: float, window: int) -> tuple[float, int]:
    """The discount and the window of an agent, checked.

    Raises:
        InputError: the discount or the window makes no sense, or both are asked for.
    """
    kept = number(discount)
    if kept is None or not 0 < kept <= 1:
        raise InputError(f"the discount is {discount}, expected a number above 0 and at most 1")
    if not (isinstance(window, int | np.integer) and not isinstance(window, bool) and window >= 0):
        raise InputError(f"the window is {window}, expected a whole number of decisions, 0 for all of them")
    if kept < 1 and window:
        raise InputError(f"discount {discount} and window {window} both forget: use one of them")
    return kept, int(window)


class Averages:
    """How often each action was taken and what it paid, as much of it as is remembered.

    With w(s) the weight of the reward of decision s, of t decisions so far,

        N(a) = sum of w(s) over decisions s for a        Q(a) = (sum of w(s) * R(s) over decisions s for a) / N(a)

        w(s) = 1                           by default
             = discount ^ (t - s)          with a discount below 1
             = 1 if t - s < window else 0  with a window

    A decision may also be for several entries at once, such as all functions of a combination.

    Args:
        n: number of actions.
        discount: in (0, 1]; 1 forgets nothing.
        window: decisions that are remembered; 0 for all.
        normalise: the unit of Q(a), see `Scale`.

    Attributes:
        counts: N(a), shape `(n,)`.
        sums: the numerators of Q(a), not normalised, shape `(n,)`.
        scale: the unit.

    Raises:
        InputError: the discount or the window makes no sense, or both are asked for.

    References:
        Garivier and Moulines 2011, On Upper-Confidence Bound Policies for Switching Bandit Problems: the
        discounted and the windowed averages.
    """

    def __init__(self, n: int, discount: float = 1.0, window: int = 0, *, normalise: str | bool = "none") -> None:
        self.discount, self.window = forgetting(discount, window)
        self.scale = Scale(normalise)
        self.counts: NDArray[np.float64] = np.zeros(n)
        self.sums: NDArray[np.float64] = np.zeros(n)
        self._recent: deque[tuple[NDArray[np.int64], float]] = deque()

    def add(self, action: int | NDArray[np.integer[Any]], reward: float) -> None:
        """Remember what an action paid.

        Args:
            action: the action, or several entries, none of them twice.
            reward: what it paid.

        Raises:
            InputError: the reward is infinite or not a number; nothing is changed.
        """
        counted = self.scale.add(reward)
        if self.discount < 1:
            self.counts *= self.discount
            self.sums *= self.discount
        self.counts[action] += 1
        self.sums[action] += counted
        if self.window:
            self._recent.append((np.asarray(action, np.int64), counted))
            if len(self._recent) > self.window:
                left, _ = self._recent.popleft()
                self.counts[left] -= 1
                # The sum of what is left, not a difference that would carry rounding errors along for ever.
                for entry in left.ravel().tolist():
                    self.sums[entry] = math.fsum(r for entries, r in self._recent if entry in entries.ravel())
        if (cap := self.scale.cap) < math.inf:
            # Also what was remembered before the scale was known.
            np.clip(self.sums, -cap * self.counts, cap * self.counts, out=self.sums)

    def means(self) -> NDArray[np.float64]:
        """Q(a), 0 for actions of which nothing is remembered; shape `(n,)`."""
        known = self.counts > 0
        means = np.zeros(len(self.counts))
        np.divide(self.sums / self.scale.value, self.counts, out=means, where=known)
        return means

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that is remembered."""
        return {
            "counts": self.counts.copy(),
            "sums": self.sums.copy(),
            "recent_actions": np.array([action for action, _ in self._recent], np.int64),
            "recent_rewards": np.array([reward for _, reward in self._recent], np.float64),
            **self.scale.arrays(),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what `arrays` gave."""
        self.counts, self.sums = arrays["counts"].copy(), arrays["sums"].copy()
        self.scale.restore(arrays)
        if "recent_actions" in arrays:
            rewards = arrays["recent_rewards"].tolist()
            self._recent = deque(zip(arrays["recent_actions"].copy(), rewards, strict=True))
