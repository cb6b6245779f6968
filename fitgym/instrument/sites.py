"""The probes in pure Python: what the constants in instrumented code do when they are called.

A probe is a closure over the lists of one `Sites`; a call costs about as much as a call of any small function. Two ints
are measured in place, everything else goes through `distance`. When more than counts and distances is wanted (direct
visits, operands), every probe takes a longer way.

The counts tell what was burnt (see `OutOfFuel`), so no second counter is kept.
"""

from __future__ import annotations

import operator
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, compress, islice, repeat
from typing import Any

from fitgym.instrument import distance
from fitgym.instrument.arithmetic import APPLY, IN_PLACE
from fitgym.instrument.async_loop import AsyncLoop
from fitgym.instrument.factory import Listener, OutOfFuel, Probe
from fitgym.instrument.trace import Reached
from fitgym.instrument.transformer import GUARD_DECIDED, MATCHED
from fitgym.subject.subject import Site

__all__ = ["Sites"]

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda left, right: left in right,
    "not in": lambda left, right: left not in right,
    "is": operator.is_,
    "is not": operator.is_not,
}

# By identity, because a metaclass may define `__eq__` and `__hash__`.
_VIEWS: tuple[Any, ...] = ({}.keys(), {}.values(), {}.items())
_SIZED = frozenset(map(id, (list, tuple, dict, set, frozenset, str, bytes, bytearray, range, *map(type, _VIEWS))))
# Iterators whose first element may be taken early: they run no code of the program that could look at its callers.
_PLAIN_ITERATORS = frozenset(id(type(iter(container))) for container in ([], (), "", b"", range(0), set(), *_VIEWS))
# Read past the metaclass. Classes that are written in Python have the flag.
_flags: Callable[[type], int] = type.__dict__["__flags__"].__get__
_HEAP_TYPE = 1 << 9
# How a function was called so far: by the runner only, by others only, both; or it is a generator or coroutine.
_UNKNOWN, _DIRECT, _INDIRECT, _RESUMABLE = 0, 1, 2, 4

# The least distance between different strings: one character that is the neighbour of the right one.
_LEAST = 0.5

# Reached, but an exception came instead of an outcome, or an object that is neither true nor false.
_NO_OUTCOME = (distance.FAR, distance.FAR, distance.FAR)
_MOST_COUNTED = (1 << 32) - 1


class Sites:
    """The factory of probes in Python, see `Factory`."""

    def __init__(self, sites: Sequence[Site], listener: Listener, fuel: int) -> None:
        self.sites = tuple(sites)
        self.fuel = fuel
        self.direct = False
        self.collect = False
        self.spent = False
        self.limit = (
            0  # a burning block that was counted as often leaves the short way; -1 where there is only a long one
        )
        self._site_of_slot = [site.id for site in self.sites for _ in range(site.width)]
        self._zeros = [0] * len(self.sites)
        self._unreached = [float("inf")] * len(self._site_of_slot)
        self.counts: list[int] = self._zeros[:]
        self.distances: list[float] = self._unreached[:]
        self.direct_counts: list[int] = self._zeros[:]
        self.direct_distances: list[float] = self._unreached[:]
        # What every test case starts with, see `settle`.
        self.no_counts = self._zeros[:]
        self._no_distances = self._unreached
        burning = [site.id for site in self.sites if site.burns]
        self._burning: Callable[[list[int]], Sequence[int]] = (
            operator.itemgetter(*burning) if len(burning) > 1 else lambda counts: [counts[site] for site in burning]
        )
        self._burnt_before = 0
        # For each comparison site the nearest pair of ints on either side so far: most visits are no nearer.
        self._no_nearest: list[float] = [float("-inf"), float("inf")] * len(self.sites)
        self.nearest: list[float] = self._no_nearest[:]
        self.make, self._restart, self._spend = _maker(self, listener)
        self._restart(False)

    def begin(self, fuel: int, direct: bool, collect: bool) -> None:
        self.counts[:] = self.no_counts
        self.distances[:] = self._no_distances
        self.nearest[:] = self._no_nearest
        if self.direct:
            self.direct_counts[:] = self._zeros
            self.direct_distances[:] = self._unreached
        self.fuel = fuel
        self.direct = direct
        self.collect = collect
        self.spent = False
        self._restart(direct or collect)

    def settle(self) -> None:
        self._burnt_before += self.burnt
        self.no_counts[:] = self.counts
        self._no_distances = self.distances[:]

    @property
    def burnt(self) -> int:
        return sum(self._burning(self.counts)) - self._burnt_before

    @property
    def fuel_left(self) -> int:
        return -1 if self.spent else self.fuel - self.burnt

    def count(self, site_id: int) -> int:
        return self.counts[site_id]

    def snapshot(self) -> tuple[Reached, Reached | None]:
        direct = self._reached(self.direct_counts, self.direct_distances) if self.direct else None
        return self._reached(self.counts, self.distances), direct

    def _reached(self, counts: list[int], distances: list[float]) -> Reached:
        sites = array("I", compress(range(len(counts)), counts))
        found = _floats(compress(distances, map(counts.__getitem__, self._site_of_slot)))
        return (
            sites.tobytes(),
            array("I", [min(counts[site], _MOST_COUNTED) for site in sites]).tobytes(),
            found.tobytes(),
        )

    def interrupt(self) -> None:
        self.spent = True
        self._spend()


def _floats(values: Iterable[float]) -> array[float]:
    """Integers wider than a float and infinite differences become the largest finite distance."""
    values = list(values)
    try:
        return array("d", values)
    except OverflowError:
        return array("d", map(distance.finite, values))


def _maker(
    owner: Sites, listener: Listener
) -> tuple[Callable[[Site], Probe], Callable[[bool], None], Callable[[], None]]:
    """Everything that probes share lives in the cells of this function, the fastest place there is.

    Returns: the maker of probes; how to begin a test case, in detail or not; how to make the next block raise.
    """
    counts = owner.counts
    settled = owner.no_counts
    distances = owner.distances
    nearest = owner.nearest
    step = 0
    check_at = 0  # a burning block that was visited more often than this adds up what was burnt
    detailed = False
    direct = False
    guard_failed = False
    direct_counts = owner.direct_counts
    direct_distances = owner.direct_distances
    # How the running calls of each function were made. Looking at frames is expensive, so it is done once for each call,
    # and at every probe only in functions that were called both ways or can be resumed by others.
    ways = [_UNKNOWN] * (max((site.function for site in owner.sites), default=-1) + 1)
    unknown = ways[:]
    entries: dict[int, int] = {}
    for first in owner.sites:
        entries.setdefault(first.function, first.id)
    function_of = [site.function for site in owner.sites]
    is_direct = listener.is_direct

    def restart(in_detail: bool) -> None:
        nonlocal step, check_at, detailed, direct, guard_failed
        detailed = in_detail
        direct = owner.direct
        ways[:] = unknown
        guard_failed = False
        step = owner.fuel // 16 + 1
        check_at = step
        owner.limit = -1 if detailed else check_at

    def spend() -> None:
        nonlocal check_at
        check_at = owner.limit = -1

    def check(visits: int) -> None:
        """Some burning block was visited so often since `begin`: is there fuel left?"""
        nonlocal check_at
        if owner.fuel_left < 0:
            owner.spent = True
            spend()
            raise OutOfFuel
        check_at = max(check_at, visits) + step
        if not detailed:
            owner.limit = check_at

    def beyond(number: int, count: int) -> None:
        """The longer way of a burning block."""
        if count - settled[number] > check_at:
            check(count - settled[number])
        if direct:
            function = function_of[number]
            if entries[function] == number:
                ways[function] |= way()
            detail(number, 0, ())

    def way() -> int:
        """How the subject's function that runs now was called."""
        if listener.is_resumable():
            return _RESUMABLE
        return _DIRECT if is_direct() else _INDIRECT

    def detail(number: int, slot: int, found: Sequence[float]) -> None:
        """Merge distances into the recorded ones and, if the visit was direct, count it and merge them there as well."""
        at = slot
        for value in found:
            if value < distances[at]:
                distances[at] = value
            at += 1
        if direct:
            way = ways[function_of[number]]
            if way == _DIRECT or (way != _INDIRECT and is_direct()):
                direct_counts[number] += 1
                for value in found:
                    if value < direct_distances[slot]:
                        direct_distances[slot] = value
                    slot += 1

    def block(site: Site) -> Probe:
        number = site.id

        def burning() -> None:
            counts[number] = count = counts[number] + 1
            if count > owner.limit:
                beyond(number, count)

        def catching() -> None:
            counts[number] += 1
            listener.stopped(sys.exc_info()[2])
            if direct:
                detail(number, 0, ())

        def probe() -> None:
            counts[number] += 1
            if direct:
                detail(number, 0, ())

        return burning if site.burns else catching if site.catches else probe

    def comparison(site: Site) -> Probe:
        number = site.id
        sign = site.operator
        compare = _OPERATORS[sign]
        less = site.slot
        same = less + 1
        more = less + 2
        below = 2 * number
        above = below + 1
        on_less, on_same, on_more = compare(0, 1), compare(0, 0), compare(1, 0)
        decides = site.decides
        passes = site.passes
        compared = distance.compared
        text = distance.text

        def probe(left: Any, right: Any) -> Any:
            if type(left) is int and type(right) is int and not detailed:
                counts[number] += 1
                gap = left - right
                if gap < 0:
                    if gap > nearest[below]:
                        nearest[below] = gap
                        distances[less] = 0.0
                        if -gap < distances[same]:
                            distances[same] = -gap
                        if 1 - gap < distances[more]:
                            distances[more] = 1 - gap
                    return on_less
                if gap:
                    if gap < nearest[above]:
                        nearest[above] = gap
                        distances[more] = 0.0
                        if gap < distances[same]:
                            distances[same] = gap
                        if gap + 1 < distances[less]:
                            distances[less] = gap + 1
                    return on_more
                if distances[same]:
                    distances[same] = 0.0
                    if distances[less] > 1.0:
                        distances[less] = 1.0
                    if distances[more] > 1.0:
                        distances[more] = 1.0
                return on_same
            return longer(left, right)

        def longer(left: Any, right: Any) -> Any:
            counts[number] += 1
            try:
                result = compare(left, right)
                if result is True or result is False:
                    truth = result
                elif decides:
                    truth = bool(result)
                    if not passes:
                        result = truth
                else:  # an array, an expression, a symbol: it has no truth of its own
                    detail(number, less, _NO_OUTCOME)
                    return result
            except BaseException:
                detail(number, less, _NO_OUTCOME)
                raise
            if detailed and owner.collect:
                listener.keep(left)
                listener.keep(right)
            if detailed or distances[less] or distances[same] or distances[more]:
                kind = type(left)
                if kind is str and type(right) is str:
                    lt, eq, gt = text(left, right)
                elif kind is int and type(right) is int:
                    gap = left - right
                    if gap < 0:
                        lt, eq, gt = 0.0, -gap, 1 - gap
                    elif gap:
                        lt, eq, gt = gap + 1, gap, 0.0
                    else:
                        lt, eq, gt = 1.0, 0.0, 1.0
                else:
                    lt, eq, gt = compared(sign, left, right, truth)
                if detailed:
                    detail(number, less, (lt, eq, gt))
                    return result
                if lt < distances[less]:
                    distances[less] = lt
                if eq < distances[same]:
                    distances[same] = eq
                if gt < distances[more]:
                    distances[more] = gt
            return result

        return probe

    def membership(site: Site) -> Probe:
        return identity(site) if site.operator.startswith("is") else inclusion(site)

    def identity(site: Site) -> Probe:
        number = site.id
        yes = site.slot
        no = yes + 1
        wanted = site.operator == "is"

        def probe(left: Any, right: Any) -> bool:
            counts[number] += 1
            result = (left is right) is wanted
            if detailed:
                detail(number, yes, (0.0, 1.0) if result else (1.0, 0.0))
            elif result:
                distances[yes] = 0.0
                if distances[no] > 1.0:
                    distances[no] = 1.0
            else:
                distances[no] = 0.0
                if distances[yes] > 1.0:
                    distances[yes] = 1.0
            return result

        return probe

    def inclusion(site: Site) -> Probe:
        number = site.id
        sign = site.operator
        yes = site.slot
        no = yes + 1
        positive = sign == "in"
        contained = distance.contained

        def probe(left: Any, right: Any) -> bool:
            counts[number] += 1
            try:
                result = (left in right) is positive
            except BaseException:
                detail(number, yes, _NO_OUTCOME[:2])
                raise
            if detailed:
                if owner.collect:
                    listener.keep(left)
                detail(number, yes, contained(sign, left, right, result))
            elif result:
                distances[yes] = 0.0
                if distances[no] > _LEAST or (distances[no] and type(left) is not str):
                    found = contained(sign, left, right, True)[1]
                    if found < distances[no]:
                        distances[no] = found
            else:
                distances[no] = 0.0
                if distances[yes] > _LEAST or (distances[yes] and type(left) is not str):
                    found = contained(sign, left, right, False)[0]
                    if found < distances[yes]:
                        distances[yes] = found
            return result

        return probe

    def truth(site: Site) -> Probe:
        number = site.id
        yes = site.slot
        no = yes + 1
        passes = site.passes
        measured = distance.truth

        def probe(value: Any) -> Any:
            counts[number] += 1
            if value is True or value is False:
                result = value
            else:
                try:
                    result = True if value else False  # noqa: SIM210 (a call of bool costs more)
                except BaseException:
                    detail(number, yes, _NO_OUTCOME[:2])
                    raise
            if detailed:
                detail(number, yes, measured(value, result))
            elif result:
                distances[yes] = 0.0
                # Only a float is less than 1 away.
                if distances[no] > 1.0 or type(value) is float or type(value) is complex:
                    found = 1.0 if value is True else measured(value, True)[1]
                    if found < distances[no]:
                        distances[no] = found
            else:
                distances[no] = 0.0
                if distances[yes] > 1.0:
                    distances[yes] = 1.0
            return value if passes else result

        return probe

    def loop(site: Site) -> Probe:
        number = site.id
        yes = site.slot

        def outcome(entered: bool, size: float) -> None:
            detail(number, yes, (0.0, size) if entered else (1.0, 0.0))

        def probe(iterable: Any) -> Any:
            counts[number] += 1
            if id(type(iterable)) in _SIZED:
                size = distance.size(iterable)
                outcome(size > 0.0, size)
                return iterable
            if distances[yes] > distance.FAR:  # should it raise before its first element
                distances[yes] = distances[yes + 1] = distance.FAR
            iterator: Iterator[Any] = iter(iterable)
            if id(type(iterator)) not in _PLAIN_ITERATORS:
                # Asking for the iterator of an iterator may run code of the program; a class of C has nothing to say.
                again = map(next, repeat(iterator)) if _flags(type(iterator)) & _HEAP_TYPE else iterator
                return chain.from_iterable(stages(again))
            for first in iterator:
                outcome(True, 1.0)
                return chain((first,), iterator)
            outcome(False, 0.0)
            return ()

        def stages(iterator: Iterator[Any]) -> Iterator[Iterator[Any]]:
            """Twice the iterator, first for one element: so it always runs right under the loop, whoever looks."""
            entered = False

            def note(first: Any) -> Any:
                nonlocal entered
                entered = True
                outcome(True, 1.0)
                return first

            yield map(note, islice(iterator, 1))
            if entered:
                yield iterator
            else:
                outcome(False, 0.0)

        def asynchronous(iterable: Any) -> Any:
            counts[number] += 1
            if distances[yes] > distance.FAR:
                distances[yes] = distances[yes + 1] = distance.FAR
            if not hasattr(type(iterable), "__aiter__"):
                return iterable  # the loop itself complains
            return AsyncLoop(iterable, lambda entered: outcome(entered, 1.0))

        return asynchronous if site.operator == "async for" else probe

    def case(site: Site) -> Probe:
        number = site.id
        yes = site.slot

        def probe(stage: int, value: Any = None) -> bool:
            nonlocal guard_failed
            if stage == GUARD_DECIDED:
                guard_failed = not value
                return not guard_failed
            if stage != MATCHED and guard_failed:
                guard_failed = False  # the pattern matched, the guard did not; nothing ran in between
                return False
            counts[number] += 1
            found = (0.0, 1.0) if stage == MATCHED else (1.0, 0.0)
            detail(number, yes, found)
            return stage == MATCHED

        return probe

    def arithmetic(site: Site) -> Probe:
        number = site.id
        sign = site.operator.rstrip("=")
        apply = (APPLY if sign == site.operator else IN_PLACE)[sign]

        def probe(left: Any, right: Any) -> Any:
            counts[number] += 1
            if direct:
                detail(number, 0, ())
            return apply(left, right)

        return probe

    makers = {
        "arithmetic": arithmetic,
        "block": block,
        "comparison": comparison,
        "membership": membership,
        "truth": truth,
        "loop": loop,
        "case": case,
    }

    def make(site: Site) -> Probe:
        return makers[site.kind](site)

    return make, restart, spend
