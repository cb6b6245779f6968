"""Hangs: records calls that hit a limit, so that they are rarely proposed again.

A call that hits a limit costs a thousand times as much as others. The probability of a hang is estimated from similar
calls of the same operation. Arguments are similar if they have the same kind, numbers the same sign and parity, and
texts and containers are both empty or both not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fitgym.chance import Chance
from fitgym.instrument.trace import Trace
from fitgym.testcase.constants import kind_of_text
from fitgym.testcase.expression import Collection, Expression, Literal
from fitgym.testcase.statement import Statement, StatementTable, TestCase

__all__ = ["LIMITS", "Hangs"]

LIMITS = ("fuel", "timeout", "memory", "crash")
"""Failures of test cases that hit a limit."""

_WEIGHT = 4.0  # of a call that hit a limit, relative to one that ended
_MOST_DOUBT = 0.95  # a call that hit a limit once is still proposed occasionally
_MOST_EXACT = 5_000  # cached statements
_MOST_ALIKE = 5_000  # cached classes of statements

_MOST_KEYS = 20_000  # cached keys of statements

_Alike = tuple[int, tuple[object, ...]]


class Hangs:
    """Statistics of calls that hit a limit.

    Attributes:
        operations: ids of operations with a call that hit a limit.
    """

    def __init__(self) -> None:
        self.operations: dict[int, None] = {}
        self._exact: dict[int, None] = {}  # ids of statements
        self._counts: dict[_Alike, list[float]] = {}  # stopped, ended
        self._keys: dict[int, _Alike] = {}  # by id of the statement

    def note(self, testcase: TestCase, table: StatementTable, trace: Trace) -> None:
        """Count the calls of one execution."""
        calls = trace.calls
        stopped = trace.failure in LIMITS and bool(calls) and not calls[-1].returned
        if stopped:
            identifier = testcase[len(calls) - 1]
            self.operations[calls[-1].operation] = None
            _remember(self._exact, identifier)
            self._count(identifier, table[identifier])[0] += _WEIGHT
        if self.operations:
            for identifier, call in zip(testcase, calls[: len(calls) - stopped], strict=False):
                if call.operation in self.operations:
                    # The same statement ended this time, so it is no longer rejected outright.
                    self._exact.pop(identifier, None)
                    self._count(identifier, table[identifier])[1] += 1.0

    def doubt(self, identifier: int, statement: Statement) -> float:
        """Return the estimated probability of a hang, in [0, 0.95]; 0 if no call of the operation hit a limit."""
        if statement.operation not in self.operations:
            return 0.0
        if identifier in self._exact:
            return _MOST_DOUBT
        stopped, ended = self._counts.get(self._key(identifier, statement), (0.0, 0.0))
        return min(_MOST_DOUBT, stopped / (stopped + ended + 1.0))

    def first(self, testcase: TestCase, table: StatementTable, rng: Chance, known: Sequence[int] = ()) -> int:
        """Return the position of the first statement rejected as a likely hang, at random; -1 if there is none.

        Args:
            testcase: a proposal.
            table: its statements.
            rng: source of random numbers.
            known: ids of statements that are always accepted.
        """
        if self.operations:
            for position, identifier in enumerate(testcase):
                doubt = self.doubt(identifier, table[identifier]) if identifier not in known else 0.0
                if doubt and rng.random() < doubt:
                    return position
        return -1

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the cache of keys; a copy starts without it."""
        return {**vars(self), "_keys": {}}

    def _key(self, identifier: int, statement: Statement) -> _Alike:
        key = self._keys.get(identifier)
        if key is None:
            if len(self._keys) >= _MOST_KEYS:  # a cache: dropped entries are recomputed
                self._keys.clear()
            key = self._keys[identifier] = _alike(statement)
        return key

    def _count(self, identifier: int, statement: Statement) -> list[float]:
        key = self._key(identifier, statement)
        counts = self._counts.get(key)
        if counts is None:
            if len(self._counts) >= _MOST_ALIKE:
                # Dicts keep insertion order, so these are the oldest entries.
                for old in list(self._counts)[: _MOST_ALIKE // 2]:
                    del self._counts[old]
            counts = self._counts[key] = [0.0, 0.0]
        return counts


def _remember(known: dict[int, None], identifier: int) -> None:
    if len(known) >= _MOST_EXACT:
        for old in list(known)[: _MOST_EXACT // 2]:
            del known[old]
    known[identifier] = None


def _alike(statement: Statement) -> _Alike:
    """Return the key of similar calls: the operation and the features of its arguments."""
    arguments = [*map(_kind, statement.args), *((name, _kind(value)) for name, value in statement.kwargs)]
    return statement.operation, tuple(arguments)


def _kind(argument: Expression) -> object:
    if isinstance(argument, Literal):
        kind = kind_of_text(argument.text)
        if kind == "int":
            value = int(argument.text)
            return kind, (value > 0) - (value < 0), value % 2
        if kind == "float":
            return kind, argument.text.startswith("-")
        if kind in ("str", "bytes"):
            return kind, argument.text.endswith(("''", '""'))
        return argument.text if kind == "bool" else kind
    if isinstance(argument, Collection):
        return argument.kind, bool(argument.items), _kind(argument.items[0]) if argument.items else None
    return type(argument).__name__
