"""Immutable values: classes whose instances are shared by deep copies, and dictionaries of such values."""

from __future__ import annotations

from typing import Any, Self, TypeVar

__all__ = ["Lookup", "immutable"]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


def immutable(cls: type[T]) -> type[T]:
    """Class decorator: make `copy.deepcopy` return the object itself.

    Use it for values without mutable state: descriptions of the subject, statements, traces. An environment consists
    mostly of such values. Without the decorator, copying them would be most of the cost of forking it.

    Args:
        cls: a frozen dataclass or a named tuple.
    """
    cls.__deepcopy__ = _itself  # type: ignore[attr-defined]
    return cls


def _itself(value: T, memo: dict[int, Any]) -> T:
    return value


class Lookup(dict[K, V]):
    """A dictionary with immutable keys and values: a deep copy is a new dictionary that shares them."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)(self)
