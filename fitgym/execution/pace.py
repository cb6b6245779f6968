"""The pace of a subject: fuel and time limits of its test cases, derived from the test cases that ended."""

from __future__ import annotations

from builtins import id
from collections.abc import Sequence
from typing import NamedTuple

from fitgym.instrument.trace import Trace
from fitgym.messages.limits import Limits

__all__ = ["Allowance", "Pace"]

LEAST_FUEL = 5_000
"""Units of fuel that every test case may burn; they take a few milliseconds."""

USUAL = 8
"""Multiple of the usual fuel, which is the 90th percentile of the fuel of the test cases that ended."""

PATIENT = 20
"""Multiple of `Limits.fuel` for functions that have never ended within it."""

LEAST_S = 0.05
"""Seconds that every test case may take."""

FIRST_S = 0.1
"""Seconds that a test case may take before any batch has been measured."""

USUAL_S = 20.0
"""Multiple of the usual seconds, which is the mean time of a test case in the slowest batch."""

SECOND_SHARE = 0.1
"""Share of the running time for second attempts, in addition to `SECOND_S`; used if `Pace.quick` is set."""

SECOND_S = 0.5

_HIGH = 0.9
_BUCKETS = 64


class Allowance(NamedTuple):
    """Limits of one test case.

    Attributes:
        fuel: calls and loop iterations.
        seconds: wall time, see `Limits.seconds`.
        idle_seconds: seconds of waiting, see `Limits.idle_seconds`.
    """

    fuel: int
    seconds: float
    idle_seconds: float


class Pace:
    """Adapts the fuel and time limits of the test cases of a search.

    The fuel limit is a function of the traces passed to `note`, so two runs with the same test cases have the same
    limits. It never falls below the fuel of a test case that ended: a test case that ended once ends again. The time
    limit adapts only if `quick` is set, for searches that have a time budget anyway.

    Args:
        limits: upper bounds of all limits.

    Attributes:
        quick: the time limit adapts too.
        fuel: the current fuel limit of a test case.
    """

    def __init__(self, limits: Limits) -> None:
        self.quick = False
        self.fuel = min(LEAST_FUEL, limits.fuel)
        self._limits = limits
        self._most = 0
        self._times = [0] * _BUCKETS  # histogram: number of test cases by the bit length of their fuel
        self._ended: set[int] = set()  # operations that ended
        self._stops: dict[int, int] = {}  # number of stops by operation
        self._slowest_s = 0.0
        self._least_s = FIRST_S
        self._run_s = 0.0
        self._second_s = 0.0

    @property
    def usual(self) -> Allowance:
        """Limits of a new test case."""
        limits = self._limits
        if not self.quick:
            return Allowance(self.fuel, limits.seconds, limits.idle_seconds)
        wanted, seconds = max(self._least_s, USUAL_S * self._slowest_s), LEAST_S
        while seconds < min(wanted, limits.seconds):  # few different values, because the worker sets its timer for each
            seconds *= 2
        seconds = min(limits.seconds, seconds)
        return Allowance(self.fuel, seconds, min(limits.idle_seconds, max(LEAST_S, seconds / 4)))

    @property
    def most(self) -> Allowance:
        """Limits of a test case that is known to end."""
        limits = self._limits
        fuel = limits.fuel if 2 * self._most <= limits.fuel else PATIENT * limits.fuel
        return Allowance(fuel, limits.seconds, limits.idle_seconds)

    @property
    def again(self) -> Allowance:
        """Limits of a test case that has run before."""
        return self.most._replace(fuel=self.fuel)

    @property
    def trial(self) -> Allowance:
        """Limits of a test case on a mutant."""
        fuel, seconds, idle_seconds = self.most
        return Allowance(fuel, min(seconds, self.usual.seconds), idle_seconds)

    def took(self, seconds: float, testcases: int) -> None:
        """Record the time of a batch in which no test case was stopped."""
        self._slowest_s = max(self._slowest_s, seconds / testcases)
        self._least_s = max(LEAST_S, min(self._least_s, USUAL_S * self._slowest_s))

    def note(self, traces: Sequence[Trace]) -> bool:
        """Update the fuel limit from the traces of test cases. Returns True if the limit has grown."""
        times = self._times
        for trace in traces:
            if not trace.failure:
                times[min(trace.fuel, 1 << 60).bit_length()] += 1
                if trace.fuel > self._most:
                    self._most = trace.fuel
        for trace in {id(trace): trace for trace in traces}.values():
            if not trace.failure:  # it returned or raised
                self._ended.update([call.operation for call in trace.calls])
            else:
                self._ended.update([call.operation for call in trace.calls if call.returned])
        before = self.fuel
        usual = min(self._limits.fuel, USUAL * self._usual_fuel())
        self.fuel = max(before, usual, self._most)
        return self.fuel > before

    def second_chance(self, trace: Trace) -> Allowance | None:
        """Return the limits for a second attempt of a stopped test case, None if it gets none.

        The first, fourth, sixteenth... stop of each operation gets a second attempt. Its fuel is `Limits.fuel`, or 20
        times as much if the operation has never ended.
        """
        operation = trace.calls[-1].operation if trace.calls else -1
        limits, is_new = self._limits, operation not in self._ended
        share_s = self._chances_s() if self.quick else limits.seconds
        by_fuel = trace.failure == "fuel" and trace.fuel > self.fuel
        by_clock = trace.failure == "timeout" and self.usual.seconds < limits.seconds
        if not (by_fuel or by_clock):
            return None
        stops = self._stops[operation] = self._stops.get(operation, 0) + 1
        if stops & (stops - 1) or not stops.bit_length() % 2 or share_s < 2 * LEAST_S:
            return None
        fuel = PATIENT * limits.fuel if is_new and stops != 4 else limits.fuel
        if by_clock:
            usual = self.usual.seconds
            seconds = min(share_s, limits.seconds if is_new else 4 * usual)
            if seconds <= usual or not (is_new or stops == 1):
                return None
            return Allowance(max(self.fuel, fuel), seconds, limits.idle_seconds)
        return Allowance(fuel, min(share_s, limits.seconds), limits.idle_seconds) if fuel > self.fuel else None

    def spent(self, seconds: float, *, second: bool) -> None:
        """Record the seconds spent on running test cases, or on a `second` attempt."""
        self._run_s += seconds
        self._second_s += seconds * second

    def _chances_s(self) -> float:
        """Return the seconds that second attempts may still take."""
        return SECOND_S + SECOND_SHARE * self._run_s - self._second_s

    def ended_late(self, seconds: float) -> None:
        """Record that a timed-out test case ended in its second attempt after `seconds`."""
        self._least_s = min(self._limits.seconds, max(self._least_s, 4 * seconds))

    def _usual_fuel(self) -> int:
        """Return the 90th percentile of the fuel of test cases that ended, rounded up to a power of two."""
        left = (1.0 - _HIGH) * sum(self._times)
        for bits in range(_BUCKETS - 1, -1, -1):
            left -= self._times[bits]
            if left < 0:
                return 1 << bits
        return 0
