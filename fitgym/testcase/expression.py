"""Expressions: the arguments of a statement, as immutable data.

An expression is one of five small classes. It refers to results of earlier statements of its test case by position. A
test case is therefore self-contained: it can be run or written as Python without further data. All five classes are
named tuples, whose hash and comparison run in C, because every statement of every new test case is looked up in a
table. No two of them have the same field types, so expressions of different classes are never equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal as OneOf
from typing import NamedTuple

from fitgym.immutable import immutable

__all__ = ["Collection", "CollectionKind", "Expression", "Lambda", "Literal", "Name", "Ref", "map_refs", "refs"]

CollectionKind = OneOf["list", "tuple", "set", "frozenset", "dict", "iter"]


@immutable
class Literal(NamedTuple):
    """A constant, as Python source text: so 1, 1.0, True and -0.0, 0.0 are distinct constants.

    Attributes:
        text: an expression without names that evaluates to None, bool, int, float, complex, str, bytes or Ellipsis. The
            only calls are `float("nan")`, `float("inf")` and `float("-inf")`.
    """

    text: str


@immutable
class Ref(NamedTuple):
    """The result of the statement at `position` (from 0) of the same test case."""

    position: int


@immutable
class Collection(NamedTuple):
    """A container that every execution builds anew.

    Attributes:
        kind: for `dict`, `items` alternates keys and values; `iter` is an iterator over the list of `items`.
        items: the elements.
    """

    kind: CollectionKind
    items: tuple[Expression, ...]


@immutable
class Name(NamedTuple):
    """An importable object: a class, an enum member, a function, an object at module level.

    Attributes:
        module: where it is imported from; "builtins" needs no import.
        qualname: dotted path inside the module.
    """

    module: str
    qualname: str


@immutable
class Lambda(NamedTuple):
    """A small function as an argument.

    Attributes:
        arity: number of positional parameters, -1 for any (`*args`).
        body: a constant result, or `Ref(-1 - k)` for the k-th parameter.
    """

    arity: int
    body: Expression


Expression = Literal | Ref | Collection | Name | Lambda


def refs(expression: Expression) -> tuple[int, ...]:
    """Return the positions of the earlier statements that the expression uses, from left to right."""
    if type(expression) is Ref:
        return (expression.position,) if expression.position >= 0 else ()
    if type(expression) is Collection:
        found: tuple[int, ...] = ()
        for item in expression.items:
            if type(item) is not Literal:
                found += refs(item)
        return found
    return refs(expression.body) if type(expression) is Lambda else ()


def map_refs(expression: Expression, position: Mapping[int, int]) -> Expression:
    """Return the same expression with every reference `i` replaced by `position[i]`.

    Raises:
        KeyError: it refers to a statement without a new position.
    """
    if isinstance(expression, Ref):
        return Ref(position[expression.position]) if expression.position >= 0 else expression
    if isinstance(expression, Collection):
        return Collection(expression.kind, tuple([map_refs(item, position) for item in expression.items]))
    if isinstance(expression, Lambda):
        return Lambda(expression.arity, map_refs(expression.body, position))
    return expression
