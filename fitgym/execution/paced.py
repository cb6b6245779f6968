"""Paced execution: stops test cases that hang early, and does not run them again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

from fitgym.errors import OutOfBudget
from fitgym.execution.history import History
from fitgym.execution.pace import Allowance
from fitgym.instrument.trace import Trace
from fitgym.testcase.statement import TestCase

__all__ = ["BLOCK", "Runs", "paced"]

BLOCK = 16
"""Number of test cases after which the limits are updated while few test cases have ended."""

_FEW = 64  # test cases


class Runs(Protocol):
    """Runs test cases, all with the same allowance."""

    def __call__(self, testcases: Sequence[TestCase], allowance: Allowance, /) -> list[Trace]:
        """Return the trace of each test case. On `OutOfBudget`, `done` holds the traces recorded until then."""


def paced(testcases: Sequence[TestCase], needs: frozenset[str], history: History, run: Runs) -> list[Trace]:
    """Run test cases with limits that adapt to the subject. Return their traces.

    A test case with the same prefix as a stopped one is not run, because its result is known. Some stopped test cases
    get a second attempt with higher limits, see `Pace.second_chance`.

    Args:
        testcases: the test cases; the sequence may be empty.
        needs: what to record.
        history: the history of their table; it is updated.
        run: runs test cases with an allowance.

    Raises:
        OutOfBudget: the deadline passed; its `done` has the trace of each test case, None if it did not run.
    """
    traces: list[Trace | None] = [None] * len(testcases)
    start = 0
    while start < len(testcases):
        size = BLOCK if history.ran < _FEW else len(testcases)
        block = range(start, min(len(testcases), start + size))
        start = block.stop
        try:
            _run_block(testcases, traces, block, needs, history, run)
        except OutOfBudget as late:
            late.done = tuple(traces)
            raise
    return [trace for trace in traces if trace is not None]


def _run_block(
    testcases: Sequence[TestCase],
    traces: list[Trace | None],
    block: range,
    needs: frozenset[str],
    history: History,
    run: Runs,
) -> None:
    """Run one block of the test cases and fill in their traces."""
    timeouts, pace = history.timeouts, history.pace
    if len(timeouts):
        for index in block:
            traces[index] = timeouts.find(testcases[index], needs)
    new = [index for index in block if traces[index] is None]
    if not new:
        return
    allowance = pace.usual
    started = time.monotonic()
    try:
        done: Sequence[Trace | None] = run([testcases[index] for index in new], allowance)
    except OutOfBudget as late:
        for index, trace in zip(new, late.done, strict=False):
            traces[index] = trace
        raise
    pace.spent(time.monotonic() - started, second=False)
    stopped: list[int] = []
    for index, trace in zip(new, done, strict=True):
        assert trace is not None, "every test case has run"
        traces[index] = trace
        if trace.failure:
            stopped.append(index)
    history.ran += len(new) - len(stopped)
    for index in stopped:
        trace = traces[index]
        assert trace is not None, "it was stopped"
        if (more := pace.second_chance(trace)) is not None:
            trace = traces[index] = _second_attempt(testcases[index], trace, more, history, run)
        timeouts.note(testcases[index], trace, needs)
    if pace.note([trace for index in new if (trace := traces[index]) is not None]):
        timeouts.forget("fuel")
        _repeat(testcases, traces, stopped, needs, history, run)


def _repeat(
    testcases: Sequence[TestCase],
    traces: list[Trace | None],
    stopped: Sequence[int],
    needs: frozenset[str],
    history: History,
    run: Runs,
) -> None:
    """Run test cases again that were stopped with less fuel than the current limit."""
    fuel = history.pace.fuel
    again = [i for i in stopped if (trace := traces[i]) is not None and trace.failure == "fuel" and trace.fuel <= fuel]
    for index, trace in zip(again, run([testcases[i] for i in again], history.pace.again), strict=True):
        traces[index] = trace
        history.timeouts.note(testcases[index], trace, needs)


def _second_attempt(testcase: TestCase, first: Trace, more: Allowance, history: History, run: Runs) -> Trace:
    """Run a stopped test case with higher limits. Returns its first trace if it is stopped again."""
    banned = history.allow(testcase)
    started = time.monotonic()
    (trace,) = run([testcase], more)
    seconds = time.monotonic() - started
    history.pace.spent(seconds, second=True)
    if trace.failure in ("fuel", "timeout"):
        history.restore(testcase, banned)
        return first
    if first.failure == "timeout" and not trace.failure:
        history.pace.ended_late(seconds)
        history.allow_late()
        history.timeouts.forget("timeout")
    return trace
