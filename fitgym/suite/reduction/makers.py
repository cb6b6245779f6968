"""Makers: the plainest statements that make an object, to be tried in the place of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fitgym.subject.subject import Operation
from fitgym.suite.reduction.simplification import weight
from fitgym.testcase.statement import Statement, StatementTable

__all__ = ["Means", "makers_of"]

MAKERS = 3
"""Statements that are tried for each class."""

PRIVATE = 10_000
"""The cost of a private name."""


class Means(NamedTuple):
    """What is known about statements.

    Attributes:
        table: where they are.
        operations: of the subject, by id; empty if they are not known.
        makers: for a class the plainest statements seen that make an object of it from nothing; for "" the plainest ones
            that need no private name for whatever they make.
    """

    table: StatementTable
    operations: Sequence[Operation] = ()
    makers: Mapping[str, Sequence[Statement]] = {}

    def instead(self, statement: Statement, classes: Iterable[str]) -> list[Statement]:
        """What may be put in its place where objects of these classes are asked something."""
        operation = self.of(statement)
        if operation is not None and _is_private(operation):
            classes = (*classes, "")
        found = dict.fromkeys(maker for name in classes for maker in self.makers.get(name, ()))
        return [one for one in found if statement.refs or self.costs(one) < self.costs(statement)]

    def costs(self, statement: Statement) -> int:
        """How much a reader has to take in of its arguments; a private name is worth avoiding at any price."""
        operation = self.of(statement)
        private = operation is not None and _is_private(operation)
        return weight(statement, operation) + PRIVATE * private

    def of(self, statement: Statement) -> Operation | None:
        """The operation of a statement, if it is known."""
        return self.operations[statement.operation] if self.operations else None


def makers_of(statements: Iterable[Statement], means: Means) -> dict[str, list[Statement]]:
    """For each class the plainest of these statements that make an object of it from nothing, at most `MAKERS`."""
    found: dict[str, list[Statement]] = {}
    for statement in dict.fromkeys(statements):
        operation = means.of(statement)
        if operation is None or statement.refs:
            continue
        if operation.kind == "constructor":
            found.setdefault(operation.owner, []).append(statement)
        if operation.kind in ("constructor", "function", "static_method", "class_method") and not _is_private(
            operation
        ):
            found.setdefault("", []).append(statement)
    return {name: sorted(some, key=means.costs)[:MAKERS] for name, some in found.items()}


def _is_private(operation: Operation) -> bool:
    """It is called by a name that is not for others."""
    return any(part.startswith("_") and not part.endswith("__") for part in operation.name.split("."))
