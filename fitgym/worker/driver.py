"""Driving: awaits, iterates or enters the result of a call so that the body behind it runs, or takes an item of it."""

from __future__ import annotations

import itertools
import operator
import types
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from fitgym.worker.steps import Results, Step

if TYPE_CHECKING:
    import asyncio

__all__ = ["MOST_ITEMS", "Driver"]

MOST_ITEMS = 100
"""Maximal number of items taken from an iterator."""


class Driver:
    """Consumes results: awaits coroutines, iterates generators, enters context managers, takes first items.

    All test cases of a process share one event loop. It is replaced if a test case leaves tasks or timers behind.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._finishes: dict[str, Callable[[Any], Any]] = {
            "iterate": _drained,
            "enter": _entered,
            "first": operator.itemgetter(0),
            "await": self._awaited,
            "aiterate": self._awaited_items,
            "aenter": self._awaited_context,
        }

    @property
    def codes(self) -> frozenset[types.CodeType]:
        """Code objects of the driver. Calls made from them count as calls by the test case."""
        return frozenset(
            (
                self.driving(_nothing, "iterate").__code__,
                _drained.__code__,
                _entered.__code__,
                Driver._awaited.__code__,
                Driver._awaited_items.__code__,
                Driver._awaited_context.__code__,
            )
        )

    def driving(self, call: Step, drive: str) -> Step:
        """Return a step that makes the call and drives its result."""
        finish = self._finishes[drive]

        def step(results: Results) -> Any:
            return finish(call(results))

        return step

    def loop(self) -> asyncio.AbstractEventLoop:
        """Return the event loop. Creates it on first use."""
        import asyncio  # the import takes 40 ms, and most subjects have no coroutines

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        return self._loop

    def _awaited(self, value: Any) -> Any:
        return self._complete(_await(value))

    def _awaited_items(self, value: Any) -> Any:
        return self._complete(_collect(value))

    def _awaited_context(self, value: Any) -> Any:
        return self._complete(_enter(value))

    def _complete(self, work: Awaitable[Any]) -> Any:
        loop = self.loop()
        try:
            return loop.run_until_complete(work)
        except BaseException:
            self._discard_if_odd(loop)
            raise
        finally:
            self._cancel(loop)

    def _cancel(self, loop: asyncio.AbstractEventLoop) -> None:
        """Cancel the tasks and generators that the test case left running."""
        import asyncio

        if loop.is_closed() or loop.is_running():
            return
        tasks = asyncio.all_tasks(loop)
        if tasks:
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        generators: Any = getattr(loop, "_asyncgens", ())
        if generators:
            loop.run_until_complete(loop.shutdown_asyncgens())
            self._replace(loop)  # a loop that has shut down its generators warns about new ones
        elif getattr(loop, "_scheduled", ()):
            self._replace(loop)

    def _discard_if_odd(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop.is_closed():
            self._loop = None

    def _replace(self, loop: asyncio.AbstractEventLoop) -> None:
        """Replace a used loop with a fresh one. Its descriptors get the same numbers."""
        loop.close()
        self._loop = None
        self.loop()


def _nothing(results: Results) -> None:
    pass


def _drained(value: Any) -> Any:
    return list(itertools.islice(value, MOST_ITEMS))


def _entered(value: Any) -> Any:
    with value as entered:
        return entered


async def _await(value: Awaitable[Any]) -> Any:
    return await value


async def _collect(value: Any) -> list[Any]:
    items: list[Any] = []
    async for item in value:
        items.append(item)
        if len(items) == MOST_ITEMS:
            break
    return items


async def _enter(value: Any) -> Any:
    async with value as entered:
        return entered
