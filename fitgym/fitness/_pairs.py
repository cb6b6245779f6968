"""Pairs: distances between groups of texts, each computed only once."""

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
"""The largest number of cached groups, and of cached texts, unless one call needs more: about 100 MB then."""

UNITS = 10_000
"""Normalised distances are stored as whole numbers of 1 / `UNITS`, so that the order of additions does not matter."""

_UNKNOWN = -1

Key = TypeVar("Key", bound=Hashable)


class Pairs:
    """Cached distances between groups of texts: the sum over all pairs of a text of one group and a text of the other.

        lev(a, b) = sum over s in a, t in b of the Levenshtein distance of s and t, all three operations costing 1

    The distance of two groups, and of two texts, is never computed twice. If one of n groups changes, only n group
    distances are new, and only the distances of its new texts are computed for them. All distances are whole numbers,
    so results do not depend on what was cached before.

    Args:
        limit: how many groups and how many texts are cached.
        normalised: divide the distance of two texts by the length of the longer one, in units of 1 / `UNITS`.
    """

    def __init__(self, limit: int = LIMIT, *, normalised: bool = False) -> None:
        self.limit = limit
        self.normalised = normalised
        self._groups: _Square[Hashable] = _Square(np.int32)
        self._members: list[Index] = []  # places of the texts of each group
        self._texts: _Square[str] = _Square(np.int16)  # half the memory; a distance is at most 32767 or `UNITS`

    def __len__(self) -> int:
        return len(self._members)

    def total(self, keys: Sequence[Hashable], read: Callable[[Any], Sequence[str]]) -> int:
        """Return the sum of the distances over all pairs of groups; a group that is named twice is a pair with itself.

        Args:
            keys: the cache keys of the groups.
            read: returns the texts of the group of a key, none longer than 32767; called only for unknown groups.
        """
        distances, _ = self._distances(keys, read)
        return int(distances.sum(dtype=np.int64) - distances.trace(dtype=np.int64)) // 2

    def mean(self, keys: Sequence[Hashable], read: Callable[[Any], Sequence[str]]) -> float:
        """Return the mean over pairs of groups of the mean distance between a text of one and a text of the other.

        Groups without texts form no pairs. The result is 0 without pairs.

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
        """Return the distances of all groups to all groups, and the places of the groups."""
        self._learn(keys, read)
        places = np.array([self._groups.place[key] for key in keys], dtype=np.intp)
        distances = self._groups.at(places, places)
        if (unknown := distances == _UNKNOWN).any():
            self._measure(places[_covering(unknown, places[:, None] == places)], places)
            distances = self._groups.at(places, places)
        return distances, places

    def retain(self, keys: Collection[Hashable]) -> None:
        """Drop all groups but these, and the texts that none of them contains."""
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
        """Compute and store the distances of some groups to others."""
        rows = [self._members[place] for place in some.tolist()]
        columns = [self._members[place] for place in groups.tolist()]
        down, across = np.concatenate(rows), np.concatenate(columns)
        distances = self._texts.at(down, across)
        if (unknown := distances == _UNKNOWN).any():
            self._compare(down[unknown.any(axis=1)].tolist(), across[unknown.any(axis=0)].tolist())
            distances = self._texts.at(down, across)
        self._groups.put(some, groups, _summed(_summed(distances, rows).T, columns).T)

    def _compare(self, some: Iterable[int], texts: Iterable[int]) -> None:
        """Compute and store the distances of some texts to others, except for rows that are completely known."""
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
        keys: in the order in which they were added; the index of a key is its row and its column.
        place: the index of each key.
        values: the numbers, `_UNKNOWN` where none was stored; may have further rows and columns.
    """

    def __init__(self, dtype: type[np.int16] | type[np.int32]) -> None:
        self.keys: list[Key] = []
        self.place: dict[Key, int] = {}
        self.values: NDArray[np.int16 | np.int32] = np.zeros((0, 0), dtype)

    def add(self, key: Key) -> int:
        """Return the place of a key. A new key gets a new place."""
        place = self.place.setdefault(key, len(self.keys))
        if place == len(self.keys):
            self.keys.append(key)
            if place == len(self.values):
                grown = np.full((2 * place + 32,) * 2, _UNKNOWN, self.values.dtype)
                grown[:place, :place] = self.values
                self.values = grown
        return place

    def at(self, rows: Index, columns: Index) -> NDArray[np.int16 | np.int32]:
        """Return the numbers at the crossings of rows and columns. Two `take` calls need a fifth of the time of one."""
        return self.values.take(rows, axis=0).take(columns, axis=1)

    def put(self, rows: Index, columns: Index, values: NDArray[Any]) -> None:
        """Store numbers at the crossings of rows and columns, and at the mirrored places."""
        self.values[rows[:, None], columns] = values
        self.values[columns[:, None], rows] = values.T

    def retain(self, keys: Collection[Hashable]) -> Index:
        """Drop all keys but these. Returns the former places of the kept keys, ascending."""
        kept = [place for place, key in enumerate(self.keys) if key in keys]
        places = np.array(kept, dtype=np.intp)
        self.keys = [self.keys[place] for place in kept]
        self.place = {key: place for place, key in enumerate(self.keys)}
        self.values = self.values[np.ix_(places, places)]
        return places


def _covering(unknown: Mask, same: Mask) -> Index:
    """Return few rows that contain all unknown entries, up to symmetry: greedily the row with the most first."""
    rest, rows = unknown.copy(), []
    while (counts := rest.sum(axis=1)).any():
        row = int(counts.argmax())
        rows.append(row)
        rest[row], rest[:, same[row]] = False, False
    return np.array(rows, dtype=np.intp)


def _summed(values: NDArray[Any], groups: Sequence[Index]) -> NDArray[np.int64]:
    """Return the sums of the rows of each group, in the order of the groups; a group may be empty."""
    starts = list(accumulate(map(len, groups), initial=0))
    filled = [number for number, group in enumerate(groups) if len(group)]
    sums = np.zeros((len(groups), values.shape[1]), np.int64)
    if filled:
        sums[filled] = np.add.reduceat(values, [starts[number] for number in filled], axis=0, dtype=np.int64)
    return sums
