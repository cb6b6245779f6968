"""Recorded numbers of many traces as arrays: sparse entries for reached sites, or dense rows per trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fitgym.fitness._ranges import ranges
from fitgym.fitness.base import Counts, Floats, Index
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject

__all__ = ["Reached", "reached", "recorded_counts", "recorded_distances"]

_NOTHING = (b"", b"", b"")


@dataclass(frozen=True, slots=True)
class Reached:
    """The sites that many traces reached: one entry per trace and reached site, by trace, then by site.

    Attributes:
        traces: the position of the trace.
        sites: the site.
        counts: how often it was reached.
        distances: the recorded distances of the slots of all entries, concatenated.
        first: index in `distances` of the first slot of each entry.
    """

    traces: Index
    sites: Index
    counts: NDArray[np.uint32]
    distances: Floats
    first: Index


def reached(subject: Subject, traces: Sequence[Trace], *, direct: bool = False) -> Reached:
    """Return what the traces reached; a failed trace has no entries.

    Args:
        subject: the code that the traces were recorded of.
        traces: any number.
        direct: only what was reached in direct calls.

    Raises:
        ValueError: a trace was recorded for another subject, or without "direct" although `direct` is set.
    """
    found = [_NOTHING if trace.failure else trace.direct if direct else trace.reached for trace in traces]
    parts = [part for part in found if part is not None]
    if len(parts) < len(found):
        raise ValueError('a trace was recorded without "direct"')
    sites = np.frombuffer(b"".join([part[0] for part in parts]), np.uint32).astype(np.intp)
    if len(sites) and sites.max() >= len(subject.sites):
        raise ValueError(f"a trace has site {sites.max()} of {len(subject.sites)}: was it recorded of this subject?")
    widths = np.frombuffer(subject.slot_widths, np.int64)[sites]
    ends = np.cumsum(widths)
    distances = np.frombuffer(b"".join([part[2] for part in parts]), np.float64)
    total = int(ends[-1]) if len(ends) else 0
    if len(distances) != total:
        raise ValueError(
            f"traces have {len(distances)} distances, expected {total}: were they recorded of this subject?"
        )
    return Reached(
        np.repeat(np.arange(len(parts)), [len(part[0]) // 4 for part in parts]),
        sites,
        np.frombuffer(b"".join([part[1] for part in parts]), np.uint32),
        distances,
        ends - widths,
    )


def recorded_counts(subject: Subject, traces: Sequence[Trace], *, direct: bool = False) -> Counts:
    """Return how often each trace reached each site, shape `(len(traces), n_sites)`; 0 for a failed trace.

    Raises:
        ValueError: see `reached`.
    """
    found = reached(subject, traces, direct=direct)
    counts = np.zeros((len(traces), len(subject.sites)), np.int64)
    counts[found.traces, found.sites] = found.counts
    return counts


def recorded_distances(subject: Subject, traces: Sequence[Trace], *, direct: bool = False) -> Floats:
    """Return the least distance of each trace to each slot, `(len(traces), n_slots)`; inf for unreached sites.

    Raises:
        ValueError: see `reached`.
    """
    found = reached(subject, traces, direct=direct)
    widths = np.frombuffer(subject.slot_widths, np.int64)[found.sites]
    entries, slots = ranges(np.frombuffer(subject.first_slots, np.int64)[found.sites], widths)
    distances = np.full((len(traces), subject.n_slots), np.inf)
    distances[found.traces[entries], slots] = found.distances
    return distances
