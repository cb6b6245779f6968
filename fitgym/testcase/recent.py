"""The last few different things, to choose from."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from fitgym.subject.patterns import Chance

__all__ = ["Recent"]

T = TypeVar("T", bound=Hashable)


class Recent(Generic[T]):
    """Different things in the order in which they were first added; the oldest is forgotten when there is no room.

    Args:
        size: how many there is room for.
    """

    __slots__ = ("_items", "_known", "_size")

    def __init__(self, size: int) -> None:
        self._size = size
        self._items: list[T] = []
        self._known: dict[T, None] = {}

    def __contains__(self, item: T) -> bool:
        return item in self._known

    def __len__(self) -> int:
        return len(self._items)

    def add(self, item: T) -> None:
        """Add it; nothing changes if it is there already."""
        if item in self._known:
            return
        self._known[item] = None
        self._items.append(item)
        if len(self._items) > self._size:
            del self._known[self._items.pop(0)]

    def draw(self, rng: Chance) -> T | None:
        """One of them, each with the same probability; None if there is none."""
        items = self._items
        return items[int(rng.random() * len(items))] if items else None
