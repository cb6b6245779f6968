"""Makers: the simplest statements that make an object, as replacements for other statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fitgym.subject.subject import Operation
from fitgym.subject.types.hints import NAMESPACES, choices
from fitgym.suite.reduction.simplification import arguments, parameter_at, weight
from fitgym.testcase.expression import Ref
from fitgym.testcase.statement import Statement, StatementTable

__all__ = ["Means", "makers_of"]

MAKERS = 3
"""Maximal number of makers for each class."""

PRIVATE = 10_000
"""Extra weight of a private name."""


class Means(NamedTuple):
    """Information about statements that reduction needs.

    Attributes:
        table: of the statements.
        operations: of the subject, by id; empty if unknown.
        makers: for each class, the simplest known statements that make an object of it without other objects. For "",
            the simplest such statements of any class that use no private name.
    """

    table: StatementTable
    operations: Sequence[Operation] = ()
    makers: Mapping[str, Sequence[Statement]] = {}

    def instead(self, statement: Statement, classes: Iterable[str]) -> list[Statement]:
        """Return possible replacements for a statement, if objects of these classes are used after it."""
        operation = self.of(statement)
        if operation is not None and _is_private(operation):
            classes = (*classes, "")
        found = dict.fromkeys(maker for name in classes for maker in self.makers.get(name, ()))
        return [one for one in found if statement.refs or self.costs(one) < self.costs(statement)]

    def real(self, statement: Statement, position: int, later: Iterable[Statement]) -> list[Statement]:
        """Return constructors that can replace a stand-in: of the classes that later statements declare for it.

        A stand-in is a plain holder of attributes; of its attributes those are kept that the constructor accepts.
        """
        operation = self.of(statement)
        if operation is None or operation.kind != "constructor" or operation.owner not in NAMESPACES:
            return []
        declared = [
            choice.name
            for one in later
            for place, value in arguments(one)
            if value == Ref(position) and (parameter := parameter_at(self.of(one), place)) and parameter.declared
            for choice in choices(parameter.hint)
            if choice.kind == "class" and choice.name not in NAMESPACES
        ]
        found = []
        for one in self.operations:
            if one.kind == "constructor" and one.owner in declared:
                known = {parameter.name for parameter in one.parameters}
                given = tuple((name, value) for name, value in statement.kwargs if name in known)
                if {parameter.name for parameter in one.parameters if parameter.required} <= {
                    name for name, _ in given
                }:
                    found.append(Statement(one.id, kwargs=given))
        return found

    def costs(self, statement: Statement) -> int:
        """Return the reading effort of a statement: the weight of its arguments, and `PRIVATE` for a private name."""
        operation = self.of(statement)
        private = operation is not None and _is_private(operation)
        return weight(statement, operation) + PRIVATE * private

    def of(self, statement: Statement) -> Operation | None:
        """Return the operation of a statement, None if unknown."""
        return self.operations[statement.operation] if self.operations else None


def makers_of(statements: Iterable[Statement], means: Means) -> dict[str, list[Statement]]:
    """Return the simplest statements that make an object of each class without other objects, at most `MAKERS`."""
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
    """Return whether a part of the operation's name is private."""
    return any(part.startswith("_") and not part.endswith("__") for part in operation.name.split("."))
