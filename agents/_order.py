"""A random order of the actions: every one is tried once in it, and it decides between equal ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Order"]


class Order:
    """The actions, shuffled once.

    Args:
        n: how many there are.
        rng: draws the order.

    Attributes:
        actions: the actions in order, shape `(n,)`.

    References:
        Almulla and Gay 2022, Learning How to Search, section 3.4: all actions once in a random order first.
    """

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.actions: NDArray[np.int64] = rng.permutation(n)

    def first(self, mask: NDArray[np.bool_]) -> int | None:
        """The first action for which the mask holds, None if it holds for none."""
        found = self.actions[mask[self.actions]]
        return int(found[0]) if len(found) else None

    def largest(self, values: NDArray[np.float64], allowed: NDArray[np.bool_]) -> int:
        """The allowed action with the largest value, of several the first in the order."""
        candidates = self.actions[allowed[self.actions]]
        return int(candidates[np.argmax(values[candidates])])
