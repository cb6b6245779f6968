"""Lines: derives which lines ran from the entries of blocks and the lines at which exceptions left them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fitgym.instrument.trace import Stop
from fitgym.subject.subject import Site

__all__ = ["block_lines", "covered_lines"]


def block_lines(sites: Iterable[Site]) -> tuple[int, ...]:
    """Return all lines that can run, ascending: the statements of a coverage tool."""
    return tuple(sorted({line for site in sites for line in site.lines}))


def covered_lines(counts: Sequence[int], stops: Iterable[Stop], sites: Iterable[Site]) -> frozenset[int]:
    """Return the lines that ran.

    A block that was entered n times ran its k-th line unless all n passes left it at an earlier line. If code outside
    the subject catches an exception (`hasattr` on a property), there is no stop. Then the rest of the block counts as
    run.

    Args:
        counts: number of visits of each site, by site id.
        stops: lines at which exceptions left blocks.
        sites: all sites.
    """
    left: dict[tuple[int, int], int] = {}
    for stop in stops:
        left[stop.site, stop.line] = left.get((stop.site, stop.line), 0) + stop.count
    covered: set[int] = set()
    for site in sites:
        passes = counts[site.id]
        for line in site.lines:
            if passes <= 0:
                break
            covered.add(line)
            passes -= left.get((site.id, line), 0)
    return frozenset(covered)
