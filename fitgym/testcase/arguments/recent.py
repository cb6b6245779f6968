"""The last few different things, to choose from."""

from __future__ import annotations

from typing import Generic, TypeVar

from fitgym.subject.code.patterns import Chance

__all__ = ["Recent"]

K = TypeVar("K")
T = TypeVar("T")


class Recent(Generic[K, T]):
    """Things with different keys in the order in which they were added; the oldest is forgotten when there is no room.

    Args:
        size: how many there is room for.
    """

    __slots__ = ("_items", "_keys", "_size")

    def __init__(self, size: int) -> None:
        self._size = size
        self._items: list[T] = []
        self._keys: dict[K, None] = {}

    def __contains__(self, key: K) -> bool:
        return key in self._keys

    def __len__(self) -> int:
        return len(self._items)

    def add(self, key: K, item: T) -> None:
        """Add it; nothing changes if the key is there already."""
        if key in self._keys:
            return
        self._keys[key] = None
        self._items.append(item)
        if len(self._items) > self._size:
            del self._keys[next(iter(self._keys))], self._items[0]

    def draw(self, rng: Chance) -> T | None:
        """One of them, each with the same probability; None if there is none."""
        items = self._items
        return items[int(rng.random() * len(items))] if items else None
