"""Conversions: the results of built-in functions applied to container displays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from fitgym.testcase.constants import kind_of_text
from fitgym.testcase.distinct import distinct
from fitgym.testcase.expression import Collection, CollectionKind, Expression, Literal

__all__ = ["converted"]

_MOST_ITEMS = 100

_KINDS: Mapping[str, CollectionKind] = MappingProxyType(
    {"list": "list", "tuple": "tuple", "set": "set", "frozenset": "frozenset", "iter": "iter", "sorted": "list"}
)


def converted(name: str, args: Sequence[Expression]) -> Expression | None:
    """Return the result of a call of a built-in function, None if it cannot be written as an expression.

    Args:
        name: `list`, `tuple`, `set`, `frozenset`, `iter`, `sorted`, `dict`, `range`, `zip` or `enumerate`; any other
            function gives None.
        args: its arguments.
    """
    if name == "range":
        numbers = [int(one.text) for one in args if isinstance(one, Literal) and kind_of_text(one.text) == "int"]
        if len(numbers) < len(args) or not 1 <= len(numbers) <= 3 or (len(numbers) == 3 and numbers[2] == 0):
            return None
        found = range(*numbers)
        if abs(found.stop - found.start) > 10**6 or len(found) > _MOST_ITEMS:
            return None
        return Collection("list", tuple([Literal(str(number)) for number in found]))
    several = [one.items for one in args if isinstance(one, Collection) and one.kind != "dict"]
    if not several or len(several) < len(args):
        return args[0] if name == "dict" and len(args) == 1 and isinstance(args[0], Collection) else None
    if name == "zip":
        return Collection("list", tuple([Collection("tuple", row) for row in zip(*several, strict=False)]))
    if len(several) > 1:
        return None
    if name == "enumerate":
        rows = [(Literal(str(place)), item) for place, item in enumerate(several[0])]
        return Collection("list", tuple([Collection("tuple", row) for row in rows]))
    if name == "dict":
        pairs = [one.items for one in several[0] if isinstance(one, Collection) and len(one.items) == 2]
        if len(pairs) < len(several[0]) or len(distinct([pair[0] for pair in pairs])) < len(pairs):
            return None
        return Collection("dict", tuple([part for pair in pairs for part in pair]))
    kind = _KINDS.get(name)
    if kind is None:
        return None
    return Collection(kind, tuple(distinct(several[0])) if kind in ("set", "frozenset") else several[0])
