"""A random order of the actions, used for the first sweep and to break ties."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Order"]


class Order:
    """The actions, shuffled once.

    Args:
        n: number of actions.
        rng: draws the order.

    Attributes:
        actions: the actions in order, shape `(n,)`.

    References:
        Almulla and Gay 2022, Learning How to Search, section 3.4: all actions once in a random order first.
    """

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.actions: NDArray[np.int64] = rng.permutation(n)

    def first(self, mask: NDArray[np.bool_]) -> int | None:
        """The first action in the order that the mask selects; None if it selects none."""
        found = self.actions[mask[self.actions]]
        return int(found[0]) if len(found) else None

    def largest(self, values: NDArray[np.float64], allowed: NDArray[np.bool_]) -> int:
        """The allowed action with the largest value; the first in the order wins ties."""
        candidates = self.actions[allowed[self.actions]]
        return int(candidates[np.argmax(values[candidates])])
