"""The seal of a batch holds exactly as long as the recorded data is unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.worker.chain import OPEN, Seal, holds, sealed


def batch(numbers: list[tuple[int, int]]) -> tuple[Seal, list[Any], list[Any]]:
    """A sealed batch: a result and how many new traces for each test case."""
    seal, results, fresh = OPEN, list[Any](), list[Any]()
    for result, n_new in numbers:
        results.append((result,))
        fresh += [(len(fresh) + n, "trace") for n in range(n_new)]
        seal = sealed(seal, results, fresh)
    return seal, results, fresh


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=20))
def test_it_holds_if_nothing_has_changed(numbers: list[tuple[int, int]]) -> None:
    assert holds(*batch(numbers))


@pytest.mark.parametrize(
    "change",
    [
        lambda results, fresh: results.clear(),
        lambda results, fresh: fresh.clear(),
        lambda results, fresh: results.pop(),
        lambda results, fresh: results.insert(0, (9,)),
        lambda results, fresh: results.reverse(),
        lambda results, fresh: results.__setitem__(1, (9,)),
        lambda results, fresh: fresh.append("trace"),
        lambda results, fresh: fresh.pop(0),
        lambda results, fresh: fresh.__setitem__(2, "trace"),
        lambda results, fresh: fresh.reverse(),
    ],
)
def test_any_change_is_noticed(change: Callable[[list[Any], list[Any]], Any]) -> None:
    seal, results, fresh = batch([(0, 1), (1, 0), (2, 2), (1, 0)])
    change(results, fresh)
    assert not holds(seal, results, fresh)
