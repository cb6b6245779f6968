"""Outcomes: how near traces came to each outcome of the decisions that they executed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fitgym.fitness._ranges import ranges
from fitgym.fitness._recorded import Reached
from fitgym.fitness.base import Entries, nu
from fitgym.instrument.relations import FALSE_SLOTS, TRUE_SLOTS
from fitgym.subject.subject import Site, Subject

__all__ = ["Outcomes", "outcome_slots"]


def outcome_slots(site: Site, outcome: bool) -> tuple[int, ...]:
    """Return which recorded distances of a decision, from 0, have the distance to an outcome as their minimum.

    A comparison records the distances to `<`, `==` and `>` in this order. For example, `a <= b` is true if one of the
    first two occurred, and false if the third did. Every other decision records the distance to true, then to false.
    """
    if site.kind != "comparison":
        return (int(not outcome),)
    return (TRUE_SLOTS if outcome else FALSE_SLOTS)[site.operator]


class Outcomes:
    """The outcomes that are the columns of a fitness function.

    Args:
        subject: the code under test.
        pairs: site and outcome of each column; the only outcome of a block is that it was entered.
    """

    def __init__(self, subject: Subject, pairs: Sequence[tuple[int, bool]]) -> None:
        columns_of: dict[int, list[int]] = {}
        for column, (site, _) in enumerate(pairs):
            columns_of.setdefault(site, []).append(column)
        lengths = [len(columns_of.get(site.id, ())) for site in subject.sites]
        self._lengths = np.array(lengths, dtype=np.intp)
        self._first = np.cumsum(self._lengths) - self._lengths
        self._columns = np.array([column for site in sorted(columns_of) for column in columns_of[site]], dtype=np.intp)
        slots = [
            outcome_slots(subject.sites[site], outcome) if subject.sites[site].width else (-1,)
            for site, outcome in (pairs[column] for column in self._columns)
        ]
        self._slots = np.array([(found[0], found[-1]) for found in slots], dtype=np.intp).reshape(-1, 2).T

    def entries(self, found: Reached) -> Entries:
        """Return an entry for each outcome of each executed decision, with the normalised distance to the outcome."""
        reached, places = ranges(self._first[found.sites], self._lengths[found.sites])
        slots = self._slots[:, places]
        distances = np.append(found.distances, 0.0)  # index -1: a reached block was entered, distance 0
        low, high = distances[np.where(slots < 0, -1, found.first[reached] + slots)]
        visits = np.minimum(found.counts, 2)[reached]
        return Entries(found.traces[reached], self._columns[places], nu(np.minimum(low, high)), visits)
