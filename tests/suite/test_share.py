"""Finishing has a share of the run, counted in work if the suite must not depend on the clock."""

from __future__ import annotations

import math
import time

import pytest

from fitgym.errors import OutOfBudget
from fitgym.suite.allotment import Allotment
from fitgym.suite.share import FLOOR_S, MOST_S, Share


class Working:
    """Stands for an engine: it has worked."""

    work = 0


def test_finishing_does_as_much_work_as_the_search_and_has_three_times_its_time() -> None:
    share = Share.of_search(100.0, 10**9, 0.5)
    assert 299.0 < share.deadline.rest <= 300.0
    assert 0.0 < share.deadline.left < share.deadline.rest - 4.0
    assert share.units == 10**9


@pytest.mark.parametrize("seconds", [0.0, 1.0, 9.0])
def test_finishing_after_a_short_search_has_the_least_time(seconds: float) -> None:
    share = Share.of_search(seconds, 10, 1.0)
    assert 3 * (FLOOR_S + 7.9) < share.deadline.rest <= 3 * (FLOOR_S + 8.0)
    assert share.units > 10**6


def test_finishing_never_takes_more_than_its_limit() -> None:
    assert Share.of_search(10_000.0, 10**12, 1.0).deadline.rest <= MOST_S


def test_a_budget_in_seconds_is_ended_by_the_clock() -> None:
    share = Share.until(time.monotonic() + 100.0, 0.5)
    assert 99.0 < share.deadline.rest <= 100.0 and share.deadline.soft == share.deadline.hard
    assert math.isinf(share.units)
    assert Share.until(time.monotonic() - 5.0, 0.5).deadline.rest > FLOOR_S


def test_an_allotment_that_is_spent_refuses_more() -> None:
    engine = Working()
    allotment = Allotment(engine, 100)  # type: ignore[arg-type]
    for _ in range(2):
        with allotment.spend():
            engine.work += 60
    assert allotment.spent == 120 and not allotment.empty
    with pytest.raises(OutOfBudget), allotment.spend():
        raise AssertionError("not entered")
    assert allotment.empty


def test_without_an_end_an_allotment_is_never_empty() -> None:
    engine = Working()
    allotment = Allotment(engine)  # type: ignore[arg-type]
    with allotment.spend():
        engine.work += 10**12
    with allotment.spend():
        pass
    assert not allotment.counted and not allotment.empty
