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
"""Where a text is cut. In a test case whose statements all use the result before them twice they double each time; and
comparing long texts, of which the search would make ever more, takes time in proportion to both lengths."""

_NUMBERS = frozenset(("int", "float", "complex"))


def texts(statements: Sequence[Statement], subject: Subject) -> tuple[str, ...]:
    """The text of each statement: what is called, with what; `match('>1')` for `version.match('>1')`.

    Constants are as they are written in Python. A variable among the arguments is replaced by the text of the statement
    that defined it, so what two variables are called, and how far from its use one is defined, makes no difference. The
    object of a method is left out: the statement that defined it has a text of its own. Operators are written as the
    methods that they call, attributes by their name.
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
    """What the released code has of a test case: the last number in it, if there is one, and its last statement."""
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
    """The numbers that are written in an expression, from left to right."""
    if isinstance(expression, Literal) and kind_of_text(expression.text) in _NUMBERS:
        yield expression.text
    elif isinstance(expression, Collection):
        for item in expression.items:
            yield from _numbers(item)
    elif isinstance(expression, Lambda):
        yield from _numbers(expression.body)
