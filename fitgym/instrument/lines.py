"""Which lines ran: derived from how often blocks were entered and where exceptions left them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fitgym.instrument.trace import Stop
from fitgym.subject.subject import Site

__all__ = ["block_lines", "covered_lines"]


def block_lines(sites: Iterable[Site]) -> tuple[int, ...]:
    """Every line that can run, ascending: the lines a coverage tool calls statements."""
    return tuple(sorted({line for site in sites for line in site.lines}))


def covered_lines(counts: Sequence[int], stops: Iterable[Stop], sites: Iterable[Site]) -> frozenset[int]:
    """The lines that ran.

    A block that was entered n times ran its k-th line unless all n passes were left at an earlier line.
    An exception that code outside the subject swallowed (`hasattr` on a property) leaves no stop; then the rest of the
    block counts as run.

    Args:
        counts: how often each site was reached, by site id.
        stops: where exceptions left blocks early.
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
