"""The pace of a subject: how much fuel and time its test cases may take, by what those that ended have taken."""

from __future__ import annotations

from builtins import id
from collections.abc import Sequence
from typing import NamedTuple

from fitgym.instrument.trace import Trace
from fitgym.messages.limits import Limits

__all__ = ["Allowance", "Pace"]

LEAST_FUEL = 5_000
"""Units of fuel that any test case may burn, some milliseconds."""

USUAL = 8
"""Multiple of the usual fuel: of what nine in ten test cases that ended have burnt at most."""

PATIENT = 20
"""Multiple of `Limits.fuel` for functions that never ended with less."""

LEAST_S = 0.05
"""Seconds that any test case may take."""

FIRST_S = 0.1
"""Seconds that a test case may take as long as nothing is known of the subject."""

USUAL_S = 20.0
"""Multiple of the usual seconds: of what a test case took in the slowest batch that ended."""

SECOND_SHARE = 0.1
"""Share of the time for test cases that second attempts may take, beside `SECOND_S`, if the time follows the subject."""

SECOND_S = 0.5

_HIGH = 0.9
_BUCKETS = 64


class Allowance(NamedTuple):
    """What one test case may use.

    Attributes:
        fuel: calls and rounds of loops.
        seconds: wall time, see `Limits.seconds`.
        idle_seconds: of waiting, see `Limits.idle_seconds`.
    """

    fuel: int
    seconds: float
    idle_seconds: float


class Pace:
    """How much fuel and time the test cases of a search may take.

    The fuel is a function of the traces that `note` was told, so two runs with the same test cases have the same limits.
    It never falls below what a test case that ended has burnt: whatever ended once ends again.

    The time follows the subject only if `quick` is set, for searches that the clock ends anyway.

    Args:
        limits: the most that a test case may use.

    Attributes:
        quick: the time follows the subject too.
        fuel: what a test case may burn now.
    """

    def __init__(self, limits: Limits) -> None:
        self.quick = False
        self.fuel = min(LEAST_FUEL, limits.fuel)
        self._limits = limits
        self._most = 0
        self._times = [0] * _BUCKETS  # how many test cases burnt fuel of so many bits
        self._ended: set[int] = set()  # operations
        self._stops: dict[int, int] = {}  # of operations
        self._slowest_s = 0.0
        self._least_s = FIRST_S
        self._run_s = 0.0
        self._second_s = 0.0

    @property
    def usual(self) -> Allowance:
        """What a new test case may use."""
        limits = self._limits
        if not self.quick:
            return Allowance(self.fuel, limits.seconds, limits.idle_seconds)
        wanted, seconds = max(self._least_s, USUAL_S * self._slowest_s), LEAST_S
        while seconds < min(wanted, limits.seconds):  # few different values: the worker sets its timer for each
            seconds *= 2
        seconds = min(limits.seconds, seconds)
        return Allowance(self.fuel, seconds, min(limits.idle_seconds, max(LEAST_S, seconds / 4)))

    @property
    def most(self) -> Allowance:
        """What a test case may use of which it is known that it ends."""
        limits = self._limits
        fuel = limits.fuel if 2 * self._most <= limits.fuel else PATIENT * limits.fuel
        return Allowance(fuel, limits.seconds, limits.idle_seconds)

    @property
    def again(self) -> Allowance:
        """What a test case may use that has run before."""
        return self.most._replace(fuel=self.fuel)

    @property
    def trial(self) -> Allowance:
        """What a test case may use on a mutant."""
        fuel, seconds, idle_seconds = self.most
        return Allowance(fuel, min(seconds, self.usual.seconds), idle_seconds)

    def took(self, seconds: float, testcases: int) -> None:
        """A batch ended in which no test case was stopped."""
        self._slowest_s = max(self._slowest_s, seconds / testcases)
        self._least_s = max(LEAST_S, min(self._least_s, USUAL_S * self._slowest_s))

    def note(self, traces: Sequence[Trace]) -> bool:
        """Set the fuel by test cases that have run. Returns True if it is more than before."""
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
        """What a test case that was stopped may use in a second attempt; None if it gets none.

        The first, fourth, sixteenth... stop of each operation gets one: with `Limits.fuel`, and with 20 times as much if
        the operation has never ended.
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
        """So much time went into running test cases, or into a `second` attempt."""
        self._run_s += seconds
        self._second_s += seconds * second

    def _chances_s(self) -> float:
        """Seconds that second attempts may take now."""
        return SECOND_S + SECOND_SHARE * self._run_s - self._second_s

    def ended_late(self, seconds: float) -> None:
        """A test case that the clock had stopped ended in its second attempt, which took so long."""
        self._least_s = min(self._limits.seconds, max(self._least_s, 4 * seconds))

    def _usual_fuel(self) -> int:
        """What nine in ten test cases that ended have burnt at most, rounded up to a power of two."""
        left = (1.0 - _HIGH) * sum(self._times)
        for bits in range(_BUCKETS - 1, -1, -1):
            left -= self._times[bits]
            if left < 0:
                return 1 << bits
        return 0
