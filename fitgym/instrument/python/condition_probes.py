"""Probes of conditions other than comparisons: the truth of a value, and the cases of a `match`."""

from __future__ import annotations

from typing import Any

from fitgym.instrument import distance
from fitgym.instrument.python.probe_pair import Pair, thorough_probe
from fitgym.instrument.rewriting.rewriter import GUARD_DECIDED, MATCHED
from fitgym.instrument.tally import DIRECT, INDIRECT, NO_OUTCOME, Tally
from fitgym.subject.subject import Site

__all__ = ["case_probes", "truth_probes"]


def truth_probes(tally: Tally, site: Site) -> Pair:
    """Return the probes of a truth test: they record the distances to true and to false."""
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
            # Only a float or complex number can be closer than 1 to false.
            if distances[no] > 1.0 or type(value) is float or type(value) is complex:
                distances[no] = min(distances[no], distance.truth(value, True)[1])
        return value if passes else result

    thorough = thorough_probe(tally, number, measure)
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


def case_probes(tally: Tally, site: Site) -> Pair:
    """Return the probe of a `case`, twice.

    It is called for the pattern and again for the guard, see `GUARD_DECIDED`.
    """
    number, counts, detail = site.id, tally.counts, tally.detail
    decided, matched = GUARD_DECIDED, MATCHED

    def probe(stage: int, *value: Any) -> bool:
        if stage == decided:
            tally.guard_failed = not value[0]
            return not tally.guard_failed
        if stage != matched and tally.guard_failed:
            tally.guard_failed = False  # the pattern matched, but the guard failed; no other code ran in between
            return False
        counts[number] += 1
        detail(number, (0.0, 1.0) if stage == matched else (1.0, 0.0))
        return stage == matched

    return probe, probe
