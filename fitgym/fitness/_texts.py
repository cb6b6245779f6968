"""Texts: the statements of a test case as expressions without variables, to compare them as strings."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from fitgym.subject.subject import Subject
from fitgym.testcase.constants import kind_of_text
from fitgym.testcase.expression import Collection, Expression, Lambda, Literal, Name, Ref
from fitgym.testcase.statement import Statement

__all__ = ["LONGEST", "last_two", "texts"]

LONGEST = 128
"""The length at which texts are cut. If every statement uses the result before it twice, the text doubles each time.

Comparing two texts takes time in proportion to both lengths, so without a limit the search would become slower and
slower.
"""

_NUMBERS = frozenset(("int", "float", "complex"))


def texts(statements: Sequence[Statement], subject: Subject) -> tuple[str, ...]:
    """Return the text of each statement: the operation and its arguments; `match('>1')` for `version.match('>1')`.

    Constants are written as in Python. The text of a variable is the text of the statement that defined it. So neither
    the name of a variable nor the position of its definition makes a difference. The receiver of a method is left out,
    because the statement that defined it has its own text. Operators are written as the methods that they call,
    attributes by their name.
    """
    found: list[str] = []
    for statement in statements:
        args = [_written(argument, found) for argument in statement.args]
        args += [f"{name}={_written(argument, found)}" for name, argument in statement.kwargs]
        operation = subject.operations[statement.operation]
        name = operation.name.rpartition(".")[2] if operation.needs_receiver else operation.name
        text = name if operation.kind == "property" else f"{name}({', '.join(args)})"
        found.append(sys.intern(text[:LONGEST]))
    return tuple(found)


def last_two(statements: Sequence[Statement], subject: Subject) -> tuple[str, ...]:
    """Return what the released code reads of a test case: its last number, if there is one, and its last statement."""
    arguments = [a for s in statements for a in (*s.args, *(value for _, value in s.kwargs))]
    numbers = [number for argument in arguments for number in _numbers(argument)]
    return (*numbers[-1:], *texts(statements, subject)[-1:])


def _written(expression: Expression, variables: Sequence[str]) -> str:
    match expression:
        case Literal(text):
            return text
        case Ref(position):
            return variables[position] if position >= 0 else f"x{-1 - position}"
        case Name(_, qualname):
            return qualname
        case Lambda(_, body):
            return f"lambda: {_written(body, variables)}"
        case Collection(kind, items):
            return f"{kind}({', '.join([_written(item, variables) for item in items])})"


def _numbers(expression: Expression) -> Iterator[str]:
    """Yield the numbers written in an expression, from left to right."""
    if isinstance(expression, Literal) and kind_of_text(expression.text) in _NUMBERS:
        yield expression.text
    elif isinstance(expression, Collection):
        for item in expression.items:
            yield from _numbers(item)
    elif isinstance(expression, Lambda):
        yield from _numbers(expression.body)
