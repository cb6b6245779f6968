"""Timeouts: prefixes of test cases that were stopped by a limit, so that they are not run again."""

from __future__ import annotations

from fitgym.immutable import Lookup
from fitgym.instrument.trace import Failure, Trace
from fitgym.testcase.statement import TestCase

__all__ = ["Timeouts"]

STOPPED: frozenset[Failure] = frozenset({"fuel", "timeout", "memory", "crash", "exit"})
"""Failures that end a test case. The statements after the failing one do not matter."""

_MOST = 10_000  # prefixes


class Timeouts:
    """Stores the executed prefix of each stopped test case, with its trace.

    A test case with the same prefix would be stopped at the same statement, so its result is known.
    """

    def __init__(self) -> None:
        self._traces: Lookup[tuple[TestCase, frozenset[str]], Trace] = Lookup()
        self._lengths: dict[int, int] = {}  # number of prefixes by length

    def __len__(self) -> int:
        return len(self._traces)

    def note(self, testcase: TestCase, trace: Trace, needs: frozenset[str]) -> None:
        """Store the trace of a stopped test case, recorded with `needs`."""
        length = len(trace.calls)
        if trace.failure not in STOPPED or not length or trace.calls[-1].returned:
            return
        key = testcase[:length], needs
        if key not in self._traces:
            if len(self._traces) >= _MOST:
                self._forget(list(self._traces)[: _MOST // 2])
            self._lengths[length] = self._lengths.get(length, 0) + 1
        self._traces[key] = trace

    def find(self, testcase: TestCase, needs: frozenset[str]) -> Trace | None:
        """Return the trace of a stopped prefix of this test case, None if there is none."""
        traces = self._traces
        for length in self._lengths:
            if length <= len(testcase):
                known = traces.get((testcase[:length], needs))
                if known is not None:
                    return known
        return None

    def forget(self, failure: Failure) -> None:
        """Drop the prefixes that were stopped with this failure, because the limit has grown."""
        self._forget([key for key, trace in self._traces.items() if trace.failure == failure])

    def _forget(self, keys: list[tuple[TestCase, frozenset[str]]]) -> None:
        for key in keys:
            del self._traces[key]
            length = len(key[0])
            self._lengths[length] -= 1
            if not self._lengths[length]:
                del self._lengths[length]
