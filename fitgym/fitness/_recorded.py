"""Recorded numbers of many traces as arrays, one row for each trace."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from fitgym.fitness.base import Counts, Floats
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject

__all__ = ["recorded_counts", "recorded_distances"]


def recorded_counts(subject: Subject, traces: Sequence[Trace], *, direct: bool = False) -> Counts:
    """How often each trace reached each site, shape `(len(traces), n_sites)`, read-only; 0 for a failed trace.

    Raises:
        ValueError: a trace was recorded for another subject, or without "direct" although `direct` is asked for.
    """
    n_sites = len(subject.sites)
    blank = array("q", bytes(8 * n_sites))
    joined = _joined(traces, blank, "direct_counts" if direct else "counts")
    return np.frombuffer(joined, np.int64).reshape(len(traces), n_sites)


def recorded_distances(subject: Subject, traces: Sequence[Trace], *, direct: bool = False) -> Floats:
    """Least distance of each trace to each slot, shape `(len(traces), n_slots)`, read-only; inf for a failed trace.

    Raises:
        ValueError: see `recorded_counts`.
    """
    n_slots = subject.n_slots
    blank = array("d", [np.inf]) * n_slots
    joined = _joined(traces, blank, "direct_distances" if direct else "distances")
    return np.frombuffer(joined, np.float64).reshape(len(traces), n_slots)


def _joined(traces: Sequence[Trace], blank: array[int] | array[float], name: str) -> bytes:
    """The buffers of all traces in a row: one copy, where stacking arrays would take three."""
    buffers = [blank if trace.failure else getattr(trace, name) for trace in traces]
    wrong = next((len(buffer) for buffer in buffers if len(buffer) != len(blank)), None)
    if wrong is not None:
        raise ValueError(
            f"a trace has {wrong} {name}, expected {len(blank)}: was it recorded for this, of this subject?"
        )
    return b"".join(buffers)
