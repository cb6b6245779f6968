"""What the probes in Python write down: lists by site and by slot, and the fuel that is left."""

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
"""Reached, but an exception came instead of an outcome, or an object that is neither true nor false."""

# How a function was called so far: by the runner only, by others only, both; or it is a generator or coroutine.
_UNKNOWN, DIRECT, INDIRECT, _RESUMABLE = 0, 1, 2, 4

_MOST_COUNTED = (1 << 32) - 1


class Tally:
    """The numbers of one test case, see `Factory`. Its lists are always the same objects.

    Attributes:
        nearest: for each comparison two numbers, the nearest pair of ints so far as `left - right`: the one below zero, the
            one above. Most visits are no nearer and need not look at the distances.
        limit: a block that burns and was counted as often asks `check`.
        direct, collect, infect: what was asked for, see `begin`.
        bits: for each site what it says about mutants.
        ways: for each function, how the current statement has called it so far.
        told: for each site, how often it was counted when it has told its last operands.
        guard_failed: the pattern of the `case` at hand matched, but its guard did not.
        listener: is told what is not recorded here.
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
        # What every test case starts with, see `settle`.
        self._no_counts = self._zeros[:]
        self.told = [TOLD] * len(self.sites)
        self._no_distances = self._unreached
        self.bits: list[int] = self._zeros[:]
        self._no_bits = self._zeros[:]
        self._burning = _picked([site.id for site in self.sites if site.burns])
        self._burnt_before = 0
        self.spent = False
        self._step = 0
        # Looking at frames is expensive, so it is done once for each call, and at every probe only in functions that were
        # called both ways or can be resumed by others.
        self._unknown = [_UNKNOWN] * (max((site.function for site in self.sites), default=-1) + 1)
        self.ways = self._unknown[:]
        self._entry: dict[int, int] = {}
        for site in self.sites:
            self._entry.setdefault(site.function, site.id)
        self._begin(fuel)

    def begin(self, fuel: int, direct: bool, collect: bool, infect: bool) -> None:
        """Forget what was recorded, except what `settle` kept."""
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
        """From now on begin with what is recorded now."""
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
        """A block that burns was counted more often than `limit`: is there fuel left?"""
        visits = self.counts[number] - self._no_counts[number]
        if visits > self.limit:
            if self.fuel_left < 0:
                self.interrupt()
                raise OutOfFuel
            self.limit = max(self.limit, visits) + self._step

    # Distances

    def detail(self, number: int, found: Sequence[float] = ()) -> None:
        """Merge distances into the recorded ones and, if the visit was direct, count it and merge them there as well."""
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
        """No distance tells which mutants of this site are infected: all of them may be."""
        if self.infect:
            self.bits[number] |= 1

    def next_statement(self) -> None:
        """Another statement of the test case begins; see `Factory.next_statement`."""
        self.ways[:] = self._unknown

    def is_entry(self, number: int) -> bool:
        """The site is the first one of its function."""
        return self._entry[self.sites[number].function] == number

    def enter(self, function: int) -> None:
        """The function begins: look how it was called."""
        if self.listener.is_resumable():
            self.ways[function] |= _RESUMABLE
        else:
            self.ways[function] |= DIRECT if self.listener.is_direct() else INDIRECT

    # Results

    def count(self, site_id: int) -> int:
        """How often the site was reached."""
        return self.counts[site_id]

    def snapshot(self) -> tuple[Reached, Reached | None]:
        """What was reached, and what was reached directly if `begin` asked for it."""
        direct = self._reached(self.direct_counts, self.direct_distances) if self.direct else None
        return self._reached(self.counts, self.distances), direct

    def infected(self) -> Infected | None:
        """What the sites say about mutants, None unless `begin` asked for it."""
        if not self.infect:
            return None
        sites = list(compress(range(len(self.bits)), self.bits))
        return array("I", sites).tobytes(), array("I", map(self.bits.__getitem__, sites)).tobytes()

    def _reached(self, counts: list[int], distances: list[float]) -> Reached:
        sites = list(compress(range(len(counts)), counts))
        how_often = list(map(counts.__getitem__, sites))
        found = chain.from_iterable(map(distances.__getitem__, map(self._slots.__getitem__, sites)))
        return array("I", sites).tobytes(), _counts(how_often).tobytes(), _floats(found).tobytes()


def _picked(places: list[int]) -> Callable[[list[int]], Sequence[int]]:
    """What takes the items at these places out of a list."""
    if len(places) > 1:
        return operator.itemgetter(*places)
    return lambda items: [items[place] for place in places]


def _counts(values: list[int]) -> array[int]:
    try:
        return array("I", values)
    except OverflowError:
        return array("I", [min(value, _MOST_COUNTED) for value in values])


def _floats(values: Iterable[float]) -> array[float]:
    """Integers wider than a float and infinite differences become the largest finite distance."""
    values = list(values)
    try:
        return array("d", values)
    except OverflowError:
        return array("d", map(finite, values))
