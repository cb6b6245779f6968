"""What begins like a test case that was stopped is not run again."""

from __future__ import annotations

from fitgym.execution.timeouts import Hung
from fitgym.instrument.trace import Call, Trace

STOPPED = Trace(failure="fuel", calls=(Call(0, True), Call(1, False)), fuel=5_001)
NEEDS: frozenset[str] = frozenset({"constants"})


def test_a_beginning_that_was_stopped_is_known() -> None:
    hung = Hung()
    hung.note((7, 8, 9), STOPPED, NEEDS)
    assert hung.find((7, 8), NEEDS) is hung.find((7, 8, 1), NEEDS) is STOPPED
    assert hung.find((7,), NEEDS) is hung.find((7, 9, 8), NEEDS) is hung.find((8,), NEEDS) is None


def test_what_was_recorded_otherwise_is_not_known() -> None:
    hung = Hung()
    hung.note((7, 8), STOPPED, NEEDS)
    assert hung.find((7, 8), frozenset()) is None


def test_what_ended_or_was_stopped_between_two_calls_is_not_remembered() -> None:
    hung = Hung()
    hung.note((7, 8), Trace(calls=(Call(0, True), Call(1, False))), NEEDS)
    hung.note((7, 8), Trace(failure="fuel", calls=(Call(0, True), Call(1, True))), NEEDS)
    hung.note((7, 8), Trace(failure="timeout"), NEEDS)
    assert len(hung) == 0


def test_a_limit_that_has_grown_is_tried_again() -> None:
    hung = Hung()
    hung.note((7, 8), STOPPED, NEEDS)
    hung.note((5, 6), Trace(failure="memory", calls=(Call(0, False),)), NEEDS)
    hung.forget("fuel")
    assert hung.find((7, 8), NEEDS) is None
    assert hung.find((5, 1), NEEDS) is not None


def test_only_so_many_are_remembered(monkeypatch) -> None:
    monkeypatch.setattr("fitgym.execution.timeouts._MOST", 10)
    hung = Hung()
    for number in range(100):
        hung.note((number, 1), STOPPED, NEEDS)
    assert len(hung) <= 10
    assert hung.find((99, 1), NEEDS) is STOPPED
    hung.forget("fuel")
    assert len(hung) == 0 and hung.find((99, 1), NEEDS) is None
