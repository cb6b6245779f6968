"""Fewer and fewer test cases run on a mutant that survives many of them."""

from __future__ import annotations

import numpy as np
import pytest

from fitgym.engine.survivors import EVERY, Survivors


def _trials(survivors: Survivors, n_testcases: int) -> int:
    return int(survivors.due(np.ones((n_testcases, 1), dtype=bool)).sum())


@pytest.mark.parametrize(("infections", "trials"), [(1, 1), (EVERY, EVERY), (100, 90), (1000, 228)])
def test_of_many_infections_few_are_tried(infections: int, trials: int) -> None:
    assert _trials(Survivors(), infections) == trials


def test_batches_make_no_difference() -> None:
    survivors = Survivors()
    assert sum(_trials(survivors, size) for size in (7, 50, 143, 300, 500)) == _trials(Survivors(), 1000)


def test_a_mutant_that_is_not_infected_is_not_due_and_loses_nothing() -> None:
    survivors = Survivors()
    infected = np.ones((1000, 2), dtype=bool)
    infected[:, 1] = False
    assert not survivors.due(infected)[:, 1].any()
    assert survivors.due(np.ones((EVERY, 2), dtype=bool))[:, 1].all()


def test_no_test_case_is_no_trial() -> None:
    assert Survivors().due(np.zeros((0, 3), dtype=bool)).shape == (0, 3)
