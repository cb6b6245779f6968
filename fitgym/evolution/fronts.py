"""Fronts: an order of test cases that are measured against many targets at once.

All functions take a matrix with a row for each test case and a column for each target that counts, smaller is better.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fitgym.fitness.base import Floats, Index, Mask
from fitgym.subject.code.patterns import Chance

__all__ = ["beaten", "dominance", "epsilon_distance", "fronts", "orders", "preferred", "subvector_distance"]


def preferred(values: Floats, ties: Floats, chance: Chance | None) -> Index:
    """The test cases that are best for some target, ascending: the least value, then the tie-breaker, then a draw.

    With the draw a target that nothing brings nearer is handed on among all that are as near, so that its test case drifts;
    without it the first one stays for ever.

    Args:
        values: `(n, n_targets)`.
        ties: their secondary objective, such as the length, `(n,)`.
        chance: draws once for each target that several of them are best for; None takes the first.

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
        for target in np.flatnonzero(best.sum(axis=0) > 1).tolist():
            among = np.flatnonzero(best[:, target])
            chosen[target] = among[int(chance.random() * len(among))]
    return np.unique(chosen)


def orders(values: Floats) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The orders in which targets put the test cases, each once, and how many targets put them so.

    To most targets all test cases are alike, and many that stand behind the same decision say the same: of a thousand
    targets there are some fifty orders, and comparing all test cases by these takes as much less.

    Args:
        values: `(n, n_targets)`.

    Returns:
        ranks: `(n, n_orders)`, equal where the values are equal, smaller where they are smaller.
        counts: `(n_orders,)`; targets to which all test cases are alike are in none.
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
    """Rows that are equal as one, with the sum of their counts."""
    places: dict[bytes, int] = {}
    place = [places.setdefault(row.tobytes(), len(places)) for row in np.ascontiguousarray(rows)]
    merged = np.zeros(len(places), dtype=np.int64)
    np.add.at(merged, place, counts)
    first = np.unique(np.array(place, dtype=np.intp), return_index=True)[1]
    return rows[first], merged


def dominance(values: Floats) -> Mask:
    """Which test case dominates which, `(n, n)`: nowhere worse and somewhere better."""
    better = np.zeros((len(values), len(values)), dtype=bool)
    for ahead, beats, _ in _wins(values):
        better[ahead] |= beats
    return better & ~better.T


def fronts(values: Floats, ties: Floats, size: int, chance: Chance | None) -> list[Index]:
    """The test cases in fronts, best first; those beyond the `size` best are together in the last one.

    First come the `preferred` ones. If there are fewer than `size`, the others follow by Pareto dominance: those that no
    other dominates, then those that only these dominate, and so on.

    References:
        Panichella, Kifetew and Tonella 2015, algorithm 2; as in EvoSuite, which does not sort what will not survive.
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
    """For each two test cases the number of targets for which the one is better than the other, `(n, n)`."""
    found = np.zeros((len(values), len(values)), dtype=np.int64)
    for ahead, beats, count in _wins(values):
        found[ahead] += count * beats
    return found


def _wins(values: Floats) -> Iterator[tuple[Index, Mask, int]]:
    """For each order the test cases that are not last in it, whom each of these beats, and its count.

    Most test cases are last: they do not come near to what few do.
    """
    ranks, counts = orders(values)
    for rank, count in zip(ranks.T, counts.tolist(), strict=True):
        ahead = np.flatnonzero(rank < rank.max())
        yield ahead, rank[ahead, None] < rank, count


def subvector_distance(values: Floats) -> Floats:
    """How far each test case of a front stands out, `(n,)`: for how many targets it beats even the one most like it.

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
    """How far each test case of a front stands out, `(n,)`: the share of the others that are worse for its best target.

        distance(p) = max over targets that p is best for of (n - m) / n

    where n is the size of the front and m of them are as good; 0 for one that is best for nothing, and a target for which
    all are equal does not count.

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
