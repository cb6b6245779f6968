"""Fronts: the preference criterion, Pareto dominance, and the distance between test cases of a front."""

from __future__ import annotations

import collections
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.evolution.fronts import beaten, dominance, epsilon_distance, fronts, orders, preferred, subvector_distance


def matrix(*rows: tuple[float, ...]) -> np.ndarray:
    return np.array(rows, dtype=float)


MATRICES = st.integers(1, 12).flatmap(
    lambda n: st.integers(1, 6).flatmap(
        lambda m: st.lists(st.lists(st.integers(0, 3), min_size=m, max_size=m), min_size=n, max_size=n)
    )
)


def test_preferred_is_the_nearest_then_the_shortest() -> None:
    values = matrix((0.2, 0.9), (0.1, 0.9), (0.1, 0.5), (0.3, 0.5))
    #                 1 and 2 are nearest to the first target, 2 and 3 to the second; the shorter of each is taken
    assert preferred(values, np.array([1, 4, 5, 2]), random.Random(0)).tolist() == [1, 3]


def test_a_tie_is_drawn() -> None:
    values = matrix((0.5,), (0.5,), (0.7,))
    drawn = {tuple(preferred(values, np.array([2, 2, 1]), random.Random(seed)).tolist()) for seed in range(20)}
    assert drawn == {(0,), (1,)}
    assert preferred(values, np.array([2, 2, 1]), None).tolist() == [0]


def test_without_targets_nobody_is_preferred_and_all_are_in_one_front() -> None:
    values = np.zeros((3, 0))
    assert preferred(values, np.ones(3, int), random.Random(0)).tolist() == []
    assert [front.tolist() for front in fronts(values, np.ones(3, int), 3, random.Random(0))] == [[0, 1, 2]]
    assert subvector_distance(values).tolist() == epsilon_distance(values).tolist() == [0, 0, 0]


def test_dominance_is_nowhere_worse_and_somewhere_better() -> None:
    values = matrix((1, 1), (1, 2), (2, 1), (1, 1))
    expected = [[0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 0]]
    assert dominance(values).astype(int).tolist() == expected


def test_fronts_by_hand() -> None:
    values = matrix((0, 9), (9, 0), (1, 5), (5, 1), (2, 6), (9, 9))
    found = [front.tolist() for front in fronts(values, np.ones(6, int), 6, random.Random(0))]
    assert found == [[0, 1], [2, 3], [4], [5]]
    # With room for four nobody asks how the last two stand to each other.
    assert [f.tolist() for f in fronts(values, np.ones(6, int), 4, random.Random(0))] == [[0, 1], [2, 3], [4, 5]]
    assert [f.tolist() for f in fronts(values, np.ones(6, int), 2, random.Random(0))] == [[0, 1], [2, 3, 4, 5]]


@given(MATRICES, st.integers(1, 12), st.integers(0, 5))
def test_fronts_hold_everybody_once_and_nobody_is_dominated_from_behind(
    rows: list[list[int]], size: int, seed: int
) -> None:
    values = np.array(rows, dtype=float)
    found = fronts(values, np.arange(len(values)), size, random.Random(seed))
    assert sorted(np.concatenate(found).tolist()) == list(range(len(values)))
    first, later = found[0], found[1:]
    for target in range(values.shape[1]):
        assert values[first, target].min() == values[:, target].min()
    dominates = dominance(values)
    ranked = len(first)
    for position, front in enumerate(later):
        if ranked >= size:  # what does not survive is not sorted
            assert position == len(later) - 1
            break
        ranked += len(front)
        assert not dominates[np.ix_(front, front)].any()
        for behind in later[position + 1 :]:
            assert not dominates[np.ix_(behind, front)].any()


@given(MATRICES)
def test_distances_are_what_their_definitions_say(rows: list[list[int]]) -> None:
    values = np.array(rows, dtype=float)
    n, m = values.shape
    for p in range(n):
        wins = [sum(values[p, t] < values[q, t] for t in range(m)) for q in range(n) if q != p]
        assert subvector_distance(values)[p] == min(wins, default=0)
        assert beaten(values)[p].tolist() == [sum(values[p, t] < values[q, t] for t in range(m)) for q in range(n)]
        shares = [
            (n - int((values[:, t] == values[p, t]).sum())) / n
            for t in range(m)
            if values[p, t] == values[:, t].min() < values[:, t].max()
        ]
        assert epsilon_distance(values)[p] == pytest.approx(max(shares, default=0.0))


@given(MATRICES)
def test_orders_are_those_of_the_targets_that_tell_test_cases_apart_each_once(rows: list[list[int]]) -> None:
    values = np.array(rows, dtype=float)
    ranks, counts = orders(values)
    telling = [column for column in values.T if len(set(column)) > 1]
    asked = collections.Counter(tuple(sorted(set(column)).index(v) for v in column) for column in telling)
    assert {tuple(rank): count for rank, count in zip(ranks.T.tolist(), counts.tolist(), strict=True)} == asked


def test_targets_with_other_distances_and_the_same_order_count_together() -> None:
    values = matrix((0.1, 2.0, 7.0, 0.5, 9.0), (0.3, 5.0, 7.0, 0.4, 9.5), (0.3, 5.0, 7.0, 0.4, 9.7))
    ranks, counts = orders(values)  # the third target tells nothing
    assert ranks.T.tolist() == [[0, 1, 1], [1, 0, 0], [0, 1, 2]]
    assert counts.tolist() == [2, 1, 1]


@pytest.mark.parametrize("targets", [2, 2000])
def test_comparing_by_orders_is_comparing_by_targets(targets: int) -> None:
    values = np.random.default_rng(0).integers(0, 3, (90, targets)).astype(float)
    wins = (values[:, None, :] < values).sum(axis=2)
    assert (beaten(values) == wins).all()
    assert (dominance(values) == ((wins > 0) & (wins.T == 0))).all()
