"""Selection: the choice of parents."""

from __future__ import annotations

import math

from fitgym.chance import Chance

__all__ = ["rank_selection"]


def rank_selection(size: int, rng: Chance, *, bias: float = 1.7) -> int:
    """Return an index in [0, size) of a population sorted best first, drawn with linear ranking.

    With r uniform in [0, 1) the index is

        floor( size * (b - sqrt(b^2 - 4 (b - 1) r)) / (2 (b - 1)) )

    The best individual is expected `b` times as often as under uniform choice, and the worst `2 - b` times.

    Args:
        size: number of individuals, at least 1.
        rng: drawn from once.
        bias: selection pressure b in (1, 2]; 1.7 is EvoSuite's.

    References:
        Whitley 1989, The GENITOR Algorithm and Selection Pressure: the inverse of the linear ranking distribution.
    """
    r = rng.random()
    index = int(size * (bias - math.sqrt(bias * bias - 4.0 * (bias - 1.0) * r)) / (2.0 * (bias - 1.0)))
    return min(index, size - 1)  # rounding can give `size` for r near 1
