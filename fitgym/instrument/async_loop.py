"""The wrapper that replaces the iterable of an `async for`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["AsyncLoop"]


class AsyncLoop:
    """An asynchronous iterator that reports whether it had a first element."""

    __slots__ = ("_iterator", "_outcome", "_source")

    def __init__(self, source: Any, outcome: Callable[[bool], None]) -> None:
        self._source = source
        self._outcome: Callable[[bool], None] | None = outcome
        self._iterator: Any = None

    def __aiter__(self) -> AsyncLoop:
        self._iterator = type(self._source).__aiter__(self._source)
        if not hasattr(type(self._iterator), "__anext__"):
            raise TypeError(
                "'async for' received an object from __aiter__ that does not implement __anext__: "
                f"{type(self._iterator).__name__}"
            )
        return self

    def __anext__(self) -> Any:
        step = type(self._iterator).__anext__(self._iterator)
        outcome, self._outcome = self._outcome, None
        return step if outcome is None else self._first(step, outcome)

    async def _first(self, step: Any, outcome: Callable[[bool], None]) -> Any:
        try:
            item = await step
        except StopAsyncIteration:
            outcome(False)
            raise
        outcome(True)
        return item
