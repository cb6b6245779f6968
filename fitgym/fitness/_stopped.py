"""Interrupted blocks: how many lines of a block ran although an exception left it early."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fitgym.fitness._recorded import Reached
from fitgym.instrument.trace import Trace

__all__ = ["stopped"]


def stopped(
    lines: Mapping[int, tuple[int, ...]], n_sites: int, traces: Sequence[Trace], found: Reached
) -> list[tuple[int, int]]:
    """Return the entries of blocks that were left early, each with the number of its lines that some pass ran.

    A block was executed c times and left early at lines l_1, l_2, ... It ran its line x if c exceeds the number of l_i
    < x.

    Args:
        lines: of the blocks that matter, by id, in the order in which they run.
        n_sites: the number of sites of the subject.
        traces: any number.
        found: what they reached.
    """
    left: dict[tuple[int, int], dict[int, int]] = {}
    for index, trace in enumerate(traces):
        for stop in trace.stops if not trace.failure else ():
            if stop.site in lines:
                counts = left.setdefault((index, stop.site), {})
                counts[stop.line] = counts.get(stop.line, 0) + stop.count
    wanted = np.array([index * n_sites + site for index, site in left], dtype=np.intp)
    entries = np.searchsorted(found.traces * n_sites + found.sites, wanted)
    found_lines = []
    for (_, block), counts, entry in zip(left, left.values(), entries.tolist(), strict=True):
        passes, ran = int(found.counts[entry]), 0
        for number in lines[block]:
            if passes <= 0:
                break
            ran += 1
            passes -= counts.get(number, 0)
        found_lines.append((entry, ran))
    return found_lines
