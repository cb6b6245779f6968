"""Arithmetic: functions of the operators, and augmented assignments to items and attributes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

__all__ = [
    "APPLY",
    "IN_PLACE",
    "attribute",
    "item",
    "with_attribute",
    "with_item",
]

APPLY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
"""Functions of the binary operators."""

IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "**": operator.ipow,
    "&": operator.iand,
    "|": operator.ior,
    "^": operator.ixor,
    "<<": operator.ilshift,
    ">>": operator.irshift,
}
"""Functions of the operators in augmented assignments."""


# `container[index] += value` becomes `with_item(probe)(item(container, index), value)`, and likewise for an attribute.
# So the container and the index are evaluated once, and the old value is read before the right side is evaluated.

Place = tuple[Any, Any, Any]


def item(container: Any, index: Any) -> Place:
    """Return a container, an index and the item there."""
    return container, index, container[index]


def attribute(owner: Any, name: str) -> Place:
    """Return an owner, an attribute name and the attribute's value."""
    return owner, name, getattr(owner, name)


def with_item(probe: Callable[[Any, Any], Any]) -> Callable[[Place, Any], None]:
    """Return a probe of an augmented assignment that also stores the result in a container."""

    def store(place: Place, value: Any) -> None:
        container, index, old = place
        container[index] = probe(old, value)

    return store


def with_attribute(probe: Callable[[Any, Any], Any]) -> Callable[[Place, Any], None]:
    """Return a probe of an augmented assignment that also stores the result as an attribute."""

    def store(place: Place, value: Any) -> None:
        owner, name, old = place
        setattr(owner, name, probe(old, value))

    return store
