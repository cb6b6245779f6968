"""The scale of rewards for a bandit, estimated from the rewards."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fitgym.agents._numbers import finite_reward
from fitgym.errors import InputError

__all__ = ["Scale"]

_MEMORY = 50
"""Number of rewards in the running means."""

_FIRST = 10
"""Number of non-zero rewards before clipping starts; fewer give a poor estimate of a typical reward."""

_CAP = 5.0
"""The largest absolute reward that counts, in units of a typical reward."""

_EQUAL = 1e-6
"""Rewards count as equal, up to rounding, if they deviate by less than this share of a typical one."""

_WORDS = {True: "largest", False: "none", "true": "largest", "false": "none"}
"""The names of the arrays in earlier versions."""


class Scale:
    """A running scale of rewards. An agent that divides by it takes the same actions in any unit of the rewards.

    With `running`, a is the mean of the absolute non-zero rewards, and mu and sigma are the mean and the standard
    deviation of all rewards. A reward R is clipped to R' and updates them:

        R'      = clip(R, -5 a, 5 a)                     not before 10 rewards were not 0
        a       = a + max(1/k, 1/50) (|R'| - a)          only if R is not 0; k counts the rewards that are not 0
        sigma^2 = (1 - p) (sigma^2 + p (R' - mu)^2)      p = max(1/t, 1/50); t counts all rewards
        mu      = mu + p (R' - mu)

    These are plain means over the first 50 rewards and exponentially weighted means afterwards. The scale is sigma. While
    all rewards are equal, the scale is a; while all are 0, it is 1.

    With `largest`, the scale is the largest absolute reward so far. With `none`, it is 1. Neither clips rewards.

    Args:
        normalise: `running`, `largest` or `none`. True stands for `largest`, and False for `none`.

    Attributes:
        normalise: one of the three words.
        largest: the largest absolute reward so far.

    Raises:
        InputError: `normalise` has another value.
    """

    def __init__(self, normalise: str | bool) -> None:
        word = _WORDS.get(normalise, normalise) if isinstance(normalise, str | bool | np.bool_) else normalise
        if word not in ("running", "largest", "none"):
            raise InputError(f"normalise is {normalise}, expected running, largest or none")
        self.normalise = str(word)
        self.largest = 0.0
        self._typical = 0.0  # a
        self._mean = 0.0  # mu
        self._deviation = 0.0  # sigma
        self._seen = 0  # t
        self._paid = 0  # k

    def add(self, reward: float) -> float:
        """Update the scale with a reward.

        Returns:
            The reward, clipped with `running`.

        Raises:
            InputError: the reward is infinite or not a number. Nothing changes then.
        """
        finite_reward(reward)
        self.largest = max(self.largest, abs(reward))
        if self.normalise != "running":
            return reward
        reward = max(-self.cap, min(self.cap, reward))
        self._seen += 1
        if reward != 0:
            self._paid += 1
            self._typical += max(1 / self._paid, 1 / _MEMORY) * (abs(reward) - self._typical)
        share = max(1 / self._seen, 1 / _MEMORY)
        away = reward - self._mean
        self._mean += share * away
        self._deviation = math.sqrt(1 - share) * math.hypot(self._deviation, math.sqrt(share) * away)
        return reward

    @property
    def cap(self) -> float:
        """The bound of the clipping; infinite with `largest`, with `none`, and before clipping starts."""
        return math.inf if self._paid < _FIRST else _CAP * self._typical

    @property
    def value(self) -> float:
        """The scale, above 0."""
        if self.normalise == "none":
            return 1.0
        if self.normalise == "largest":
            return self.largest or 1.0
        return self._deviation if self._deviation > _EQUAL * self._typical else self._typical or 1.0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The state as arrays, for saving."""
        running = [self._typical, self._mean, self._deviation, self._seen, self._paid]
        return {"largest": np.array(self.largest), "running": np.array(running, np.float64)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state from `arrays`. Agents of earlier versions have no running scale."""
        self.largest = float(arrays["largest"])
        if "running" in arrays:
            self._typical, self._mean, self._deviation = map(float, arrays["running"][:3])
            self._seen, self._paid = map(int, arrays["running"][3:])
