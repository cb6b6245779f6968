"""Probes of comparisons: record the least distance to each relation of the operands."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from fitgym.instrument import distance, infection
from fitgym.instrument.python.probe_pair import Pair, thorough_probe
from fitgym.instrument.tally import DIRECT, INDIRECT, NO_OUTCOME, Tally
from fitgym.instrument.text_distance import text as text_distance
from fitgym.subject.subject import Site

__all__ = ["COMPARE", "comparison_probes"]

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
"""Functions of the comparison operators."""

# Limits of the cache of one site: number of operands and length of strings.
_MOST_OPERANDS, _LONGEST = 1000, 64


def comparison_probes(tally: Tally, site: Site) -> Pair:
    """Return the probes of `<`, `<=`, `==`, `!=`, `>`, `>=`: distances to the three relations of the operands."""
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
    # Cached results for strings whose other operand is a literal.
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
        else:  # an array, an expression or a symbol: the result has no truth value
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

    thorough = thorough_probe(tally, number, measure)

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
            # An operand whose `__eq__` returned True although the operands differ may have been here before.
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
