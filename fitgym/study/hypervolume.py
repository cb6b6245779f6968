"""Hypervolume: the part of the space of several goals that a set of outcomes dominates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fitgym.errors import InputError

__all__ = ["hypervolume"]


def hypervolume(points: ArrayLike, reference: ArrayLike) -> float:
    """Return the volume of all points that some outcome dominates and that dominate the reference; more is better.

    The result is exact, by slices along the last goal: fast for a few hundred outcomes and two to five goals.

    Args:
        points: outcomes, such as the summed reward vectors of episodes of `fitgym/MultiGoal-v0`, `(n, n_goals)`.
            Outcomes that do not exceed the reference in every goal add nothing.
        reference: the worst outcome, `(n_goals,)`.

    Raises:
        InputError: the shapes do not match, or a number is not finite.

    References:
        Zitzler and Thiele 1998, Multiobjective optimization using evolutionary algorithms: the size of the space
        covered.
    """
    worst = np.asarray(reference, dtype=np.float64)
    found = np.asarray(points, dtype=np.float64)
    if not found.size:
        return 0.0
    if worst.ndim != 1 or found.ndim != 2 or found.shape[1:] != worst.shape:
        raise InputError(
            f"points have the shape {found.shape} and the reference {worst.shape}; expected (n, n_goals) and (n_goals,)"
        )
    if not (np.isfinite(found).all() and np.isfinite(worst).all()):
        raise InputError("a point or the reference is not finite; expected finite rewards")
    above = found[(found > worst).all(axis=1)] - worst
    return _volume(above)


def _volume(points: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> float:
    """Return the volume of the union of boxes between the origin and the points."""
    if len(points) == 0:
        return 0.0
    if points.shape[1] == 1:
        return float(points.max())
    # Each slice along the last goal is a problem with one goal less.
    ordered = points[np.argsort(-points[:, -1], kind="stable")]
    heights = ordered[:, -1]
    lower = np.append(heights[1:], 0.0)
    return sum(
        float(heights[n] - lower[n]) * _volume(ordered[: n + 1, :-1])
        for n in range(len(ordered))
        if heights[n] > lower[n]
    )
