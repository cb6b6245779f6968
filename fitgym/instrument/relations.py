"""Relations: the distances of two ordered values to `a < b`, `a == b` and `a > b`.

One measurement gives the distances to both outcomes of all six comparisons:

    (d_lt, d_eq, d_gt)    least change that would make  a < b,  a == b,  a > b  true

    numbers with g = |a - b|:   a < b: (0, g, g + 1)      a == b: (1, 0, 1)      a > b: (g + 1, g, 0)

The distance to an outcome is the least distance to one of its relations: `TRUE_SLOTS`, `FALSE_SLOTS`.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["FALSE_SLOTS", "FAR", "FURTHEST", "TRUE_SLOTS", "Relations", "finite", "nu", "ordered"]

Relations = tuple[float, float, float]
"""(d_lt, d_eq, d_gt), each at least 0."""

TRUE_SLOTS: dict[str, tuple[int, ...]] = {
    "<": (0,),
    "<=": (0, 1),
    "==": (1,),
    "!=": (0, 2),
    ">": (2,),
    ">=": (1, 2),
}
"""Indexes into (d_lt, d_eq, d_gt) that make the operator true. Their least distance is the distance to true."""

FALSE_SLOTS: dict[str, tuple[int, ...]] = {
    "<": (1, 2),
    "<=": (2,),
    "==": (0, 2),
    "!=": (1,),
    ">": (0, 1),
    ">=": (0,),
}
"""The other indexes. Their least distance is the distance to false."""

FAR = 2.0**31
"""Distance to equality with a value of another kind, including NaN.

It is larger than the distance of any two strings in a search. EvoSuite uses the largest integer for a comparison with
null.
"""

FURTHEST = sys.float_info.max
"""The largest distance, because infinity means "not reached"."""


def nu(distance: float) -> float:
    """Return x / (x + 1), which maps [0, inf) to [0, 1) and keeps the order (Arcuri 2013)."""
    return distance / (distance + 1.0)


def finite(value: Any) -> float:
    """Return the absolute value of a real number as a finite float; `FURTHEST` for NaN and infinity."""
    try:
        number = abs(float(value))
    except (OverflowError, ValueError):
        return FURTHEST
    return number if number <= FURTHEST else FURTHEST


def ordered(sign: int, equality: float, gap: float) -> Relations:
    """Return the relations of two ordered values.

    Args:
        sign: -1 if the first value is smaller, 0 if both are the same, 1 if the first value is larger.
        equality: the distance to equality, above 0; unused if `sign` is 0.
        gap: the difference of the values, at least 0; the opposite order is `gap` + 1 away, at most `FURTHEST`.
    """
    if sign == 0:
        return (1.0, 0.0, 1.0)
    beyond = min(gap + 1.0, FURTHEST)
    return (0.0, equality, beyond) if sign < 0 else (beyond, equality, 0.0)
