"""Driving results: what has to be done with what a call returns so that the body behind it runs."""

from __future__ import annotations

import itertools
import types
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from fitgym.worker.steps import Results, Step

if TYPE_CHECKING:
    import asyncio

__all__ = ["MOST_ITEMS", "Driver"]

MOST_ITEMS = 100
"""How many items an iterator is asked for."""


class Driver:
    """Does with a result what is needed so that the body behind it runs.

    One event loop serves all test cases of a process; it is replaced when a test case leaves it in an odd state.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._finishes: dict[str, Callable[[Any], Any]] = {
            "iterate": _drained,
            "enter": _entered,
            "await": self._awaited,
            "aiterate": self._awaited_items,
            "aenter": self._awaited_context,
        }

    @property
    def codes(self) -> frozenset[types.CodeType]:
        """Its own code: what it calls is called by the test case itself."""
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
        """The call with its result driven."""
        finish = self._finishes[drive]

        def step(results: Results) -> Any:
            return finish(call(results))

        return step

    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop, made when it is needed first."""
        import asyncio  # takes 40 ms, and most subjects have no coroutines

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
        """End what the test case has left running."""
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
            self._replace(loop)  # a loop that has shut its generators down warns about new ones
        elif getattr(loop, "_scheduled", ()):
            self._replace(loop)

    def _discard_if_odd(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop.is_closed():
            self._loop = None

    def _replace(self, loop: asyncio.AbstractEventLoop) -> None:
        """A fresh loop in the place of one with a history; its descriptors are the same numbers again."""
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
