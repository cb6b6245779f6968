"""Probe pairs: a quick and a thorough probe in Python for one site, and the parts that all kinds share."""

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
"""Evaluates the operands of one visit. Returns the result, and the distances in the order of the site's slots."""


def thorough_probe(tally: Tally, number: int, measure: Measure) -> Probe:
    """Return a probe that measures every visit.

    Args:
        tally: the records that it updates.
        number: id of its site.
        measure: returns the result and the distances of a visit.
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
    """Return a probe that calls `quick` in functions that only the subject has called, and `direct` in all others."""
    ways, function, indirect = tally.ways, site.function, INDIRECT

    def either(*operands: Any) -> Any:
        return (quick if ways[function] == indirect else direct)(*operands)

    return either
