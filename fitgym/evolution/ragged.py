"""Ragged table: rows of different lengths, stored one after the other in flat arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fitgym.fitness._ranges import ranges
from fitgym.fitness.base import Index, Mask

__all__ = ["Ragged"]


class Ragged:
    """A table of rows with any number of entries; each entry has one value in every column.

    Arrays double when they grow, so adding a batch costs time in proportion to its size.

    Args:
        dtypes: of the columns.
    """

    def __init__(self, *dtypes: DTypeLike) -> None:
        self._first: Index = np.zeros(1, dtype=np.intp)  # by row
        self._length: Index = np.zeros(1, dtype=np.intp)
        self._values: list[NDArray[Any]] = [np.empty(0, dtype=dtype) for dtype in dtypes]
        self._end = 0

    def __len__(self) -> int:
        """The number of entries."""
        return self._end

    def put(self, rows: Index, lengths: Index, *values: NDArray[Any]) -> None:
        """Fill empty rows: `lengths` entries each, with the values of all entries concatenated."""
        last = int(rows.max())
        if last >= len(self._length):
            self._first, self._length = _grown(self._first, last + 1), _grown(self._length, last + 1)
        self._length[rows] = lengths
        self._first[rows] = self._end + np.cumsum(lengths) - lengths
        first, self._end = self._end, self._end + len(values[0])
        if self._end > len(self._values[0]):
            self._values = [_grown(known, self._end) for known in self._values]
        for known, new in zip(self._values, values, strict=True):
            known[first : self._end] = new

    def gather(self, rows: Index) -> tuple[Index, list[NDArray[Any]]]:
        """Return the entries of rows: for each its position in `rows`, and the values of each column."""
        owners, places = ranges(self._first[rows], self._length[rows])
        return owners, [values[places] for values in self._values]

    def column(self, number: int) -> NDArray[Any]:
        """Return one column: its value in every entry."""
        return self._values[number][: self._end]

    def keep(self, entries: Mask) -> None:
        """Drop all other entries."""
        before = np.concatenate([[0], np.cumsum(entries)])
        self._first, end = before[self._first], before[self._first + self._length]
        self._length = end - self._first
        self._values = [values[: self._end][entries] for values in self._values]
        self._end = int(before[-1])

    def retain(self, rows: Index) -> None:
        """Drop all other rows; these become the rows 0, 1, ..."""
        rows = rows[rows < len(self._length)]
        _, self._values = self.gather(rows)
        self._length = self._length[rows]
        self._first = np.cumsum(self._length) - self._length
        self._end = len(self._values[0])


def _grown(values: NDArray[Any], length: int) -> NDArray[Any]:
    grown = np.zeros(max(length, 2 * len(values)), dtype=values.dtype)
    grown[: len(values)] = values
    return grown
