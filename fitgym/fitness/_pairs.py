"""Pairs: how far groups of texts are from each other, each distance computed once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from itertools import accumulate, chain
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from fitgym.fitness.base import Index, Mask

__all__ = ["LIMIT", "UNITS", "Pairs"]

LIMIT = 4096
"""Groups, and texts, whose distances are remembered at most, unless one call needs more: about 100 MB then."""

UNITS = 10_000
"""In what parts of 1 normalised distances are counted, as whole numbers, so that the order of sums does not matter."""

_UNKNOWN = -1

Key = TypeVar("Key", bound=Hashable)


class Pairs:
    """Distances between groups of texts, each the sum over all pairs of a text of one and a text of the other.

        lev(a, b) = sum over s in a, t in b of the Levenshtein distance of s and t, all three operations costing 1

    What is known of two groups, or of two texts, is never computed again: where one of n groups has been changed, n
    distances of groups are new, made of the distances of those of its texts that are. All are whole numbers, so it does
    not matter what was known before.

    Args:
        limit: how many groups and how many texts are remembered.
        normalised: the distance of two texts is divided by the length of the longer one, in units of 1 / `UNITS`.
    """

    def __init__(self, limit: int = LIMIT, *, normalised: bool = False) -> None:
        self.limit = limit
        self.normalised = normalised
        self._groups: _Square[Hashable] = _Square(np.int32)
        self._members: list[Index] = []  # places of the texts of each group
        self._texts: _Square[str] = _Square(np.int16)

    def __len__(self) -> int:
        return len(self._members)

    def total(self, keys: Sequence[Hashable], read: Callable[[Any], Sequence[str]]) -> int:
        """The sum of the distances over all pairs of groups; a group that is named twice is a pair with itself.

        Args:
            keys: what the groups are known by.
            read: the texts of the group of a key, none of them longer than 32767; asked if the group is not known.
        """
        distances, _ = self._distances(keys, read)
        return int(distances.sum(dtype=np.int64) - distances.trace(dtype=np.int64)) // 2

    def mean(self, keys: Sequence[Hashable], read: Callable[[Any], Sequence[str]]) -> float:
        """The mean over the pairs of groups of the mean distance of a text of one to a text of the other.

        Groups without texts have no pairs; 0 without any pair.

        Args:
            keys, read: see `total`.
        """
        distances, places = self._distances(keys, read)
        sizes = np.array([len(self._members[place]) for place in places.tolist()], dtype=np.float64)
        filled = np.flatnonzero(sizes)
        if len(filled) < 2:
            return 0.0
        means = distances[np.ix_(filled, filled)] / (sizes[filled, None] * sizes[None, filled])
        n = len(filled)
        total = float(means.sum() - means.trace()) / (n * (n - 1))
        return total / UNITS if self.normalised else total

    def _distances(
        self, keys: Sequence[Hashable], read: Callable[[Any], Sequence[str]]
    ) -> tuple[NDArray[np.int16 | np.int32], Index]:
        """The distances of all groups to all groups, and the places of the groups."""
        self._learn(keys, read)
        places = np.array([self._groups.place[key] for key in keys], dtype=np.intp)
        distances = self._groups.at(places, places)
        if (unknown := distances == _UNKNOWN).any():
            self._measure(places[_covering(unknown, places[:, None] == places)], places)
            distances = self._groups.at(places, places)
        return distances, places

    def retain(self, keys: Collection[Hashable]) -> None:
        """Forget all groups but these, and the texts that are in none of them."""
        kept = self._groups.retain(keys)
        members = [self._members[place] for place in kept.tolist()]
        used = np.unique(np.concatenate([np.zeros(0, np.intp), *members]))
        self._texts.retain({self._texts.keys[place] for place in used.tolist()})
        self._members = [np.searchsorted(used, places) for places in members]

    def _learn(self, keys: Sequence[Hashable], read: Callable[[Any], Sequence[str]]) -> None:
        new = {key: read(key) for key in dict.fromkeys(keys) if key not in self._groups.place}
        if not new:
            return
        n_texts = len(self._texts.keys) + len(set(chain.from_iterable(new.values())))
        if max(len(self) + len(new), n_texts) > self.limit and len(self):
            self.retain(())
            new = {key: read(key) for key in dict.fromkeys(keys)}
        for key, texts in new.items():
            self._groups.add(key)
            places = np.array([self._texts.add(text) for text in texts], dtype=np.intp)
            self._members.append(places)
            self._texts.values[places, places] = 0

    def _measure(self, some: Index, groups: Index) -> None:
        """Enter the distances of some groups to others."""
        rows = [self._members[place] for place in some.tolist()]
        columns = [self._members[place] for place in groups.tolist()]
        down, across = np.concatenate(rows), np.concatenate(columns)
        distances = self._texts.at(down, across)
        if (unknown := distances == _UNKNOWN).any():
            self._compare(down[unknown.any(axis=1)].tolist(), across[unknown.any(axis=0)].tolist())
            distances = self._texts.at(down, across)
        self._groups.put(some, groups, _summed(_summed(distances, rows).T, columns).T)

    def _compare(self, some: Iterable[int], texts: Iterable[int]) -> None:
        """Enter the distances of some texts to others; those that are known are left out as far as whole rows are."""
        rows, columns = np.array(list(dict.fromkeys(some))), np.array(list(dict.fromkeys(texts)))
        rows = rows[_covering(self._texts.at(rows, columns) == _UNKNOWN, rows[:, None] == columns)]
        queries, choices = ([self._texts.keys[place] for place in places.tolist()] for places in (rows, columns))
        if self.normalised:
            found = cdist(queries, choices, scorer=Levenshtein.normalized_distance, dtype=np.float64)
            self._texts.put(rows, columns, np.rint(found * UNITS).astype(np.int32))
        else:
            self._texts.put(rows, columns, cdist(queries, choices, scorer=Levenshtein.distance, dtype=np.int32))


class _Square(Generic[Key]):
    """A symmetric table of numbers with keys for its rows and columns.

    Attributes:
        keys: in the order in which they came; the place of a key in it is its row and its column.
        place: of each key.
        values: `_UNKNOWN` where none was entered; may have further rows and columns.
    """

    def __init__(self, dtype: type[np.int16] | type[np.int32]) -> None:
        self.keys: list[Key] = []
        self.place: dict[Key, int] = {}
        self.values: NDArray[np.int16 | np.int32] = np.zeros((0, 0), dtype)

    def add(self, key: Key) -> int:
        """The place of a key, a new one if it has none."""
        place = self.place.setdefault(key, len(self.keys))
        if place == len(self.keys):
            self.keys.append(key)
            if place == len(self.values):
                grown = np.full((2 * place + 32,) * 2, _UNKNOWN, self.values.dtype)
                grown[:place, :place] = self.values
                self.values = grown
        return place

    def at(self, rows: Index, columns: Index) -> NDArray[np.int16 | np.int32]:
        """The numbers where some rows and some columns meet; in two steps, which takes a fifth of the time of one."""
        return self.values.take(rows, axis=0).take(columns, axis=1)

    def put(self, rows: Index, columns: Index, values: NDArray[Any]) -> None:
        """Enter numbers there, and where the columns of the same keys meet their rows."""
        self.values[rows[:, None], columns] = values
        self.values[columns[:, None], rows] = values.T

    def retain(self, keys: Collection[Hashable]) -> Index:
        """Forget all keys but these; the places, ascending, that the rest had before."""
        kept = [place for place, key in enumerate(self.keys) if key in keys]
        places = np.array(kept, dtype=np.intp)
        self.keys = [self.keys[place] for place in kept]
        self.place = {key: place for place, key in enumerate(self.keys)}
        self.values = self.values[np.ix_(places, places)]
        return places


def _covering(unknown: Mask, same: Mask) -> Index:
    """Few rows that have, with the columns of the same things, all that is unknown: first the row with the most."""
    rest, rows = unknown.copy(), []
    while (counts := rest.sum(axis=1)).any():
        row = int(counts.argmax())
        rows.append(row)
        rest[row], rest[:, same[row]] = False, False
    return np.array(rows, dtype=np.intp)


def _summed(values: NDArray[Any], groups: Sequence[Index]) -> NDArray[np.int64]:
    """The sums of the rows of each group, which may have none; the rows of the first group come first."""
    starts = list(accumulate(map(len, groups), initial=0))
    filled = [number for number, group in enumerate(groups) if len(group)]
    sums = np.zeros((len(groups), values.shape[1]), np.int64)
    if filled:
        sums[filled] = np.add.reduceat(values, [starts[number] for number in filled], axis=0, dtype=np.int64)
    return sums
