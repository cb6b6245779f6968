"""A pair of probes in Python for one site, a quick one and a thorough one, and what all kinds of pairs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fitgym.instrument.factory import Probe
from fitgym.instrument.tally import INDIRECT, NO_OUTCOME, Tally
from fitgym.subject.subject import Site

__all__ = ["Measure", "Pair", "thorough_probe", "unless_direct"]

Pair = tuple[Probe, Probe]
"""The quick and the thorough probe of a site; both record the same."""

Measure = Callable[..., tuple[Any, tuple[float, ...]]]
"""Evaluates the operands of one visit: gives the result, and the distances in the order of the site's slots."""


def thorough_probe(tally: Tally, number: int, measure: Measure) -> Probe:
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


def unless_direct(tally: Tally, site: Site, quick: Probe, direct: Probe) -> Probe:
    """A probe that calls `quick` in functions that only the subject called, and `direct` in all others."""
    ways, function, indirect = tally.ways, site.function, INDIRECT

    def either(*operands: Any) -> Any:
        return (quick if ways[function] == indirect else direct)(*operands)

    return either
