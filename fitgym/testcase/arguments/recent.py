"""The most recent distinct items, to draw from."""

from __future__ import annotations

from typing import Generic, TypeVar

from fitgym.chance import Chance

__all__ = ["Recent"]

K = TypeVar("K")
T = TypeVar("T")


class Recent(Generic[K, T]):
    """Items with distinct keys in the order of addition; a full list drops the oldest.

    Args:
        size: maximum number of items.
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
        """Add an item; nothing changes if the key exists."""
        if key in self._keys:
            return
        self._keys[key] = None
        self._items.append(item)
        if len(self._items) > self._size:
            del self._keys[next(iter(self._keys))], self._items[0]

    def draw(self, rng: Chance) -> T | None:
        """Draw an item, each with the same probability; None if there is none."""
        items = self._items
        return items[int(rng.random() * len(items))] if items else None
