"""Immutable values: what never changes, so that a copy of it is itself, and dictionaries of nothing else."""

from __future__ import annotations

from typing import Any, Self, TypeVar

__all__ = ["Lookup", "immutable"]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


def immutable(cls: type[T]) -> type[T]:
    """Class decorator: `copy.deepcopy` gives back the object itself.

    For values that hold nothing that changes: descriptions of the subject, statements, traces. They are most of what an
    environment holds, and copied one by one they are most of what a fork of it costs.

    Args:
        cls: a frozen dataclass or a named tuple.
    """
    cls.__deepcopy__ = _itself  # type: ignore[attr-defined]
    return cls


def _itself(value: T, memo: dict[int, Any]) -> T:
    return value


class Lookup(dict[K, V]):
    """A dictionary whose keys and values never change: a deep copy of it is a dictionary with the very same ones."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)(self)
