"""Recorded steps of earlier episodes, from which an agent learns without an environment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Data"]


@dataclass(frozen=True, slots=True)
class Data:
    """n recorded steps in an environment with m actions.

    Attributes:
        observations: before each step, `(n, size)`.
        actions: `(n,)`.
        rewards: `(n,)`.
        following: the observation after each step, `(n, size)`.
        terminated: whether the step ended the episode by the rules of the environment, `(n,)`.
        allowed: the actions that were allowed after each step, `(n, m)`.
        intended: the probabilities of the recorded agent before random actions replaced some of its own, `(n, m)`.
    """

    observations: NDArray[np.float32]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    following: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    allowed: NDArray[np.bool_]
    intended: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.actions)

    def drawn(self, n: int, rng: np.random.Generator) -> Data:
        """Return n steps, drawn with replacement."""
        rows = rng.integers(len(self), size=n)
        return Data(*(getattr(self, name)[rows] for name in Data.__slots__))

    def scaled(self) -> Data:
        """Return the same steps with the rewards divided by their standard deviation, unless it is 0."""
        spread = float(self.rewards.std()) or 1.0
        values = {name: getattr(self, name) for name in Data.__slots__}
        return Data(**{**values, "rewards": self.rewards / np.float32(spread)})
