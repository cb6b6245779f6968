"""Statements: one operation applied to arguments, and the table that interns them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from fitgym.immutable import Lookup, immutable
from fitgym.testcase.expression import Expression, Literal, map_refs, refs

__all__ = ["Statement", "StatementTable", "TestCase"]

TestCase = tuple[int, ...]
"""A generated test: the ids of its statements in order. References inside statements are positions in this tuple."""


class _Fields(NamedTuple):
    operation: int
    receiver: int
    args: tuple[Expression, ...]
    kwargs: tuple[tuple[str, Expression], ...]
    iterate: bool
    refs: tuple[int, ...]


@immutable
class Statement(_Fields):
    """One operation applied to arguments; later statements can refer to its result.

    A named tuple, like its expressions; `_replace` returns a changed copy.

    Attributes:
        operation: index in `Subject.operations`.
        receiver: position of the statement whose result is the receiver, -1 for none.
        args: positional arguments.
        kwargs: keyword arguments, in written order.
        iterate: drain the result like `list(itertools.islice(result, 100))`, because the operation returned an iterator
            that its signature does not declare (`Operation.drive` covers declared iterators).
        refs: positions of the earlier statements that this one needs, receiver first; derived from the other fields.
    """

    __slots__ = ()

    def __new__(
        cls,
        operation: int,
        receiver: int = -1,
        args: tuple[Expression, ...] = (),
        kwargs: tuple[tuple[str, Expression], ...] = (),
        iterate: bool = False,
    ) -> Self:
        found: tuple[int, ...] = (receiver,) if receiver >= 0 else ()
        for argument in args:
            if type(argument) is not Literal:  # fast path: most arguments are literals
                found += refs(argument)
        for _, argument in kwargs:
            if type(argument) is not Literal:
                found += refs(argument)
        return tuple.__new__(cls, (operation, receiver, args, kwargs, iterate, found))

    def __getnewargs__(self) -> tuple[Any, ...]:
        # `__new__` computes `refs`, so pickle passes the other fields only.
        return self[:-1]

    @classmethod
    def _make(cls, iterable: Iterable[Any]) -> Self:  # type: ignore[override]
        # `_replace` calls this with all fields; `refs` must be computed anew.
        return cls(*tuple(iterable)[:-1])

    def __repr__(self) -> str:
        return f"Statement{self[:-1]}"

    def with_arguments(self, args: tuple[Expression, ...], kwargs: tuple[tuple[str, Expression], ...]) -> Statement:
        """Return the same operation with other arguments."""
        return Statement(self.operation, self.receiver, args, kwargs, self.iterate)

    def with_receiver(self, receiver: int) -> Statement:
        """Return the same call on another object."""
        return Statement(self.operation, receiver, self.args, self.kwargs, self.iterate)

    def moved(self, position: Mapping[int, int]) -> Statement:
        """Return the same statement with every reference `i` replaced by `position[i]`.

        Raises:
            KeyError: it refers to a statement without a new position.
        """
        operation, receiver, args, kwargs, iterate, found = self
        # Without references the same object is returned: `StatementTable.descendant` recognises it by identity.
        if not found:
            return self
        if receiver >= 0:
            receiver = position[receiver]
        # Otherwise the receiver is the only reference, and the arguments stay.
        if len(found) > 1 or receiver < 0:
            args = tuple([map_refs(argument, position) for argument in args])
            kwargs = tuple([(name, map_refs(argument, position)) for name, argument in kwargs])
        fields = (operation, receiver, args, kwargs, iterate, tuple([position[one] for one in found]))
        return tuple.__new__(Statement, fields)

    def shifted(self, start: int, shift: int) -> Statement:
        """Return the same statement after the insertion of `shift` statements at position `start`, all before it."""
        return self.moved({one: one + shift if one >= start else one for one in self.refs})


class StatementTable:
    """Interns statements: equal statements share one id, so a test case is a cheap tuple of integers.

    Ids are assigned in order of first appearance and never reused. `retain` drops statements that no test case uses.
    """

    def __init__(self) -> None:
        self._by_id: Lookup[int, Statement] = Lookup()
        self._ids: Lookup[Statement, int] = Lookup()
        self._next = 0

    def __len__(self) -> int:
        return len(self._by_id)

    def __getitem__(self, identifier: int) -> Statement:
        return self._by_id[identifier]

    def intern(self, statement: Statement) -> int:
        """Return the id of `statement`; a new statement gets a new id."""
        identifier = self._ids.get(statement)
        if identifier is None:
            identifier = self._next
            self._next += 1
            self._ids[statement] = identifier
            self._by_id[identifier] = statement
        return identifier

    def testcase(self, statements: Iterable[Statement]) -> TestCase:
        """Return the statements as a test case."""
        return tuple([self.intern(statement) for statement in statements])

    def descendant(self, statements: Sequence[Statement], parents: Sequence[Statement], testcase: TestCase) -> TestCase:
        """Return the statements as a test case that often shares its beginning and end with a parent.

        `parents` are the statements of the parent `testcase`. An identity check on a shared statement takes a tenth of
        the time of a table lookup.
        """
        shorter = min(len(statements), len(parents))
        first = 0
        while first < shorter and statements[first] is parents[first]:
            first += 1
        last = 0
        while last < shorter - first and statements[-1 - last] is parents[-1 - last]:
            last += 1
        known = self._ids.get
        changed = [
            self.intern(one) if (found := known(one)) is None else found
            for one in statements[first : len(statements) - last]
        ]
        return (*testcase[:first], *changed, *testcase[len(testcase) - last :])

    def statements(self, testcase: TestCase) -> list[Statement]:
        """Return the statements of a test case, in order."""
        return [self._by_id[identifier] for identifier in testcase]

    def retain(self, needed: Iterable[TestCase]) -> None:
        """Drop every statement that none of the `needed` test cases uses."""
        keep = {identifier for testcase in needed for identifier in testcase}
        self._by_id = Lookup((i, s) for i, s in self._by_id.items() if i in keep)
        self._ids = Lookup((s, i) for i, s in self._by_id.items())
