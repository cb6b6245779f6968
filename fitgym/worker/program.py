"""Programs: statements compiled once and run by one loop.

A statement becomes a small function from the previous results to its own result. Everything constant is resolved
beforehand: the callable, the literals, the keyword names. A test case is a tuple of these functions. They run in a loop
with a single `try` around it, so a test case that raises nothing pays for no error handling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from fitgym.instrument.abstraction import Places, abstract
from fitgym.instrument.recorder import Recorder
from fitgym.instrument.trace import Failure, Raised
from fitgym.messages.feedback import Feedback
from fitgym.messages.journal import IDLE
from fitgym.messages.protocol import WireCall, WireCalls, WireInputs, WireStatement
from fitgym.subject.subject import Subject
from fitgym.worker.callee import Callee
from fitgym.worker.driver import Driver
from fitgym.worker.entry import Entry
from fitgym.worker.outcomes import Outcomes
from fitgym.worker.steps import CODES, Arguments, Results, SetupError, failing

__all__ = ["Outcome", "Program"]


@dataclass(slots=True)
class Outcome:
    """How one test case ended, without the data of the probes.

    Attributes:
        calls: see `Trace.calls`, as built-in values.
        failure: why it cannot be trusted, "" if it can.
        entries: its statements up to the one that ended it.
        results: results of the statements that returned.
        error: the exception that ended it; dropped when it is no longer needed.
    """

    calls: WireCalls
    failure: Failure
    entries: list[Entry]
    results: Results
    error: BaseException | None = None


class Program:
    """The compiled statements of a worker.

    Args:
        subject: the subject. Its operations are resolved at once, so all modules they need are imported here.
        probes: the recorder of the worker.
        cells: cells of the journal.
        given: callables of the worker that operations stand for, by module and name.

    Attributes:
        is_async: some operation needs an event loop.
    """

    def __init__(
        self,
        subject: Subject,
        probes: Recorder,
        cells: memoryview,
        given: Mapping[tuple[str, str], Callable[..., Any]] = MappingProxyType({}),
    ) -> None:
        self.subject = subject
        self.is_async = any(operation.drive in ("await", "aiterate", "aenter") for operation in subject.operations)
        self.feedback = Feedback()
        self._probes = probes
        self._cells = cells
        self._entries: dict[int, Entry] = {}
        self._callees = [Callee(operation, given) for operation in subject.operations]
        self._driver = Driver()
        self._places = Places()
        self._outcomes = Outcomes(subject, probes)
        probes.runner_codes.update(CODES, self._driver.codes)
        probes.runner_codes.update((Program.run.__code__, Program._run_abstracting.__code__))

    def open_loop(self) -> None:
        """Create the event loop now, so that its descriptors belong to the initial state."""
        self._driver.loop()

    def define(self, identifier: int, statement: WireStatement) -> None:
        """Compile a statement and store it under its id."""
        operation, receiver, args, kwargs, iterate = statement
        callee = self._callees[operation]
        try:
            step = callee.step(receiver, Arguments(args, kwargs))
        except SetupError as problem:
            self._entries[identifier] = Entry(callee, failing(problem), statement)
            return
        drive = callee.operation.drive or ("iterate" if iterate else "")
        if drive:
            step = self._driver.driving(step, drive)
        self._entries[identifier] = Entry(callee, step, statement)

    def run(self, testcase: tuple[int, ...], needs: frozenset[str] = frozenset()) -> Outcome:
        """Run one test case to its end or to its first exception.

        The journal marks the test case as running from before the first statement until no code of the subject can run
        any more. The timer raises exceptions only in this interval.
        """
        entries = [self._entries[identifier] for identifier in testcase]
        if "direct" in needs or "output" in needs or "input" in needs:
            return self._run_abstracting(entries, needs)
        # Hot path: bound methods and globals are kept in locals, and a call without new feedback appends one result.
        cells = self._cells
        idle = IDLE
        type_ = type
        results: Results = []
        append = results.append
        position = 0
        try:
            for entry in entries:
                cells[2] = position
                value = entry.step(results)
                if type_(value) not in entry.seen:
                    self._note(entry, value)
                append(value)
                position += 1
            cells[1] = idle
        except BaseException as error:
            cells[1] = idle
            return self._ended(entries, results, error)
        return Outcome(tuple([entry.returned for entry in entries]), self._unspent(), entries, results)

    def repeat(self, testcase: tuple[int, ...]) -> Outcome:
        """Run a test case like `run`, without feedback.

        Used for mutants, whose results say nothing about the subject.
        """
        entries = [self._entries[identifier] for identifier in testcase]
        cells = self._cells
        results: Results = []
        try:
            for position, entry in enumerate(entries):
                cells[2] = position
                results.append(entry.step(results))
            cells[1] = IDLE
        except BaseException as error:
            cells[1] = IDLE
            return self._ended(entries, results, error)
        return Outcome((), self._unspent(), entries, results)

    def raised(self, outcome: Outcome) -> Raised | None:
        """Return the exception that ended a test case, None if it was not raised by the subject.

        Evaluating its arguments again may run code of the subject. So this is called after the recorded data was read.
        """
        error = outcome.error
        if error is None:
            return None
        return self._outcomes.raised(outcome.entries, outcome.results, error, outcome.failure)

    def _run_abstracting(self, entries: list[Entry], needs: frozenset[str]) -> Outcome:
        """Run a test case like `run`, and record direct calls through decorators and partitions of values."""
        cells = self._cells
        direct, output, input_ = "direct" in needs, "output" in needs, "input" in needs
        entry_codes = self._probes.entry_codes
        next_statement = self._probes.next_statement
        places = self._places
        results: Results = []
        calls: list[WireCall] = []
        inputs: WireInputs = ()
        position = -1
        try:
            for entry in entries:
                position += 1
                cells[2] = position
                callee = entry.callee
                if input_:
                    inputs = ()
                    inputs = entry.inputs(results, places)
                if direct:
                    next_statement()
                    if entry_codes or callee.wrappers:
                        entry_codes.clear()
                        entry_codes.update(callee.wrappers)
                value = entry.step(results)
                if type(value) not in entry.seen:
                    self._note(entry, value)
                results.append(value)
                shown = abstract(value, places) if output and callee.shows else ()
                calls.append((callee.operation.id, True, shown, inputs) if inputs else callee.returning(shown))
            cells[1] = IDLE
        except BaseException as error:
            cells[1] = IDLE
            outcome = self._ended(entries, results, error)
            while len(calls) < min(len(results) + 1, len(entries)):
                calls.append((entries[len(calls)].callee.operation.id, False, (), inputs))
                inputs = ()
        else:
            outcome = Outcome((), self._unspent(), entries, results)
        outcome.calls = tuple(calls)
        return outcome

    def _note(self, entry: Entry, value: object) -> None:
        operation = entry.callee.operation
        self.feedback.note(operation, value, entry.seen, bool(operation.drive))

    def _ended(self, entries: list[Entry], results: Results, error: BaseException) -> Outcome:
        """Return the outcome of a test case whose statement after the last result raised."""
        entries = entries[: len(results) + 1]
        calls = [entry.returned for entry in entries]
        if len(calls) > len(results):
            calls[-1] = entries[-1].callee.raised
        return Outcome(tuple(calls), self._outcomes.failure(error), entries, results, error)

    def _unspent(self) -> Failure:
        return "fuel" if self._probes.spent else ""
