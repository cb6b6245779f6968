"""The probes in Python: what the constants in instrumented code do when they are called.

For each kind of site a function makes two probes that record the same. One is quick: what is common is measured in place,
and what cannot bring a distance nearer is left alone. The other one is thorough: it tells direct visits from others and
measures each of them. Both can be bound (see `binding`) and exchanged for each other. Built-ins are variables
here, because variables become constants.
"""

from __future__ import annotations

import operator
import sys
from builtins import id
from collections.abc import Callable, Iterator
from itertools import chain, islice, repeat
from typing import Any

from fitgym.instrument import distance, infection
from fitgym.instrument.arithmetic import APPLY, IN_PLACE
from fitgym.instrument.async_loop import AsyncLoop
from fitgym.instrument.factory import Probe
from fitgym.instrument.relations import FAR
from fitgym.instrument.rewriter import GUARD_DECIDED, MATCHED
from fitgym.instrument.tally import DIRECT, INDIRECT, NO_OUTCOME, Tally
from fitgym.instrument.text_distance import text as text_distance
from fitgym.subject.subject import Site, SiteKind

__all__ = ["COMPARE", "PROBES"]

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
"""What the comparisons do."""

# By identity, because a metaclass may define `__eq__` and `__hash__`.
_VIEWS: tuple[Any, ...] = ({}.keys(), {}.values(), {}.items())
_SIZED = frozenset(map(id, (list, tuple, dict, set, frozenset, str, bytes, bytearray, range, *map(type, _VIEWS))))
# Iterators that know how many elements are left.
_COUNTED = frozenset(id(type(iter(each))) for each in ([], (), "", b"", range(0), set(), reversed([]), *_VIEWS))
_LEAVES = frozenset(map(id, (int, bool, float, complex, str, bytes, type(None))))
# Read past the metaclass. Classes that are written in Python have the flag.
_flags: Callable[[type], int] = type.__dict__["__flags__"].__get__
_HEAP_TYPE = 1 << 9

# The least distance between different strings: one character that is the neighbour of the right one.
_LEAST = 0.5
_INFINITE = float("inf")

# What one site remembers: how many operands, how long strings of them; how many containers, how large.
_MOST_OPERANDS, _LONGEST, _MOST_CONTAINERS, _LARGEST = 1000, 64, 8, 256

Pair = tuple[Probe, Probe]
Measure = Callable[..., tuple[Any, tuple[float, ...]]]


def _thorough(tally: Tally, number: int, measure: Measure) -> Probe:
    """A probe that measures every visit.

    Args:
        tally: where it writes.
        number: of its site.
        measure: gives the result of a visit and the distances that it showed.
    """
    counts, distances, detail, note = tally.counts, tally.distances, tally.detail, tally.note
    slot = tally.sites[number].slot
    nothing = NO_OUTCOME[: tally.sites[number].width]

    def thorough(*operands: Any) -> Any:
        counts[number] += 1
        try:
            result, found = measure(*operands)
        except BaseException:
            detail(number, nothing)
            note(number)
            raise
        if tally.direct:
            detail(number, found)
        else:
            at = slot
            for value in found:
                if value < distances[at]:
                    distances[at] = value
                at += 1
        return result

    return thorough


def _unless_direct(tally: Tally, site: Site, quick: Probe, direct: Probe) -> Probe:
    """A probe that does the one thing in functions that others than the runner have called, the other in the rest."""
    ways, function, indirect = tally.ways, site.function, INDIRECT

    def either(*operands: Any) -> Any:
        return (quick if ways[function] == indirect else direct)(*operands)

    return either


def _block(tally: Tally, site: Site) -> Pair:
    number, function, is_entry = site.id, site.function, tally.is_entry(site.id)
    counts, direct_counts, check, enter = tally.counts, tally.direct_counts, tally.check, tally.enter
    ways, direct, indirect, is_direct = tally.ways, DIRECT, INDIRECT, tally.listener.is_direct
    stopped, exception = tally.listener.stopped, sys.exc_info

    def plain() -> None:
        counts[number] += 1

    def plainly() -> None:
        counts[number] += 1
        way = ways[function]
        if way == direct or (way != indirect and is_direct()):
            direct_counts[number] += 1

    def burning() -> None:
        counts[number] = count = counts[number] + 1
        if count > tally.limit:
            check(number)

    def burning_thoroughly() -> None:
        counts[number] = count = counts[number] + 1
        if count > tally.limit:
            check(number)
        if is_entry:
            enter(function)
        way = ways[function]
        if way == direct or (way != indirect and is_direct()):
            direct_counts[number] += 1

    def catching() -> None:
        counts[number] += 1
        stopped(exception()[2])

    def catching_thoroughly() -> None:
        counts[number] += 1
        stopped(exception()[2])
        way = ways[function]
        if way == direct or (way != indirect and is_direct()):
            direct_counts[number] += 1

    if site.burns:
        return burning, burning_thoroughly
    return (catching, catching_thoroughly) if site.catches else (plain, plainly)


def _comparison(tally: Tally, site: Site) -> Pair:
    number, sign, decides, passes = site.id, site.operator, site.decides, site.passes
    counts, distances, nearest, keep = tally.counts, tally.distances, tally.nearest, tally.listener.keep
    less, same, more = site.slot, site.slot + 1, site.slot + 2
    below = tally.place[number]
    above = below + 1
    compare, text, told = COMPARE[sign], text_distance, tally.told
    note, have_order = tally.note, infection.have_order
    on_less, on_same, on_more = compare(0, 1), compare(0, 0), compare(1, 0)
    kept_integers, kept_strings = tally.listener.kept[int], tally.listener.kept[str]
    of, integer, string, size = type, int, str, len
    # What a string showed whose other operand is a literal.
    seen: dict[str, tuple[bool, float, float, float]] = {}

    def measure(left: Any, right: Any) -> tuple[Any, tuple[float, ...]]:
        if tally.infect and not have_order(left, right):
            note(number)
        result = compare(left, right)
        if result is True or result is False:
            truth = result
        elif decides:
            truth = bool(result)
            if not passes:
                result = truth
        else:  # an array, an expression, a symbol: it has no truth of its own
            return result, NO_OUTCOME
        if tally.collect and counts[number] <= told[number]:
            keep(left)
            keep(right)
        if not (tally.direct or distances[less] or distances[same] or distances[more]):
            return result, ()
        return result, relations(left, right, truth)

    def relations(left: Any, right: Any, truth: bool) -> tuple[float, float, float]:
        if type(left) is int and type(right) is int:
            gap = left - right
            if gap < 0:
                return 0.0, -gap, 1 - gap
            return (gap + 1, gap, 0.0) if gap else (1.0, 0.0, 1.0)
        if type(left) is str and type(right) is str:
            return text(left, right)
        return distance.compared(sign, left, right, truth)

    thorough = _thorough(tally, number, measure)

    def integers(left: Any, right: Any) -> Any:
        if of(left) is integer and of(right) is integer:
            counts[number] += 1
            if tally.collect and counts[number] <= told[number]:
                if left not in kept_integers:
                    keep(left)
                if right not in kept_integers:
                    keep(right)
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
            # An operand that calls itself equal may have been before, and far from both sides.
            if distances[same] or distances[less] > 1.0 or distances[more] > 1.0:
                distances[same] = 0.0
                distances[less] = min(distances[less], 1.0)
                distances[more] = min(distances[more], 1.0)
            return on_same
        if of(left) is string and of(right) is string:
            return strings(left, right)
        return thorough(left, right)

    def strings(left: str, right: str) -> bool:
        counts[number] += 1
        if tally.collect and counts[number] <= told[number]:
            if left not in kept_strings:
                keep(left)
            if right not in kept_strings:
                keep(right)
        if distances[less] or distances[same] or distances[more]:
            lt, eq, gt = text(left, right)
            if lt < distances[less]:
                distances[less] = lt
            if eq < distances[same]:
                distances[same] = eq
            if gt < distances[more]:
                distances[more] = gt
        result: bool = compare(left, right)
        return result

    def with_literal(left: Any, right: Any) -> Any:
        if of(left) is string:
            if left in seen:
                counts[number] += 1
                if tally.collect and counts[number] <= told[number]:
                    if left not in kept_strings:
                        keep(left)
                    if right not in kept_strings:
                        keep(right)
                result, lt, eq, gt = seen[left]
                if lt < distances[less]:
                    distances[less] = lt
                if eq < distances[same]:
                    distances[same] = eq
                if gt < distances[more]:
                    distances[more] = gt
                return result
            if size(left) <= _LONGEST:
                if size(seen) >= _MOST_OPERANDS:
                    seen.clear()
                seen[left] = (compare(left, right), *text(left, right))
        return thorough(left, right)

    ways, function, by_runner, by_others = tally.ways, site.function, DIRECT, INDIRECT
    is_direct, direct_counts, direct_distances = tally.listener.is_direct, tally.direct_counts, tally.direct_distances

    def directly(left: Any, right: Any) -> Any:
        way = ways[function]
        if way == by_others:
            return quick(left, right)
        if of(left) is not integer or of(right) is not integer:
            return thorough(left, right)
        if way == by_runner or is_direct():
            direct_counts[number] += 1
            gap = left - right
            if gap < 0:
                direct_distances[less] = 0.0
                if -gap < direct_distances[same]:
                    direct_distances[same] = -gap
                if 1 - gap < direct_distances[more]:
                    direct_distances[more] = 1 - gap
            elif gap:
                direct_distances[more] = 0.0
                if gap < direct_distances[same]:
                    direct_distances[same] = gap
                if gap + 1 < direct_distances[less]:
                    direct_distances[less] = gap + 1
            else:
                direct_distances[same] = 0.0
                if direct_distances[less] > 1.0:
                    direct_distances[less] = 1.0
                if direct_distances[more] > 1.0:
                    direct_distances[more] = 1.0
        return integers(left, right)

    quick = with_literal if site.literals[1] == "str" else integers
    return quick, directly


def _membership(tally: Tally, site: Site) -> Pair:
    return _identity(tally, site) if site.operator.startswith("is") else _inclusion(tally, site)


def _identity(tally: Tally, site: Site) -> Pair:
    number, counts, distances = site.id, tally.counts, tally.distances
    if_same = site.operator == "is"
    same, other = (site.slot, site.slot + 1) if if_same else (site.slot + 1, site.slot)
    if_other = not if_same

    def quick(left: Any, right: Any) -> bool:
        counts[number] += 1
        if left is right:
            if distances[same]:
                distances[same] = 0.0
                if distances[other] > 1.0:
                    distances[other] = 1.0
            return if_same
        if distances[other]:
            distances[other] = 0.0
            if distances[same] > 1.0:
                distances[same] = 1.0
        return if_other

    def measure(left: Any, right: Any) -> tuple[bool, tuple[float, float]]:
        result = (left is right) is if_same
        return result, (0.0, 1.0) if result else (1.0, 0.0)

    return quick, _unless_direct(tally, site, quick, _thorough(tally, number, measure))


def _inclusion(tally: Tally, site: Site) -> Pair:
    number, sign, positive = site.id, site.operator, site.operator == "in"
    counts, distances, detail, note = tally.counts, tally.distances, tally.detail, tally.note
    keep, kept = tally.listener.keep, tally.listener.kept
    nowhere, nearest, told = NO_OUTCOME[:2], distance.nearest, tally.told
    # The slots of "it is in there" and "it is not".
    inside, outside = (site.slot, site.slot + 1) if positive else (site.slot + 1, site.slot)
    negative = not positive
    of, integer, string = type, int, str
    kept_integers, kept_strings = kept[int], kept[str]
    # Containers that cannot change, by their identity, and for each operand how near it was.
    held: dict[int, tuple[Any, dict[Any, float]]] = {}
    held_as, identity = held.get, id

    def quick(left: Any, right: Any) -> bool:
        counts[number] += 1
        kind = of(left)
        if kind is string or kind is integer:
            found = held_as(identity(right))
            if found is not None and left in found[1]:
                kept_before = kept_strings if kind is string else kept_integers
                if tally.collect and counts[number] <= told[number] and left not in kept_before:
                    keep(left)
                away = found[1][left]
                if away:
                    distances[outside] = 0.0
                    if away < distances[inside]:
                        distances[inside] = away
                    return negative
                distances[inside] = 0.0
                if distances[outside] > 1.0:
                    distances[outside] = 1.0
                return positive
        return other(left, right)

    def other(left: Any, right: Any) -> bool:
        try:
            is_inside = left in right
        except BaseException:
            detail(number, nowhere)
            note(number)
            raise
        kind = type(left)
        if tally.collect and counts[number] <= told[number] and not (kind is str and left in kept_strings):
            keep(left)
        if is_inside:
            distances[inside] = 0.0
            if distances[outside] > 1.0:
                distances[outside] = 1.0
        else:
            distances[outside] = 0.0
            so_far = distances[inside]
            # Different strings are no nearer than that.
            if so_far and not (so_far <= _LEAST and kind is str):
                distances[inside] = min(so_far, nearest(left, right))
        if (kind is str or kind is int) and (type(right) is frozenset or is_literal):
            remember(left, right, is_inside)
        return is_inside is positive

    is_literal = bool(site.literals[1])

    def remember(left: Any, right: Any, is_inside: bool) -> None:
        if id(right) not in held:
            if type(right) not in (frozenset, str, tuple) or len(right) > _LARGEST:
                return
            if not _LEAVES.issuperset(map(id, map(type, right))):
                return
            if len(held) >= _MOST_CONTAINERS:
                held.clear()
            held[id(right)] = right, {}
        seen = held[id(right)][1]
        if type(left) is int or len(left) <= _LONGEST:
            if len(seen) >= _MOST_OPERANDS:
                seen.clear()
            seen[left] = 0.0 if is_inside else nearest(left, right)

    def measure(left: Any, right: Any) -> tuple[bool, tuple[float, float]]:
        result = (left in right) is positive
        if tally.collect and counts[number] <= told[number]:
            keep(left)
        return result, distance.contained(sign, left, right, result)

    return quick, _unless_direct(tally, site, quick, _thorough(tally, number, measure))


def _truth(tally: Tally, site: Site) -> Pair:
    number, counts, distances, passes = site.id, tally.counts, tally.distances, site.passes
    yes, no = site.slot, site.slot + 1
    detail, note, nowhere = tally.detail, tally.note, NO_OUTCOME[:2]
    true, false, nothing, of, size = True, False, None, type, len
    string, integer, array, pair, mapping = str, int, list, tuple, dict

    def measure(value: Any) -> tuple[Any, tuple[float, float]]:
        result = bool(value)
        return value if passes else result, distance.truth(value, result)

    def quick(value: Any) -> Any:
        if value is true:
            counts[number] += 1
            distances[yes] = 0.0
            if distances[no] > 1.0:
                distances[no] = 1.0
            return value
        if value is false or value is nothing:
            counts[number] += 1
            distances[no] = 0.0
            if distances[yes] > 1.0:
                distances[yes] = 1.0
            return value
        kind = of(value)
        if kind is string or kind is array or kind is integer or kind is pair or kind is mapping:
            counts[number] += 1
            if value:
                distances[yes] = 0.0
                if distances[no] > 1.0:
                    away = size(value) if kind is not integer else value if value > 0 else -value
                    if away < distances[no]:
                        distances[no] = away
                return value
            distances[no] = 0.0
            if distances[yes] > 1.0:
                distances[yes] = 1.0
            return value
        return other(value)

    def other(value: Any) -> Any:
        counts[number] += 1
        try:
            result = True if value else False  # noqa: SIM210 (a call of bool costs more)
        except BaseException:
            detail(number, nowhere)
            note(number)
            raise
        if not result:
            distances[no] = 0.0
            if distances[yes] > 1.0:
                distances[yes] = 1.0
        else:
            distances[yes] = 0.0
            # Only a float is less than 1 away.
            if distances[no] > 1.0 or type(value) is float or type(value) is complex:
                distances[no] = min(distances[no], distance.truth(value, True)[1])
        return value if passes else result

    thorough = _thorough(tally, number, measure)
    ways, function, by_runner, by_others = tally.ways, site.function, DIRECT, INDIRECT
    is_direct, direct_counts, direct_distances = tally.listener.is_direct, tally.direct_counts, tally.direct_distances

    def directly(value: Any) -> Any:
        way = ways[function]
        if way == by_others:
            return quick(value)
        away = 1.0
        if value is not true and value is not false and value is not nothing:
            kind = of(value)
            if kind is string or kind is array or kind is pair or kind is mapping:
                away = size(value)
            elif kind is integer:
                away = value if value > 0 else -value
            else:
                return thorough(value)
        if way == by_runner or is_direct():
            direct_counts[number] += 1
            if value:
                direct_distances[yes] = 0.0
                if away < direct_distances[no]:
                    direct_distances[no] = away
            else:
                direct_distances[no] = 0.0
                if direct_distances[yes] > 1.0:
                    direct_distances[yes] = 1.0
        return quick(value)

    return quick, directly


def _has_more(iterator: Iterator[Any]) -> bool:
    """It is certain, without asking for it, that the iterator has another element."""
    sources = _sources(iterator)
    return bool(sources) and len(set(map(id, sources))) == len(sources) and all(map(operator.length_hint, sources))


def _sources(iterator: Any) -> list[Any]:
    """The counted iterators that a combination of them reads, none if it reads any other."""
    kind = type(iterator)
    if id(kind) in _COUNTED:
        return [iterator]
    if kind is not enumerate and kind is not zip:
        return []
    read = iterator.__reduce__()[1]
    parts = [_sources(part) for part in (read if kind is zip else read[:1])]
    return [source for part in parts for source in part] if all(parts) else []


def _loop(tally: Tally, site: Site) -> Pair:
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
        if distances[yes] > FAR:  # should it raise before its first element
            distances[yes] = distances[no] = FAR
        iterator: Iterator[Any] = iter(iterable)
        if _has_more(iterator):
            outcome(True)
            return iterator
        # Asking for the iterator of an iterator may run code of the program; a class of C has nothing to say.
        again = map(next, repeat(iterator)) if _flags(type(iterator)) & _HEAP_TYPE else iterator
        return chain.from_iterable(stages(again))

    def stages(iterator: Iterator[Any]) -> Iterator[Iterator[Any]]:
        """Twice the iterator, first for one element: so it always runs right under the loop, whoever looks."""
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
            return iterable  # the loop itself complains
        return AsyncLoop(iterable, outcome)

    if site.operator == "async for":
        return asynchronous, asynchronous
    return quick, _unless_direct(tally, site, quick, thorough)


def _case(tally: Tally, site: Site) -> Pair:
    number, counts, detail = site.id, tally.counts, tally.detail
    decided, matched = GUARD_DECIDED, MATCHED

    def probe(stage: int, *value: Any) -> bool:
        if stage == decided:
            tally.guard_failed = not value[0]
            return not tally.guard_failed
        if stage != matched and tally.guard_failed:
            tally.guard_failed = False  # the pattern matched, the guard did not; nothing ran in between
            return False
        counts[number] += 1
        detail(number, (0.0, 1.0) if stage == matched else (1.0, 0.0))
        return stage == matched

    return probe, probe


def _arithmetic(tally: Tally, site: Site) -> Pair:
    number, counts, detail, bits = site.id, tally.counts, tally.detail, tally.bits
    sign = site.operator.rstrip("=")
    apply = (APPLY if sign == site.operator else IN_PLACE)[sign]
    every, infected, raised = infection.others(sign), infection.by_operator, infection.RAISED

    def probe(left: Any, right: Any) -> Any:
        if not tally.infect:
            return apply(left, right)
        counts[number] += 1
        detail(number)
        if bits[number] == every:
            return apply(left, right)
        try:
            result = apply(left, right)
        except BaseException:
            bits[number] |= infected(sign, left, right, raised)
            raise
        bits[number] |= infected(sign, left, right, result)
        return result

    return probe, probe


def _value(tally: Tally, site: Site) -> Pair:
    number, counts, detail, bits = site.id, tally.counts, tally.detail, tally.bits
    every, infected = (1 << 3 + len(site.alternatives)) - 1, infection.by_value

    def probe(value: Any, *others: Any) -> Any:
        if tally.infect:
            counts[number] += 1
            detail(number)
            if bits[number] != every:
                bits[number] |= infected(value, others)
        return value

    return probe, probe


PROBES: dict[SiteKind, Callable[[Tally, Site], Pair]] = {
    "arithmetic": _arithmetic,
    "block": _block,
    "case": _case,
    "comparison": _comparison,
    "loop": _loop,
    "membership": _membership,
    "truth": _truth,
    "value": _value,
}
"""What makes the quick and the thorough probe of a site of each kind."""
