"""Hand-written traces: convert a number per site and slot to the sparse form of a trace, and back."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from fitgym.fitness._recorded import recorded_counts, recorded_distances
from fitgym.instrument.trace import Reached, Trace
from fitgym.subject.subject import Site, Subject

__all__ = ["counted", "dense", "reached", "trace_by_hand"]


def reached(counts: Sequence[int], distances: Sequence[float] = (), sites: Sequence[Site] = ()) -> Reached:
    """Return the sites with a count above zero, their counts and the distances of their slots.

    Without `sites` there are no distances.
    """
    found = [number for number, count in enumerate(counts) if count > 0]
    slots = [site.slot + k for site in sites if counts[site.id] > 0 for k in range(site.width)]
    return (
        array("I", found).tobytes(),
        array("I", [counts[number] for number in found]).tobytes(),
        array("d", [distances[slot] for slot in slots]).tobytes(),
    )


def trace_by_hand(
    counts: Sequence[int],
    distances: Sequence[float] = (),
    sites: Sequence[Site] = (),
    *,
    direct: bool = False,
    **fields: Any,
) -> Trace:
    """Return a trace that reached each site so often; `direct` makes all calls direct."""
    recorded = reached(counts, distances, sites)
    return Trace(recorded, recorded if direct else None, **fields)


def counted(trace: Trace, *, direct: bool = False) -> dict[int, int]:
    """Return how often each reached site was reached."""
    sites, counts, _ = (trace.direct if direct else trace.reached) or (b"", b"", b"")
    return dict(zip(array("I", sites), array("I", counts), strict=True))


def dense(trace: Trace, subject: Subject) -> tuple[list[int], list[float]]:
    """Return the count of each site and the distance of each slot."""
    return recorded_counts(subject, [trace])[0].tolist(), recorded_distances(subject, [trace])[0].tolist()
