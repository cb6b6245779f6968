"""Plainness: smaller versions of a statement's arguments, for tests that a person has to read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitgym.testcase.expression import Collection, Expression, Lambda, Literal, Name, Ref
from fitgym.testcase.statement import Statement

__all__ = ["plainer", "plainness"]

MAX_SINGLE = 8  # a longer container loses halves before it loses single elements


def plainer(statement: Statement) -> Iterator[Statement]:
    """The statement with one of its arguments made plainer, the greatest step first; finitely many.

    Keyword arguments are left out; containers are emptied, halved, or lose an element; texts are emptied or halved;
    numbers become 0 or 1. Positional arguments stay, and what refers to earlier results stays as it is.
    """
    for index, (_, value) in enumerate(statement.kwargs):
        if not _refers(value):
            yield statement._replace(kwargs=statement.kwargs[:index] + statement.kwargs[index + 1 :])
    for index, argument in enumerate(statement.args):
        for smaller in _plainer(argument):
            yield statement._replace(args=(*statement.args[:index], smaller, *statement.args[index + 1 :]))
    for index, (name, value) in enumerate(statement.kwargs):
        for smaller in _plainer(value):
            yield statement._replace(
                kwargs=(*statement.kwargs[:index], (name, smaller), *statement.kwargs[index + 1 :])
            )


def plainness(statement: Statement) -> int:
    """About how many characters the arguments of the statement take; less is plainer."""
    return sum(map(_size, statement.args)) + sum(len(name) + 1 + _size(value) for name, value in statement.kwargs)


def _plainer(expression: Expression) -> Iterator[Expression]:
    """Smaller expressions of the same kind."""
    if isinstance(expression, Collection):
        yield from _plainer_container(expression)
    elif isinstance(expression, Literal):
        yield from _plainer_literal(expression.text)
    elif isinstance(expression, Lambda):
        yield from (Lambda(expression.arity, body) for body in _plainer(expression.body))


def _plainer_container(container: Collection) -> Iterator[Expression]:
    width = 2 if container.kind == "dict" else 1
    entries = [container.items[at : at + width] for at in range(0, len(container.items), width)]
    free = [not any(map(_refers, entry)) for entry in entries]

    def of(kept: list[tuple[Expression, ...]]) -> Collection:
        return Collection(container.kind, tuple(part for entry in kept for part in entry))

    if entries and all(free):
        yield of([])
        if len(entries) > 2:
            middle = len(entries) // 2
            yield of(entries[:middle])
            yield of(entries[middle:])
    if 1 < len(entries) <= MAX_SINGLE:
        for index in range(len(entries)):
            if free[index]:
                yield of(entries[:index] + entries[index + 1 :])
    if len(entries) <= MAX_SINGLE:
        for index, item in enumerate(container.items):
            for smaller in _plainer(item):
                yield Collection(container.kind, (*container.items[:index], smaller, *container.items[index + 1 :]))


def _plainer_literal(text: str) -> Iterator[Expression]:
    if text.startswith("float("):
        return
    value = ast.literal_eval(text)
    if isinstance(value, str | bytes):
        yield from (Literal(text) for text in map(repr, _parts(value)))
    elif isinstance(value, int) and not isinstance(value, bool):
        shorter = str(abs(value) // 10 * (1 if value > 0 else -1))
        yield from (Literal(small) for small in ("0", "1", "-1", shorter) if len(small) < len(text))
    elif isinstance(value, float):
        yield from (Literal(small) for small in ("0.0", "1.0", "-1.0", "0.5") if len(small) < len(text))


def _parts(text: str | bytes) -> Iterator[str | bytes]:
    """Nothing of a text, its halves, and a short one without one of its characters."""
    if text:
        yield text[:0]
    if len(text) > 1:
        middle = len(text) // 2
        yield text[:middle]
        yield text[middle:]
    if 1 < len(text) <= MAX_SINGLE:
        for index in range(len(text)):
            yield text[:0].join((text[:index], text[index + 1 :]))  # type: ignore[arg-type]  # both of one kind


def _refers(expression: Expression) -> bool:
    """The expression uses the result of an earlier statement."""
    if isinstance(expression, Collection):
        return any(map(_refers, expression.items))
    return isinstance(expression, Ref) or (isinstance(expression, Lambda) and _refers(expression.body))


def _size(expression: Expression) -> int:
    if isinstance(expression, Collection):
        return 2 + sum(_size(item) + 2 for item in expression.items)
    if isinstance(expression, Literal):
        return len(expression.text)
    if isinstance(expression, Lambda):
        return 8 + _size(expression.body)
    return len(expression.qualname) if isinstance(expression, Name) else 2
