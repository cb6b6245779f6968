"""Impact: how much the recorded data of a mutant's run differs from that of the original."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from fitgym.instrument.relations import nu
from fitgym.instrument.trace import Reached
from fitgym.subject.subject import Site

__all__ = ["Impact"]

_NOTHING: Reached = (b"", b"", b"")
_SLOT = array("d").itemsize


class Impact:
    """The impact of mutants on a subject.

        impact = nu(n) + sum over slots of nu(|d - d'|)         nu(x) = x / (x + 1)

    Here n is the number of blocks with a different number of visits. The sum runs over the distance slots of all
    decisions that either run reached. A decision that only one run reached counts 1 per slot.

    Args:
        sites: sites of the subject, by id.

    References:
        EvoSuite 1.0.7, strong mutation: blocks replace its methods and lines. Its term for methods with different return
        data is left out: a difference that a test can see kills the mutant.
    """

    def __init__(self, sites: Sequence[Site]) -> None:
        self._widths = [site.width for site in sites]
        self._sizes = [_SLOT * width for width in self._widths]
        self._blocks = [not site.width and site.kind == "block" for site in sites]
        self._before = _NOTHING
        self._old: dict[int, tuple[int, bytes]] = {}

    def of(self, before: Reached, after: Reached, unrecorded: frozenset[int]) -> float:
        """Return the impact of a mutant on one test case.

        Args:
            before, after: reached sites of the original and of the mutant.
            unrecorded: sites that the mutant does not have; they are left out.
        """
        if before == after:
            return 0.0
        # Runs that reached the same sites need no dictionary, so they are compared in a third of the time.
        return (self._alike if before[0] == after[0] else self._unlike)(before, after, unrecorded)

    def _alike(self, before: Reached, after: Reached, unrecorded: frozenset[int]) -> float:
        """Return the impact if the same sites were reached."""
        ids, blocks, total = array("I", before[0]), 0, 0.0
        if before[1] != after[1]:
            for site, was, now in zip(ids, array("I", before[1]), array("I", after[1]), strict=True):
                blocks += was != now and self._blocks[site] and site not in unrecorded
        if before[2] != after[2]:
            pairs = zip(array("d", before[2]), array("d", after[2]), strict=True)
            ends = list(accumulate([self._widths[site] for site in ids]))
            for slot, (a, b) in enumerate(pairs):
                if a != b and ids[bisect_right(ends, slot)] not in unrecorded:
                    total += _bounded(abs(a - b))
        return nu(blocks) + total

    def _unlike(self, before: Reached, after: Reached, unrecorded: frozenset[int]) -> float:
        if before is not self._before:  # a test case runs on one mutant after the other
            self._before, self._old = before, self._by_site(before)
        old, new = self._old, self._by_site(after)
        blocks, total = 0, 0.0
        for site in sorted({site for site, _ in old.items() ^ new.items()} - unrecorded):
            if not self._widths[site]:
                blocks += self._blocks[site]
            elif site not in old or site not in new:
                total += self._widths[site]
            else:
                for a, b in zip(array("d", old[site][1]), array("d", new[site][1]), strict=True):
                    if a != b:
                        total += _bounded(abs(a - b))
        return nu(blocks) + total

    def _by_site(self, reached: Reached) -> dict[int, tuple[int, bytes]]:
        """Return count and distances by site. Distances stay bytes, because most are only compared."""
        ids, counts = array("I", reached[0]), array("I", reached[1])
        ends = list(accumulate(map(self._sizes.__getitem__, ids)))
        distances = map(reached[2].__getitem__, map(slice, [0, *ends], ends))
        return dict(zip(ids, zip(counts, distances, strict=True), strict=True))


def _bounded(gap: float) -> float:
    """Return nu of a gap, and its limit 1 if the gap is infinite."""
    return 1.0 if gap - gap != 0.0 else nu(gap)
