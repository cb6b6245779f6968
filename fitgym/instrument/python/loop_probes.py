"""Probes of loops: record whether a `for` has an iteration, without an extra call of the subject's code."""

from __future__ import annotations

import operator
from builtins import id
from collections.abc import Callable, Iterator
from itertools import chain, islice, repeat
from typing import Any

from fitgym.instrument import distance
from fitgym.instrument.async_loop import AsyncLoop
from fitgym.instrument.python.probe_pair import Pair, unless_direct
from fitgym.instrument.relations import FAR
from fitgym.instrument.tally import Tally
from fitgym.subject.subject import Site

__all__ = ["loop_probes"]

# By id, because a metaclass may define `__eq__` and `__hash__`.
_VIEWS: tuple[Any, ...] = ({}.keys(), {}.values(), {}.items())
_SIZED = frozenset(map(id, (list, tuple, dict, set, frozenset, str, bytes, bytearray, range, *map(type, _VIEWS))))
# Built-in iterators whose `__length_hint__` is exact.
_COUNTED = frozenset(id(type(iter(each))) for each in ([], (), "", b"", range(0), set(), reversed([]), *_VIEWS))
# Read from `type`, because a metaclass may override attribute access. Classes written in Python have this flag.
_flags: Callable[[type], int] = type.__dict__["__flags__"].__get__
_HEAP_TYPE = 1 << 9


def loop_probes(tally: Tally, site: Site) -> Pair:
    """Return the probes of a `for`: distances to an iteration and to none. They return the iterable or iterator."""
    number, counts, distances, detail = site.id, tally.counts, tally.distances, tally.detail
    yes, no = site.slot, site.slot + 1
    of, size, array, pair, numbers, identity = type, len, list, tuple, range, id
    sized = _SIZED

    def quick(iterable: Any) -> Any:
        kind = of(iterable)
        if kind is array or kind is pair or identity(kind) in sized:
            counts[number] += 1
            elements = size(iterable) if kind is not numbers else distance.size(iterable)
            if elements:
                distances[yes] = 0.0
                if elements < distances[no]:
                    distances[no] = elements
            else:
                distances[no] = 0.0
                if distances[yes] > 1.0:
                    distances[yes] = 1.0
            return iterable
        return thorough(iterable)

    def outcome(entered: bool, elements: float = 1.0) -> None:
        if tally.direct:
            detail(number, (0.0, elements) if entered else (1.0, 0.0))
        elif entered:
            distances[yes] = 0.0
            if elements < distances[no]:
                distances[no] = elements
        else:
            distances[no] = 0.0
            if distances[yes] > 1.0:
                distances[yes] = 1.0

    def thorough(iterable: Any) -> Any:
        counts[number] += 1
        if id(type(iterable)) in sized:
            elements = distance.size(iterable)
            outcome(elements > 0.0, elements)
            return iterable
        if distances[yes] > FAR:  # in case it raises before its first element
            distances[yes] = distances[no] = FAR
        iterator: Iterator[Any] = iter(iterable)
        if _has_more(iterator):
            outcome(True)
            return iterator
        # `iter(iterator)` may run code of the program, but not for a C class.
        again = map(next, repeat(iterator)) if _flags(type(iterator)) & _HEAP_TYPE else iterator
        return chain.from_iterable(stages(again))

    def stages(iterator: Iterator[Any]) -> Iterator[Iterator[Any]]:
        """Yield the iterator for one element, then for the rest, so that the loop is always its direct caller."""
        entered = False

        def note(first: Any) -> Any:
            nonlocal entered
            entered = True
            outcome(True)
            return first

        yield map(note, islice(iterator, 1))
        if entered:
            yield iterator
        else:
            outcome(False)

    def asynchronous(iterable: Any) -> Any:
        counts[number] += 1
        if distances[yes] > FAR:
            distances[yes] = distances[no] = FAR
        if not hasattr(type(iterable), "__aiter__"):
            return iterable  # the loop itself raises the error
        return AsyncLoop(iterable, outcome)

    if site.operator == "async for":
        return asynchronous, asynchronous
    return quick, unless_direct(tally, site, quick, thorough)


def _has_more(iterator: Iterator[Any]) -> bool:
    """Return True if the iterator is known to have another element, without reading it."""
    sources = _sources(iterator)
    return bool(sources) and len(set(map(id, sources))) == len(sources) and all(map(operator.length_hint, sources))


def _sources(iterator: Any) -> list[Any]:
    """Return the counted iterators below an iterator; empty if it also reads other iterators."""
    kind = type(iterator)
    if id(kind) in _COUNTED:
        return [iterator]
    if kind is not enumerate and kind is not zip:
        return []
    read = iterator.__reduce__()[1]
    parts = [_sources(part) for part in (read if kind is zip else read[:1])]
    return [source for part in parts for source in part] if all(parts) else []
