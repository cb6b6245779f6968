"""Recorded numbers of many traces as arrays, one row for each trace."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fitgym.fitness.base import Counts, Floats
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject

__all__ = ["recorded_counts", "recorded_distances"]

_NOTHING = Trace()


def recorded_counts(subject: Subject, traces: Sequence[Trace], *, direct: bool = False) -> Counts:
    """How often each trace reached each site, shape `(len(traces), n_sites)`; 0 for a failed trace.

    Raises:
        ValueError: a trace was recorded for another subject, or without "direct" although `direct` is asked for.
    """
    rows, sites, traces = _reached(subject, traces, direct)
    counts = np.zeros((len(traces), len(subject.sites)), np.int64)
    parts = [trace.direct_counts if direct else trace.counts for trace in traces]
    counts[rows, sites] = np.frombuffer(b"".join(parts), np.uint32)
    return counts


def recorded_distances(subject: Subject, traces: Sequence[Trace], *, direct: bool = False) -> Floats:
    """Least distance of each trace to each slot, shape `(len(traces), n_slots)`; inf where it did not reach the site.

    Raises:
        ValueError: see `recorded_counts`.
    """
    rows, sites, traces = _reached(subject, traces, direct)
    distances = np.full(len(traces) * subject.n_slots, np.inf)
    widths = np.frombuffer(subject.slot_widths, np.int64)[sites]
    ends = np.cumsum(widths)
    first = rows * subject.n_slots + np.frombuffer(subject.first_slots, np.int64)[sites]
    found = np.frombuffer(
        b"".join([trace.direct_distances if direct else trace.distances for trace in traces]), np.float64
    )
    total = int(ends[-1]) if len(ends) else 0
    if len(found) != total:
        raise ValueError(f"traces have {len(found)} distances, expected {total}: were they recorded of this subject?")
    # The k-th distance belongs as far behind the first slot of its site as it stands behind that site's first distance.
    distances[np.repeat(first - (ends - widths), widths) + np.arange(total)] = found
    return distances.reshape(len(traces), subject.n_slots)


def _reached(
    subject: Subject, traces: Sequence[Trace], direct: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], Sequence[Trace]]:
    """Row and site of everything that was reached, and the traces with empty ones in place of failed ones."""
    traces = [_NOTHING if trace.failure else trace for trace in traces]
    if direct and not all(trace.has_direct or trace is _NOTHING for trace in traces):
        raise ValueError('a trace was recorded without "direct"')
    parts: list[array[int]] = [trace.direct_sites if direct else trace.sites for trace in traces]
    sites = np.frombuffer(b"".join(parts), np.uint32).astype(np.int64)
    if len(sites) and sites.max() >= len(subject.sites):
        raise ValueError(f"a trace has site {sites.max()} of {len(subject.sites)}: was it recorded of this subject?")
    return np.repeat(np.arange(len(traces)), list(map(len, parts))), sites, traces
