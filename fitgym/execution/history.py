"""The history of a statement table: banned test cases, crashes, and feedback from executions."""

from __future__ import annotations

import copy
from builtins import id
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fitgym.execution.pace import Pace
from fitgym.execution.timeouts import Timeouts
from fitgym.instrument.factory import MOST_OPERANDS
from fitgym.instrument.trace import Call, Failure, Trace
from fitgym.messages.feedback import joined
from fitgym.messages.limits import Limits
from fitgym.subject.types.hints import Hint
from fitgym.testcase.statement import StatementTable, TestCase

if TYPE_CHECKING:
    from fitgym.messages.observation import Observed

__all__ = ["Crash", "History", "Learned", "failed"]


@dataclass(frozen=True, slots=True)
class Crash:
    """A test case that ended its process or was ended together with it.

    Attributes:
        testcase: the test case; it is not run again.
        failure: "crash", "exit" or "timeout".
        position: index of the statement that was running.
        operation: id of the operation of that statement; the table may have dropped the statement since.
    """

    testcase: TestCase
    failure: Failure
    position: int
    operation: int


@dataclass(frozen=True, slots=True)
class Learned:
    """Feedback about the subject from executions.

    Attributes:
        constants: operands seen at comparisons, as source text; only recorded if "constants" was needed.
        returns: observed return type by operation.
        iterators: operations that returned an iterator although their signature does not say so.
        parameters: inferred types of arguments without annotation, by operation and parameter name.
    """

    constants: tuple[str, ...] = ()
    returns: dict[int, Hint] = field(default_factory=dict)
    iterators: tuple[int, ...] = ()
    parameters: dict[tuple[int, str], Hint] = field(default_factory=dict)


class History:
    """The executor's records about the test cases of one statement table.

    The same statement id means different statements in different tables, so each table has its own history.

    Args:
        limits: resource limits of one test case.

    Attributes:
        banned: test cases that are not run again, each with the trace that replaces its result.
        crashes: test cases that ended their process, in the order of execution.
        expected: observations of one or two executions, by test case.
        feedback: feedback about the subject.
        pace: fuel and time limits of new test cases.
        timeouts: prefixes of the test cases that were stopped.
        ran: number of test cases that ran without being stopped.
    """

    def __init__(self, limits: Limits = Limits()) -> None:  # noqa: B008  (it is immutable)
        self.pace = Pace(limits)
        self.timeouts = Timeouts()
        self.ran = 0
        self.banned: dict[TestCase, Trace] = {}
        self.crashes: list[Crash] = []
        self.expected: dict[TestCase, tuple[Observed, ...]] = {}
        self.feedback = _Feedback()

    def ban(self, testcase: TestCase, failure: Failure, table: StatementTable, position: int) -> Trace:
        """Ban a test case. Return the trace that replaces its result from now on.

        Only the statements before the one that was running are known to have returned. `position` is the index of the
        running statement, -1 if it is unknown.
        """
        operations = [table[identifier].operation for identifier in testcase[: position + 1]]
        calls = tuple([Call(operation, index < position) for index, operation in enumerate(operations)])
        trace = self.banned[testcase] = Trace(failure=failure, calls=calls)
        return trace

    def copy(self) -> History:
        """Return an independent copy of the history."""
        return copy.deepcopy(self, {id(self.expected): dict(self.expected)})  # its values are immutable

    def allowed(
        self, indexes: Sequence[int], testcases: Sequence[TestCase], mode: str, results: list[Any]
    ) -> list[int]:
        """Return the indexes of the test cases that are not banned. Fills in the results of the others."""
        for index in indexes:
            banned = self.banned.get(testcases[index])
            if banned is not None:
                results[index] = failed(mode, banned)
        return [index for index in indexes if results[index] is None]

    def allow(self, testcase: TestCase) -> tuple[Trace | None, list[Crash]]:
        """Lift the ban of a test case. Returns the argument for `restore`."""
        crashes = [crash for crash in self.crashes if crash.testcase == testcase]
        self.crashes[:] = [crash for crash in self.crashes if crash.testcase != testcase]
        return self.banned.pop(testcase, None), crashes

    def restore(self, testcase: TestCase, before: tuple[Trace | None, list[Crash]]) -> None:
        """Restore the ban that `allow` lifted."""
        self.allow(testcase)
        trace, crashes = before
        if trace is not None:
            self.banned[testcase] = trace
        self.crashes += crashes

    def allow_late(self) -> None:
        """Lift the bans of all test cases that timed out. Called when the time limit has grown."""
        for testcase in [testcase for testcase, trace in self.banned.items() if trace.failure == "timeout"]:
            self.allow(testcase)


def failed(mode: str, trace: Trace) -> Any:
    """Return the result of a banned test case in a mode of `Runner.answer`."""
    if mode in ("run", "check"):
        return trace
    from fitgym.messages.observation import Observed

    return Observed(failure=trace.failure)


class _Feedback:
    """Merges the feedback of all children. Reports each fact once, although every child finds it again."""

    def __init__(self) -> None:
        self._constants: dict[str, None] = {}
        self._returns: dict[int, Hint] = {}
        self._iterators: dict[int, None] = {}
        self._new_constants: list[str] = []
        self._new_returns: dict[int, Hint] = {}
        self._new_iterators: list[int] = []

    def add(self, returns: dict[int, Hint], iterators: Iterable[int], constants: Iterable[str]) -> None:
        for operation, hint in returns.items():
            known = self._returns.get(operation)
            if (whole := joined(known, hint)) != known:
                self._returns[operation] = self._new_returns[operation] = whole
        for operation in iterators:
            if operation not in self._iterators:
                self._iterators[operation] = None
                self._new_iterators.append(operation)
        for text in constants:
            if text not in self._constants and len(self._constants) < MOST_OPERANDS:
                self._constants[text] = None
                self._new_constants.append(text)

    def drain(self) -> Learned:
        """Return the feedback collected since the last call."""
        learned = Learned(tuple(self._new_constants), self._new_returns, tuple(self._new_iterators))
        self._new_constants, self._new_returns, self._new_iterators = [], {}, []
        return learned
