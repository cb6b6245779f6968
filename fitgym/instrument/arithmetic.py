"""Arithmetic: what the operators do, and augmented assignments to places."""

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
"""What the operators do."""

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
"""What they do in an augmented assignment."""


# `container[index] += value` as `with_item(probe)(item(container, index), value)`, and the same with an attribute: the
# container and the index are evaluated once, and the old value is read before the right side is evaluated.

Place = tuple[Any, Any, Any]


def item(container: Any, index: Any) -> Place:
    """A place in a container, and what is there."""
    return container, index, container[index]


def attribute(owner: Any, name: str) -> Place:
    """An attribute, and what it is."""
    return owner, name, getattr(owner, name)


def with_item(probe: Callable[[Any, Any], Any]) -> Callable[[Place, Any], None]:
    """The probe of an augmented assignment that also stores what comes out, in a container."""

    def store(place: Place, value: Any) -> None:
        container, index, old = place
        container[index] = probe(old, value)

    return store


def with_attribute(probe: Callable[[Any, Any], Any]) -> Callable[[Place, Any], None]:
    """The probe of an augmented assignment that also stores what comes out, as an attribute."""

    def store(place: Place, value: Any) -> None:
        owner, name, old = place
        setattr(owner, name, probe(old, value))

    return store
