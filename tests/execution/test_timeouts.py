"""A test case that begins like a stopped one is not run again."""

from __future__ import annotations

from fitgym.execution.timeouts import Timeouts
from fitgym.instrument.trace import Call, Trace

STOPPED = Trace(failure="fuel", calls=(Call(0, True), Call(1, False)), fuel=5_001)
NEEDS: frozenset[str] = frozenset({"constants"})


def test_a_beginning_that_was_stopped_is_known() -> None:
    timeouts = Timeouts()
    timeouts.note((7, 8, 9), STOPPED, NEEDS)
    assert timeouts.find((7, 8), NEEDS) is timeouts.find((7, 8, 1), NEEDS) is STOPPED
    assert timeouts.find((7,), NEEDS) is timeouts.find((7, 9, 8), NEEDS) is timeouts.find((8,), NEEDS) is None


def test_what_was_recorded_otherwise_is_not_known() -> None:
    timeouts = Timeouts()
    timeouts.note((7, 8), STOPPED, NEEDS)
    assert timeouts.find((7, 8), frozenset()) is None


def test_what_ended_or_was_stopped_between_two_calls_is_not_remembered() -> None:
    timeouts = Timeouts()
    timeouts.note((7, 8), Trace(calls=(Call(0, True), Call(1, False))), NEEDS)
    timeouts.note((7, 8), Trace(failure="fuel", calls=(Call(0, True), Call(1, True))), NEEDS)
    timeouts.note((7, 8), Trace(failure="timeout"), NEEDS)
    assert len(timeouts) == 0


def test_a_limit_that_has_grown_is_tried_again() -> None:
    timeouts = Timeouts()
    timeouts.note((7, 8), STOPPED, NEEDS)
    timeouts.note((5, 6), Trace(failure="memory", calls=(Call(0, False),)), NEEDS)
    timeouts.forget("fuel")
    assert timeouts.find((7, 8), NEEDS) is None
    assert timeouts.find((5, 1), NEEDS) is not None


def test_only_so_many_are_remembered(monkeypatch) -> None:
    monkeypatch.setattr("fitgym.execution.timeouts._MOST", 10)
    timeouts = Timeouts()
    for number in range(100):
        timeouts.note((number, 1), STOPPED, NEEDS)
    assert len(timeouts) <= 10
    assert timeouts.find((99, 1), NEEDS) is STOPPED
    timeouts.forget("fuel")
    assert len(timeouts) == 0 and timeouts.find((99, 1), NEEDS) is None
