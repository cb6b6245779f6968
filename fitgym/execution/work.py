"""Work: the cost of running test cases, counted in fuel so that it is the same on every machine.

One unit is a call or a loop iteration of the subject, about 0.3 microseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fitgym.messages.effect import Effect, Expectation
from fitgym.testcase.statement import TestCase

__all__ = ["PER_SECOND", "work_of_results", "work_of_trials"]

PER_SECOND = 3_000_000
"""Units per second of running, approximately."""

_ONE = 300  # units for isolating one test case
_TRIED = 700  # units for running a test case on a mutant
_OBSERVED = 2_000  # units for a test case whose results are described
_STOPPED = 2 * PER_SECOND  # units for a test case stopped by the time or memory limit

_BY_LIMIT = ("timeout", "memory", "crash", "exit")
_KILLED_BY_LIMIT = ("clock", "memory", "crash", "exit")


def work_of_results(results: Iterable[Any]) -> int:
    """Return the work units of test cases, from their traces or observations."""
    work = 0
    for result in results:
        if result.failure in _BY_LIMIT:
            work += _STOPPED
        else:
            work += _ONE + getattr(result, "fuel", _OBSERVED)
    return work


def work_of_trials(
    trials: Sequence[tuple[TestCase, int]],
    effects: Sequence[Effect | None],
    expected: Mapping[TestCase, Expectation],
) -> int:
    """Return the approximate work units of trials. The fuel of a mutant is unknown, so the expected fuel is used."""
    work = 0
    for (testcase, _), effect in zip(trials, effects, strict=True):
        if effect is not None:
            work += _STOPPED if effect.killed in _KILLED_BY_LIMIT else _TRIED + expected[testcase].fuel
    return work
