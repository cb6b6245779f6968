"""Probes of blocks: they count entries and burn fuel."""

from __future__ import annotations

import sys

from fitgym.instrument.python.probe_pair import Pair
from fitgym.instrument.tally import DIRECT, INDIRECT, Tally
from fitgym.subject.subject import Site

__all__ = ["block_probes"]


def block_probes(tally: Tally, site: Site) -> Pair:
    """Return the probes of a block: they count entries, burn fuel and report caught exceptions."""
    number, function, is_entry = site.id, site.function, tally.is_entry(site.id)
    counts, direct_counts, check, enter = tally.counts, tally.direct_counts, tally.check, tally.enter
    ways, direct, indirect, is_direct = tally.ways, DIRECT, INDIRECT, tally.listener.is_direct
    stopped, exception = tally.listener.stopped, sys.exc_info

    # Hot path: a probe runs at every block of the subject. It reads variables of the closure, and the burning probes
    # call `check` only beyond the limit.
    def plain() -> None:
        counts[number] += 1

    def plainly() -> None:
        counts[number] += 1
        way = ways[function]
        if way == direct or (way != indirect and is_direct()):
            direct_counts[number] += 1

    def burning() -> None:
        counts[number] = count = counts[number] + 1
        if count > tally.limit:
            check(number)

    def burning_thoroughly() -> None:
        counts[number] = count = counts[number] + 1
        if count > tally.limit:
            check(number)
        if is_entry:
            enter(function)
        way = ways[function]
        if way == direct or (way != indirect and is_direct()):
            direct_counts[number] += 1

    def catching() -> None:
        counts[number] += 1
        stopped(exception()[2])

    def catching_thoroughly() -> None:
        counts[number] += 1
        stopped(exception()[2])
        way = ways[function]
        if way == direct or (way != indirect and is_direct()):
            direct_counts[number] += 1

    if site.burns:
        return burning, burning_thoroughly
    return (catching, catching_thoroughly) if site.catches else (plain, plainly)
