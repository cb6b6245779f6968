"""Tally: the lists that the Python probes update, by site and by slot, and the remaining fuel."""

from __future__ import annotations

import operator
from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, compress

from fitgym.instrument.factory import TOLD, Listener, OutOfFuel
from fitgym.instrument.relations import FAR, finite
from fitgym.instrument.trace import Infected, Reached
from fitgym.subject.subject import Site

__all__ = ["DIRECT", "INDIRECT", "NO_OUTCOME", "Tally"]

NO_OUTCOME = (FAR, FAR, FAR)
"""Distances of a visit without an outcome: an exception was raised, or the result has no truth value."""

# How a function was called so far: by the runner, by others, or both (the bits combined); or it can be resumed.
_UNKNOWN, DIRECT, INDIRECT, _RESUMABLE = 0, 1, 2, 4

_MOST_COUNTED = (1 << 32) - 1


class Tally:
    """The records of one test case, see `Factory`. Its lists are always the same objects.

    Attributes:
        nearest: two numbers per comparison, the differences `left - right` of ints nearest to zero so far: the negative
            one and the positive one. Most visits are not nearer and need not read the distances.
        limit: a burning block calls `check` when its count exceeds it.
        direct, collect, infect: arguments of `begin`.
        bits: infected mutants as bits, by site.
        ways: how the current statement has called each function so far, by function.
        told: count of each site up to which its operands are reported.
        guard_failed: the pattern of the current `case` matched, but its guard was false.
        listener: receives the events that are not recorded here.
    """

    def __init__(self, sites: Sequence[Site], listener: Listener, fuel: int) -> None:
        self.sites = tuple(sites)
        self.listener = listener
        self.fuel = fuel
        self.limit = 0
        self.direct = False
        self.collect = False
        self.infect = False
        self.guard_failed = False
        n_slots = sum(site.width for site in self.sites)
        self._zeros = [0] * len(self.sites)
        self._unreached = [float("inf")] * n_slots
        self._places = [(site.slot, site.function) for site in self.sites]
        self._slots = [slice(site.slot, site.slot + site.width) if site.width else slice(0) for site in self.sites]
        self.counts: list[int] = self._zeros[:]
        self.distances: list[float] = self._unreached[:]
        self.direct_counts: list[int] = self._zeros[:]
        self.direct_distances: list[float] = self._unreached[:]
        comparisons = [site.id for site in self.sites if site.kind == "comparison"]
        self.place = {number: 2 * position for position, number in enumerate(comparisons)}
        self._no_nearest: list[float] = [float("-inf"), float("inf")] * len(comparisons)
        self.nearest: list[float] = self._no_nearest[:]
        # The start of every test case, see `settle`.
        self._no_counts = self._zeros[:]
        self.told = [TOLD] * len(self.sites)
        self._no_distances = self._unreached
        self.bits: list[int] = self._zeros[:]
        self._no_bits = self._zeros[:]
        self._burning = _getter([site.id for site in self.sites if site.burns])
        self._burnt_before = 0
        self.spent = False
        self._step = 0
        # Frames are expensive to inspect. So this happens once per call, and at every probe only in functions that were
        # called both ways or can be resumed by others.
        self._unknown = [_UNKNOWN] * (max((site.function for site in self.sites), default=-1) + 1)
        self.ways = self._unknown[:]
        self._entry: dict[int, int] = {}
        for site in self.sites:
            self._entry.setdefault(site.function, site.id)
        self._begin(fuel)

    def begin(self, fuel: int, direct: bool, collect: bool, infect: bool) -> None:
        """Clear the records, except data kept by `settle`."""
        self.counts[:] = self._no_counts
        self.distances[:] = self._no_distances
        self.nearest[:] = self._no_nearest
        if self.direct:
            self.direct_counts[:] = self._zeros
            self.direct_distances[:] = self._unreached
            self.ways[:] = self._unknown
        self.direct = direct
        self.collect = collect
        if self.infect:
            self.bits[:] = self._no_bits
        self.infect = infect
        self._begin(fuel)

    def _begin(self, fuel: int) -> None:
        self.fuel = fuel
        self.guard_failed = False
        self.spent = False
        self._step = self.limit = fuel // 16 + 1

    def settle(self) -> None:
        """Keep the data recorded so far as the start of every test case."""
        self._burnt_before += self.burnt
        self._no_counts = self.counts[:]
        self.told[:] = [count + TOLD for count in self._no_counts]
        self._no_distances = self.distances[:]
        self._no_bits = self.bits[:]

    # Fuel

    @property
    def burnt(self) -> int:
        return sum(self._burning(self.counts)) - self._burnt_before

    @property
    def fuel_left(self) -> int:
        return -1 if self.spent else self.fuel - self.burnt

    def interrupt(self) -> None:
        """Take all fuel away."""
        self.spent = True
        self.limit = -1

    def check(self, number: int) -> None:
        """Raise `OutOfFuel` if no fuel is left. Called by a burning block whose count exceeds `limit`."""
        visits = self.counts[number] - self._no_counts[number]
        if visits > self.limit:
            if self.fuel_left < 0:
                self.interrupt()
                raise OutOfFuel
            self.limit = max(self.limit, visits) + self._step

    # Distances

    def detail(self, number: int, found: Sequence[float] = ()) -> None:
        """Merge distances into the records.

        If the visit is direct, count it and merge them into the direct records too.
        """
        first, function = self._places[number]
        distances = self.distances
        slot = first
        for value in found:
            if value < distances[slot]:
                distances[slot] = value
            slot += 1
        if self.direct:
            way = self.ways[function]
            if way == DIRECT or (way != INDIRECT and self.listener.is_direct()):
                self.direct_counts[number] += 1
                distances = self.direct_distances
                for value in found:
                    if value < distances[first]:
                        distances[first] = value
                    first += 1

    def note(self, number: int) -> None:
        """Mark all mutants of this site as possibly infected, because its distances cannot distinguish them."""
        if self.infect:
            self.bits[number] |= 1

    def next_statement(self) -> None:
        """Start the next statement of the test case; see `Factory.next_statement`."""
        self.ways[:] = self._unknown

    def is_entry(self, number: int) -> bool:
        """Return True if the site is the first one of its function."""
        return self._entry[self.sites[number].function] == number

    def enter(self, function: int) -> None:
        """Record how the function was called. Called when it starts."""
        if self.listener.is_resumable():
            self.ways[function] |= _RESUMABLE
        else:
            self.ways[function] |= DIRECT if self.listener.is_direct() else INDIRECT

    # Results

    def count(self, site_id: int) -> int:
        """Return the number of visits of the site."""
        return self.counts[site_id]

    def snapshot(self) -> tuple[Reached, Reached | None]:
        """Return the reached sites, and the directly reached ones (None unless `begin` was called with `direct`)."""
        direct = self._reached(self.direct_counts, self.direct_distances) if self.direct else None
        return self._reached(self.counts, self.distances), direct

    def infected(self) -> Infected | None:
        """Return the infected mutants by site, None unless `begin` was called with `infect`."""
        if not self.infect:
            return None
        sites = list(compress(range(len(self.bits)), self.bits))
        return array("I", sites).tobytes(), array("I", map(self.bits.__getitem__, sites)).tobytes()

    def _reached(self, counts: list[int], distances: list[float]) -> Reached:
        sites = list(compress(range(len(counts)), counts))
        how_often = list(map(counts.__getitem__, sites))
        found = chain.from_iterable(map(distances.__getitem__, map(self._slots.__getitem__, sites)))
        return array("I", sites).tobytes(), _counts(how_often).tobytes(), _floats(found).tobytes()


def _getter(places: list[int]) -> Callable[[list[int]], Sequence[int]]:
    """Return a function that returns the items at these places of a list."""
    if len(places) > 1:
        return operator.itemgetter(*places)
    return lambda items: [items[place] for place in places]


def _counts(values: list[int]) -> array[int]:
    try:
        return array("I", values)
    except OverflowError:
        return array("I", [min(value, _MOST_COUNTED) for value in values])


def _floats(values: Iterable[float]) -> array[float]:
    """Convert to floats. Integers too large for a float become the largest finite distance."""
    values = list(values)
    try:
        return array("d", values)
    except OverflowError:
        return array("d", map(finite, values))
