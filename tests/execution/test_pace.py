"""The limits of test cases follow the subject, and depend only on the test cases."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from fitgym.execution.pace import FIRST_S, LEAST_FUEL, LEAST_S, PATIENT, USUAL, Pace
from fitgym.instrument.trace import Call, Failure, Trace
from fitgym.messages.limits import Limits

LIMITS = Limits()


def trace(fuel: int, failure: Failure = "", operation: int = 0) -> Trace:
    return Trace(failure=failure, calls=(Call(operation, not failure),), fuel=fuel)


def after(traces: Iterable[Trace], limits: Limits = LIMITS) -> Pace:
    pace = Pace(limits)
    pace.note(list(traces))
    return pace


def test_the_fuel_is_least_as_long_as_the_subject_needs_little() -> None:
    assert after([trace(10)] * 100).fuel == LEAST_FUEL


def test_the_fuel_is_a_multiple_of_what_nine_in_ten_test_cases_burn() -> None:
    assert after([trace(1000)] * 95 + [trace(2000)] * 5).fuel == USUAL * 1024


def test_the_fuel_never_falls_below_what_a_test_case_that_ended_has_burnt() -> None:
    pace = after([trace(10)] * 100 + [trace(70_000)])
    assert pace.fuel == 70_000
    pace.note([trace(10)] * 1000)
    assert pace.fuel == 70_000


def test_the_fuel_is_the_limit_at_most_for_what_ends_with_it() -> None:
    assert after([trace(90_000)] * 100).fuel == LIMITS.fuel
    assert Pace(Limits(fuel=100)).fuel == 100


def test_test_cases_that_were_stopped_change_no_limit() -> None:
    assert after([trace(5_001, "fuel")] * 100).fuel == LEAST_FUEL


def test_the_first_fourth_and_sixteenth_stop_of_an_operation_get_a_second_attempt() -> None:
    pace = after([trace(10)])
    given = [pace.second_chance(trace(5_001, "fuel")) for _ in range(20)]
    assert [number for number, more in enumerate(given, 1) if more is not None] == [1, 4, 16]
    assert {more.fuel for more in given if more is not None} == {LIMITS.fuel}


def test_an_operation_that_never_ended_gets_more() -> None:
    more = after([trace(10)]).second_chance(trace(5_001, "fuel", operation=1))
    assert more is not None and more.fuel == PATIENT * LIMITS.fuel


def test_a_call_that_returned_before_the_stop_has_ended() -> None:
    pace = after([Trace(failure="fuel", calls=(Call(1, True), Call(0, False)), fuel=5_001)])
    more = pace.second_chance(trace(5_001, "fuel", operation=1))
    assert more is not None and more.fuel == LIMITS.fuel


@pytest.mark.parametrize("failure", ["", "blocked", "timeout", "memory"])
def test_what_no_fuel_has_stopped_gets_no_second_attempt(failure: Failure) -> None:
    assert Pace(LIMITS).second_chance(trace(5_001, failure)) is None


def test_the_clock_follows_the_subject_only_in_a_quick_search() -> None:
    pace = Pace(LIMITS)
    pace.took(0.001, 10)
    assert pace.usual.seconds == LIMITS.seconds
    pace.quick = True
    assert pace.usual.seconds == LEAST_S
    pace.took(0.5, 10)
    assert 20 * 0.05 <= pace.usual.seconds <= LIMITS.seconds
    pace.took(10.0, 10)
    assert pace.usual.seconds == LIMITS.seconds


def test_second_attempts_have_a_share_of_the_time_in_a_quick_search() -> None:
    pace = Pace(LIMITS)
    pace.quick = True
    assert FIRST_S <= pace.usual.seconds < LIMITS.seconds
    more = pace.second_chance(trace(0, "timeout", operation=1))
    assert more is not None and more.seconds < 1.0
    pace.spent(0.5, second=True)
    assert pace.second_chance(trace(0, "timeout", operation=2)) is None
    pace.spent(10.0, second=False)
    assert pace.second_chance(trace(0, "timeout", operation=3)) is not None
