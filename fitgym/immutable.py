"""Immutable values: what never changes, so that a copy of it is itself."""

from __future__ import annotations

from typing import Any, TypeVar

__all__ = ["immutable"]

T = TypeVar("T")


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
