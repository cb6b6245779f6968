"""Mean rewards of actions, over all decisions or over the recent ones."""

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
    """Check the discount and the window of an agent, and return them.

    Raises:
        InputError: one of them is out of range, or both are set.
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
    """Counts and mean rewards of actions, with optional forgetting.

    w(s) is the weight of decision s when t decisions have been made:

        N(a) = sum of w(s) over decisions s for a        Q(a) = (sum of w(s) * R(s) over decisions s for a) / N(a)

        w(s) = 1                           by default
             = discount ^ (t - s)          with a discount below 1
             = 1 if t - s < window else 0  with a window

    One decision may update several entries at once, for example all functions of a combination.

    Args:
        n: number of actions.
        discount: in (0, 1]; 1 forgets nothing.
        window: number of recent decisions that count; 0 for all.
        normalise: the unit of Q(a), see `Scale`.

    Attributes:
        counts: N(a), shape `(n,)`.
        sums: the numerators of Q(a), not normalised, shape `(n,)`.
        scale: the unit.

    Raises:
        InputError: the discount or the window is out of range, or both are set.

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
        """Add the reward of a decision.

        Args:
            action: the action, or several distinct entries.
            reward: of the decision.

        Raises:
            InputError: the reward is infinite or not a number. Nothing changes then.
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
                # Sum the remaining rewards anew: repeated subtraction would accumulate rounding errors.
                for entry in left.ravel().tolist():
                    self.sums[entry] = math.fsum(r for entries, r in self._recent if entry in entries.ravel())
        if (cap := self.scale.cap) < math.inf:
            # Includes rewards from before the scale was known.
            np.clip(self.sums, -cap * self.counts, cap * self.counts, out=self.sums)

    def means(self) -> NDArray[np.float64]:
        """Q(a), shape `(n,)`; 0 for actions without a remembered decision."""
        known = self.counts > 0
        means = np.zeros(len(self.counts))
        np.divide(self.sums / self.scale.value, self.counts, out=means, where=known)
        return means

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The state as arrays, for saving."""
        return {
            "counts": self.counts.copy(),
            "sums": self.sums.copy(),
            "recent_actions": np.array([action for action, _ in self._recent], np.int64),
            "recent_rewards": np.array([reward for _, reward in self._recent], np.float64),
            **self.scale.arrays(),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state from `arrays`."""
        self.counts, self.sums = arrays["counts"].copy(), arrays["sums"].copy()
        self.scale.restore(arrays)
        if "recent_actions" in arrays:
            rewards = arrays["recent_rewards"].tolist()
            self._recent = deque(zip(arrays["recent_actions"].copy(), rewards, strict=True))
