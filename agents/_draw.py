"""Weighted draws: the results of numpy's `choice` without its checks, which take most of the time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["draw"]


def draw(weights: NDArray[np.float64], rng: np.random.Generator) -> int:
    """Draw an index with probability proportional to its weight. Uses one number of the generator.

    The result equals `rng.choice(n, p=weights / weights.sum())`.

    Args:
        weights: finite, at least 0, not all 0; shape `(n,)`.
        rng: the generator.
    """
    steps = weights.cumsum()
    return int((steps / steps[-1]).searchsorted(rng.random(), side="right"))
