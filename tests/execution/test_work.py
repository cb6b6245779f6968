"""Work counts the cost of running, equally on every machine."""

from __future__ import annotations

from fitgym.execution.work import PER_SECOND, work_of_results, work_of_trials
from fitgym.instrument.trace import Trace
from fitgym.messages.effect import Effect, Expectation


def test_more_fuel_is_more_work() -> None:
    assert work_of_results([Trace(fuel=5_000)]) - work_of_results([Trace(fuel=1_000)]) == 4_000
    assert work_of_results([]) == 0


def test_a_test_case_that_the_clock_stopped_counts_for_seconds() -> None:
    assert (
        work_of_results([Trace(failure="timeout")]) > PER_SECOND > work_of_results([Trace(failure="fuel", fuel=5_000)])
    )


def test_trials_count_what_the_test_case_burns() -> None:
    expected = {(1,): Expectation((), fuel=7), (2,): Expectation((), fuel=900)}
    small, large, clock, none = Effect("value"), Effect(""), Effect("clock"), None
    assert work_of_trials([((1,), 0)], [small], expected) < work_of_trials([((2,), 0)], [large], expected)
    assert work_of_trials([((1,), 0)], [clock], expected) > PER_SECOND
    assert work_of_trials([((1,), 0)], [none], expected) == 0
