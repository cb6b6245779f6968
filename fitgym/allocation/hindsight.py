"""The best division of a budget in hindsight, which requires the results of all searches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["best_split"]


def best_split(curves: Sequence[Sequence[int]], slices: int) -> tuple[int, ...]:
    """Return the number of slices of each module with which the modules together cover the most branches.

    The result is exact, by dynamic programming over the modules: v_k(b) = max over n of v_(k-1)(b - n) + c_k(n), where
    c_k(n) is the number of branches that module k covers in n slices.

    Args:
        curves: for each module, the branches covered after 0, 1, 2, ... slices; further slices cover nothing more.
        slices: total number of slices, at least 0.

    Returns:
        Numbers of slices in the order of the curves. Slices that cover nothing more are not assigned.
    """
    best = np.zeros(slices + 1, dtype=np.int64)
    chosen = np.zeros((len(curves), slices + 1), dtype=np.int64)
    for row, curve in enumerate(curves):
        tried = np.full((min(slices + 1, len(curve)), slices + 1), -1, dtype=np.int64)
        for n in range(len(tried)):
            tried[n, n:] = best[: slices + 1 - n] + curve[n]
        chosen[row] = tried.argmax(axis=0)  # the smallest of equally good numbers
        best = tried.max(axis=0)
    found, left = [], slices
    for row in reversed(range(len(curves))):
        found.append(int(chosen[row, left]))
        left -= found[-1]
    return tuple(reversed(found))
