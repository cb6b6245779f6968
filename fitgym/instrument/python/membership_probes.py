"""Probes of membership and identity: record the least distance to either outcome."""

from __future__ import annotations

from builtins import id
from typing import Any

from fitgym.instrument import distance
from fitgym.instrument.python.probe_pair import Pair, thorough_probe, unless_direct
from fitgym.instrument.tally import NO_OUTCOME, Tally
from fitgym.subject.subject import Site

__all__ = ["membership_probes"]

# Types by id, because a metaclass may define `__eq__` and `__hash__`.
_LEAVES = frozenset(map(id, (int, bool, float, complex, str, bytes, type(None))))

# The least distance between different strings: one character differs by one code point.
_LEAST = 0.5

# Limits of the cache of one site: operands, length of strings; containers, size of a container.
_MOST_OPERANDS, _LONGEST, _MOST_CONTAINERS, _LARGEST = 1000, 64, 8, 256


def membership_probes(tally: Tally, site: Site) -> Pair:
    """Return the probes of `in`, `not in`, `is`, `is not`: they record the distances to true and to false."""
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

    return quick, unless_direct(tally, site, quick, thorough_probe(tally, number, measure))


def _inclusion(tally: Tally, site: Site) -> Pair:
    number, sign, positive = site.id, site.operator, site.operator == "in"
    counts, distances, detail, note = tally.counts, tally.distances, tally.detail, tally.note
    keep, kept = tally.listener.keep, tally.listener.kept
    nowhere, nearest, told = NO_OUTCOME[:2], distance.nearest, tally.told
    # The slots of "contained" and "not contained".
    inside, outside = (site.slot, site.slot + 1) if positive else (site.slot + 1, site.slot)
    negative = not positive
    of, integer, string = type, int, str
    kept_integers, kept_strings = kept[int], kept[str]
    # Immutable containers by id, with the distance of each operand seen.
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
            # Different strings cannot be closer than `_LEAST`.
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

    return quick, unless_direct(tally, site, quick, thorough_probe(tally, number, measure))
