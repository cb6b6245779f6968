"""A pool of workers: the workers of the last few subjects stay alive, so that returning to one needs no import."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Self

from fitgym.execution.executor import Executor
from fitgym.execution.launch import ForkServer

__all__ = ["Pool"]


class Pool:
    """A cache of at most `most` executors by subject; it closes the least recently used one.

    A copy of a pool is empty, because a process can belong to one pool only.

    Args:
        most: the maximum number of executors that stay open.

    Attributes:
        server: may start the workers.
    """

    def __init__(self, most: int = 8) -> None:
        self.most = most
        self.server = ForkServer()
        self._kept: OrderedDict[Hashable, Executor] = OrderedDict()

    def take(self, key: Hashable, make: Callable[[], Executor]) -> Executor:
        """Return the executor of a subject; make it if there is none."""
        if key not in self._kept:
            self._kept[key] = make()
        self._kept.move_to_end(key)
        while len(self._kept) > self.most:
            self._kept.popitem(last=False)[1].close()
        return self._kept[key]

    def close(self) -> None:
        """Close all executors, and the fork server."""
        while self._kept:
            self._kept.popitem()[1].close()
        self.server.close()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)(self.most)

    def __reduce__(self) -> tuple[type[Self], tuple[int]]:
        return type(self), (self.most,)
