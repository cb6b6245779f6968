"""A draw by weight: the numbers of numpy's `choice`, without the checks that take most of its time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["draw"]


def draw(weights: NDArray[np.float64], rng: np.random.Generator) -> int:
    """An index, with a probability in proportion to its weight; one number is taken from the generator.

    Args:
        weights: finite, at least 0, not all 0; shape `(n,)`.
        rng: as of `rng.choice(n, p=weights / weights.sum())`, which draws the same.
    """
    steps = weights.cumsum()
    return int((steps / steps[-1]).searchsorted(rng.random(), side="right"))
