"""Ranges: gathers segments of different lengths from flat arrays without a Python loop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["ranges"]

Index = NDArray[np.intp]


def ranges(first: Index, lengths: Index) -> tuple[Index, Index]:
    """Return the numbers first[i], first[i] + 1, ..., `lengths[i]` of them, for each i in turn.

    Returns:
        For each number its i, and the number itself.
    """
    owners = np.repeat(np.arange(len(lengths)), lengths)
    begin = np.cumsum(lengths) - lengths
    return owners, np.arange(len(owners)) + (first - begin)[owners]
