"""The history of a statement table: test cases that are banned or crashed, and what running them taught."""

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
    """A test case that ended its process, or had to be ended with it.

    Attributes:
        testcase: it will not be run again.
        failure: "crash", "exit" or "timeout".
        position: index of the statement that ran.
        operation: id of the operation of that statement; its statements may be forgotten by now.
    """

    testcase: TestCase
    failure: Failure
    position: int
    operation: int


@dataclass(frozen=True, slots=True)
class Learned:
    """What running test cases has taught about the subject.

    Attributes:
        constants: operands seen at comparisons, as source text; only if "constants" was needed.
        returns: for each operation the type it was seen to return.
        iterators: operations that returned an iterator though their signature does not say so.
        parameters: what was demanded of arguments without annotation, by operation and parameter name.
    """

    constants: tuple[str, ...] = ()
    returns: dict[int, Hint] = field(default_factory=dict)
    iterators: tuple[int, ...] = ()
    parameters: dict[tuple[int, str], Hint] = field(default_factory=dict)


class History:
    """What the executor knows about the test cases of one statement table.

    Statement ids of another table mean other statements, so each table has a history of its own.

    Args:
        limits: what one test case may use.

    Attributes:
        banned: test cases that are not run again, each with the trace that stands for its result.
        crashes: test cases that ended their process, in order.
        expected: what two executions of a test case showed.
        feedback: what running taught about the subject.
        pace: how much fuel and time new test cases may take.
        timeouts: the beginnings of test cases that were stopped.
        ran: how many test cases have run and were not stopped.
    """

    def __init__(self, limits: Limits = Limits()) -> None:  # noqa: B008  (it is immutable)
        self.pace = Pace(limits)
        self.timeouts = Timeouts()
        self.ran = 0
        self.banned: dict[TestCase, Trace] = {}
        self.crashes: list[Crash] = []
        self.expected: dict[TestCase, tuple[Observed, Observed]] = {}  # what two executions showed
        self.feedback = _Feedback()

    def ban(self, testcase: TestCase, failure: Failure, table: StatementTable, position: int) -> Trace:
        """Do not run a test case again; what it gives from now on.

        All that is known for certain is which of its statements had returned, if it is known which one ran: `position`,
        else -1.
        """
        operations = [table[identifier].operation for identifier in testcase[: position + 1]]
        calls = tuple([Call(operation, index < position) for index, operation in enumerate(operations)])
        trace = self.banned[testcase] = Trace(failure=failure, calls=calls)
        return trace

    def copy(self) -> History:
        """A history that begins with the same."""
        return copy.deepcopy(self, {id(self.expected): dict(self.expected)})  # its items are immutable

    def allowed(
        self, indexes: Sequence[int], testcases: Sequence[TestCase], mode: str, results: list[Any]
    ) -> list[int]:
        """Which of the test cases are not banned; the results of the others are filled in."""
        for index in indexes:
            banned = self.banned.get(testcases[index])
            if banned is not None:
                results[index] = failed(mode, banned)
        return [index for index in indexes if results[index] is None]

    def allow(self, testcase: TestCase) -> tuple[Trace | None, list[Crash]]:
        """Let a banned test case run once more. Returns what `restore` needs."""
        crashes = [crash for crash in self.crashes if crash.testcase == testcase]
        self.crashes[:] = [crash for crash in self.crashes if crash.testcase != testcase]
        return self.banned.pop(testcase, None), crashes

    def restore(self, testcase: TestCase, before: tuple[Trace | None, list[Crash]]) -> None:
        """Ban a test case again as it was banned before `allow`."""
        self.allow(testcase)
        trace, crashes = before
        if trace is not None:
            self.banned[testcase] = trace
        self.crashes += crashes

    def allow_late(self) -> None:
        """Let all test cases run again that the clock has stopped, because they may take longer now."""
        for testcase in [testcase for testcase, trace in self.banned.items() if trace.failure == "timeout"]:
            self.allow(testcase)


def failed(mode: str, trace: Trace) -> Any:
    """What a banned test case gives in a mode of `Runner.answer`."""
    if mode in ("run", "check"):
        return trace
    from fitgym.messages.observation import Observed

    return Observed(failure=trace.failure)


class _Feedback:
    """Merges what children report about the subject; reports each fact once, although every child finds it again."""

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
        """What was learnt since the last call."""
        learned = Learned(tuple(self._new_constants), self._new_returns, tuple(self._new_iterators))
        self._new_constants, self._new_returns, self._new_iterators = [], {}, []
        return learned
