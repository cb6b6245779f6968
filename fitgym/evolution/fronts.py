"""Fronts: sort test cases by many targets at once.

All functions take a matrix with a row per test case and a column per target that counts; smaller is better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fitgym.chance import Chance
from fitgym.fitness.base import Floats, Index, Mask

__all__ = ["beaten", "dominance", "epsilon_distance", "fronts", "orders", "preferred", "subvector_distance"]

_MOST_CELLS = 2**21  # compared at once: pairs of test cases, times orders


def preferred(values: Floats, ties: Floats, chance: Chance | None) -> Index:
    """Return the test cases that are best for some target, ascending: by value, then by tie-breaker, then at random.

    The random choice matters for a target that no test case brings nearer. All equally near test cases take turns, so
    that its test case drifts. Without it the first one stays forever.

    Args:
        values: `(n, n_targets)`.
        ties: the secondary objective of the test cases, such as their length, `(n,)`.
        chance: drawn from once for each target with several best test cases; None takes the first.

    References:
        Panichella, Kifetew and Tonella 2015, Reformulating Branch Coverage as a Many-Objective Optimization Problem,
        definition 3: the preference criterion.
    """
    if not values.size:
        return np.zeros(0, dtype=np.intp)
    least = values == values.min(axis=0)
    sizes = np.where(least, ties[:, None], np.inf)
    best = sizes == sizes.min(axis=0)
    chosen = best.argmax(axis=0)
    if chance is not None:
        ways = best.sum(axis=0)
        tied = np.flatnonzero(ways > 1)
        drawn = np.array([int(chance.random() * count) for count in ways[tied].tolist()], dtype=np.intp)
        chosen[tied] = (best[:, tied].cumsum(axis=0) > drawn).argmax(axis=0)
    return np.unique(chosen)


def orders(values: Floats) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the distinct orders in which targets rank the test cases, and the number of targets with each order.

    Most targets do not distinguish the test cases, and targets behind the same decision often give the same order. A
    thousand targets have about fifty distinct orders, so a comparison by orders takes about a twentieth of the time.

    Args:
        values: `(n, n_targets)`.

    Returns:
        ranks: `(n, n_orders)`, equal where the values are equal, smaller where they are smaller.
        counts: `(n_orders,)`; targets that do not distinguish the test cases have no order.
    """
    telling = values[:, (values != values[:1]).any(axis=0)]
    columns, counts = _merged(telling.T, np.ones(telling.shape[1], dtype=np.int64))
    order = columns.argsort(axis=1)
    ascending = np.take_along_axis(columns, order, axis=1)
    steps = np.zeros(columns.shape, dtype=np.int32)
    np.cumsum(ascending[:, 1:] > ascending[:, :-1], axis=1, out=steps[:, 1:])
    ranks = np.empty_like(steps)
    np.put_along_axis(ranks, order, steps, axis=1)
    ranks, counts = _merged(ranks, counts)
    return ranks.T, counts


def _merged(rows: NDArray[Any], counts: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct rows, each with the sum of the counts of its copies."""
    places: dict[bytes, int] = {}
    place = [places.setdefault(row.tobytes(), len(places)) for row in np.ascontiguousarray(rows)]
    merged = np.zeros(len(places), dtype=np.int64)
    np.add.at(merged, place, counts)
    first = np.unique(np.array(place, dtype=np.intp), return_index=True)[1]
    return rows[first], merged


def dominance(values: Floats) -> Mask:
    """Return which test case dominates which, `(n, n)`: nowhere worse and somewhere better."""
    better = beaten(values) > 0
    return better & ~better.T


def fronts(values: Floats, ties: Floats, size: int, chance: Chance | None) -> list[Index]:
    """Return the test cases in fronts, best first; all beyond the `size` best are in the last front.

    The `preferred` test cases come first. If there are fewer than `size`, the others follow by Pareto dominance: first
    those that no other dominates, then those that only these dominate, and so on.

    References:
        Panichella, Kifetew and Tonella 2015, algorithm 2; as in EvoSuite, which does not sort test cases that will not
        survive.
    """
    first = preferred(values, ties, chance)
    rest = np.setdiff1d(np.arange(len(values)), first)
    found = [first] if len(first) else []
    dominates = dominance(values[rest]) if len(first) < size else np.zeros((len(rest), len(rest)), dtype=bool)
    by = dominates.sum(axis=0)
    left = np.ones(len(rest), dtype=bool)
    ranked = len(first)
    while left.any():
        free = left & (by == 0) if ranked < size else left.copy()
        found.append(rest[free])
        ranked += int(free.sum())
        left &= ~free
        by -= dominates[free].sum(axis=0)
    return found


def beaten(values: Floats) -> NDArray[np.int64]:
    """Return for each pair of test cases the number of targets for which the first is better, `(n, n)`."""
    ranks, counts = orders(values)
    weights = counts.astype(np.float32)  # exact: there are fewer than 2**24 targets
    found = np.zeros((len(values), len(values)), dtype=np.float32)
    step = max(1, _MOST_CELLS // max(1, found.size))
    for first in range(0, len(counts), step):
        some = ranks[:, first : first + step]
        found += (some[:, None, :] < some[None, :, :]).astype(np.float32) @ weights[first : first + step]
    return found.astype(np.int64)


def subvector_distance(values: Floats) -> Floats:
    """Return for how many targets each test case beats the one most like it, `(n,)`.

        distance(p) = min over q of #{targets for which p is better than q}

    References:
        Köppen and Yoshida 2007, Substitute Distance Assignments in NSGA-II for Handling Many-Objective Optimization
        Problems: subvector dominance. Panichella, Kifetew and Tonella 2018, Automated Test Case Generation as a
        Many-Objective Optimisation Problem with Dynamic Selection of the Targets, section 3, name it.
    """
    if len(values) < 2:
        return np.zeros(len(values))
    found = beaten(values)
    np.fill_diagonal(found, np.iinfo(np.int64).max)
    least: Floats = found.min(axis=1).astype(np.float64)
    return least


def epsilon_distance(values: Floats) -> Floats:
    """Return for each test case of a front the share of the others that are worse for its best target, `(n,)`.

        distance(p) = max over targets that p is best for of (n - m) / n

    n is the size of the front, and m of its test cases are as good. The distance is 0 for a test case that is best for
    no target. A target does not count if all test cases are equal.

    References:
        Köppen and Yoshida 2007, fast epsilon-dominance assignment; what EvoSuite 1.0.7 uses for DynaMOSA.
    """
    found = np.zeros(len(values))
    if values.size:
        least, most = values.min(axis=0), values.max(axis=0)
        best = (values == least) & (most > least)
        share = (len(values) - best.sum(axis=0)) / len(values)
        np.copyto(found, np.where(best, share, 0.0).max(axis=1))
    return found
