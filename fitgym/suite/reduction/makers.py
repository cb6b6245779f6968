"""Makers: the simplest statements that make an object, as replacements for other statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fitgym.subject.subject import Class, Operation
from fitgym.subject.types.hints import NAMESPACES, choices
from fitgym.suite.reduction.simplification import arguments, conforms, parameter_at, weight
from fitgym.testcase.expression import Expression, Ref
from fitgym.testcase.statement import Statement, StatementTable
from fitgym.testcase.subtyping import fits

__all__ = ["Means", "makers_of"]

MAKERS = 3
"""Maximal number of makers for each class."""

_FUNCTIONS = ("function", "static_method", "class_method")

PRIVATE = 10_000
"""Extra weight of a private name."""


class Means(NamedTuple):
    """Information about statements that reduction needs.

    Attributes:
        table: of the statements.
        operations: of the subject, by id; empty if unknown.
        classes: of the subject, by name.
        makers: for each class, the simplest known statements that make an object of it without other objects: its
            constructor, or functions that return one. For "", the simplest such statements of any class that use no
            private name.
    """

    table: StatementTable
    operations: Sequence[Operation] = ()
    classes: Mapping[str, Class] = {}
    makers: Mapping[str, Sequence[Statement]] = {}

    def instead(self, statement: Statement, classes: Iterable[str]) -> list[Statement]:
        """Return possible replacements for a statement, if objects of these classes are used after it."""
        operation = self.of(statement)
        if operation is not None and _is_private(operation):
            classes = (*classes, "")
        found = dict.fromkeys(maker for name in classes for maker in self.makers.get(name, ()))
        return [one for one in found if statement.refs or self.costs(one) < self.costs(statement)]

    def real(self, statement: Statement, position: int, later: Iterable[Statement]) -> list[list[Statement]]:
        """Return statements that can replace a stand-in: they make objects of the classes that later ones declare for it.

        A stand-in is a plain holder of attributes. Those of its attributes are kept that the constructor of the class
        accepts, and the others are set afterwards if that is possible; else a maker takes its place.

        Args:
            statement: the stand-in.
            position: of the stand-in, and of the first statement that replaces it.
            later: the statements after it.
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
        found: list[list[Statement]] = []
        for one in self.operations:
            if one.kind == "constructor" and one.owner in declared:
                known = {parameter.name: parameter for parameter in one.parameters}
                given = {
                    name: value
                    for name, value in statement.kwargs
                    if name in known and (not known[name].declared or conforms(value, known[name].hint))
                }
                if {parameter.name for parameter in one.parameters if parameter.required} <= given.keys():
                    made = Statement(one.id, kwargs=tuple(given.items()))
                    others = [(name, value) for name, value in statement.kwargs if name not in known]
                    found += [[made], [made, *self._setting(one.owner, position, others)]]
        for name in declared:
            for maker in self.makers.get(name, ()):
                found += [[maker], [maker, *self._setting(name, position, statement.kwargs)]]
        return [list(one) for one in dict.fromkeys(map(tuple, found))]

    def _setting(self, owner: str, position: int, values: Iterable[tuple[str, Expression]]) -> list[Statement]:
        """Return the statements that set attributes of the object at `position`, as far as there are setters."""
        setters = {
            one.name.rpartition(".")[2]: one.id
            for one in self.operations
            if one.kind == "setter" and one.owner == owner
        }
        return [Statement(setters[name], position, (value,)) for name, value in values if name in setters]

    def suits(self, statement: Statement, position: int, later: Iterable[Statement]) -> bool:
        """Return whether the result of a statement has the types that later ones declare for that at `position`.

        A result of unknown type has.
        """
        operation = self.of(statement)
        if operation is None or operation.returns.kind == "any":
            return True
        return all(
            fits(operation.returns, parameter.hint, self.classes)
            for one in later
            for place, value in arguments(one)
            if value == Ref(position) and (parameter := parameter_at(self.of(one), place)) and parameter.declared
        )

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
        elif operation.kind in _FUNCTIONS and operation.returns.kind == "class":
            found.setdefault(operation.returns.name, []).append(statement)
        if operation.kind in ("constructor", *_FUNCTIONS) and not _is_private(operation):
            found.setdefault("", []).append(statement)
    return {name: sorted(some, key=means.costs)[:MAKERS] for name, some in found.items()}


def _is_private(operation: Operation) -> bool:
    """Return whether a part of the operation's name is private."""
    return any(part.startswith("_") and not part.endswith("__") for part in operation.name.split("."))
