"""Rows: what one fitness function says about every trace, and about suites of them.

A row of two matrices belongs to each trace: its distances to the columns that still count, and how often it executed the
decisions behind them. A suite is an array of row numbers, and the values of many suites come out of a few reductions.
Columns of covered targets are dropped when half of them are gone; what covers what is kept for all targets.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fitgym.evolution.individual import Individual
from fitgym.fitness.base import UNSEEN, Counts, Fitness, Floats, Index, Mask
from fitgym.instrument.trace import Trace

__all__ = ["NOTHING", "Rows"]

NOTHING = 0
"""The row of a trace in which nothing ran; it stands for the test cases of an empty suite."""

_NARROW = 64  # up to so many columns `reduceat`, which strides from row to row, is faster than a call for each suite
_MANY = 2  # executions; no value of a suite tells more of them apart


class Rows:
    """The rows of one fitness function.

    Args:
        fitness: measures the traces.
    """

    def __init__(self, fitness: Fitness) -> None:
        self.fitness = fitness
        self._values: dict[Individual, float] = {}
        self._measured: Mask = np.ones(1, dtype=bool)
        self._covers: Mask = np.zeros((1, len(fitness.targets)), dtype=bool)
        self._distances: Floats = np.full((1, fitness.n_columns), UNSEEN)
        self._visits: NDArray[np.uint16] = np.zeros((1, fitness.n_columns), dtype=np.uint16)
        self._has_visits = False
        self._columns: Index = np.arange(fitness.n_columns)  # those that the two matrices have
        self._covered: Mask = np.zeros(len(fitness.targets), dtype=bool)
        self._choose()

    @property
    def values(self) -> dict[Individual, float]:
        """The fitness of suites that is known and still holds; all of it goes when targets are appended or covered."""
        self.widen()
        return self._values

    def unmeasured(self, rows: Index) -> Index:
        """Those of the rows that have not been measured, each once, in order."""
        self._make_room(int(rows.max(initial=0)) + 1)
        missing = rows[~self._measured[rows]]
        return np.array(list(dict.fromkeys(missing.tolist())), dtype=np.intp)

    def measure(self, rows: Index, traces: Sequence[Trace]) -> None:
        """Fill rows with what the fitness function says about their traces."""
        distances, visits = self.fitness.distances(traces), self.fitness.visits(traces)
        self.widen()
        self._covers[rows, : len(self.fitness.targets)] = self.fitness.covered(distances)
        self._distances[rows, : len(self._columns)] = self._kept(distances)
        if visits is not None:
            self._has_visits = True
            self._visits[rows, : len(self._columns)] = np.minimum(self._kept(visits), _MANY)
        self._measured[rows] = True

    def widen(self) -> None:
        """Take in the columns that a dynamic function has appended. No trace measured before concerns them."""
        new = np.arange(self._n_columns, self.fitness.n_columns)
        if len(new):
            self._columns = np.concatenate([self._columns, new])
            self._make_room(1)
            self._choose()

    def close(self, covered: Mask) -> None:
        """Leave the targets that the archive covers out of the values of suites."""
        if not np.array_equal(covered, self._covered):
            self._covered = covered
            self._choose()

    def covers(self, rows: Index) -> Mask:
        """Which of the rows cover which target, shape `(len(rows), n_targets)`."""
        self.widen()
        return self._covers.take(rows, axis=0)[:, : len(self.fitness.targets)]

    def of_suites(self, rows: Index, starts: Index) -> Floats:
        """The fitness of suites, shape `(len(starts),)`.

        Args:
            rows: the rows of the first suite, those of the second one, and so on; no suite is without.
            starts: where each of them begins.
        """
        least = self._counted(_reduced(np.minimum, self._distances, rows, starts))
        np.minimum(least, 1.0, out=least)
        executed = (
            self._counted(_reduced(self.fitness.together, self._visits, rows, starts)) if self._has_visits else None
        )
        return self.fitness.of_suites(self.fitness.suite_columns(least, executed, self._archived))

    def retain(self, rows: Index, individuals: Container[Individual]) -> None:
        """Forget all rows but these, ascending, which become 0, 1, ..., and the values of all but these individuals."""
        rows = rows[rows < len(self._measured)]
        self._measured, self._covers = self._measured[rows], self._covers[rows]
        self._distances, self._visits = self._distances[rows], self._visits[rows]
        self._values = {individual: value for individual, value in self._values.items() if individual in individuals}

    def _kept(self, values: NDArray[Any]) -> NDArray[Any]:
        """Of values for all columns those that the matrices have."""
        return values if len(self._columns) == values.shape[1] else values.take(self._columns, axis=1)

    def _counted(self, values: NDArray[Any]) -> NDArray[Any]:
        """Of values for the columns that the matrices have those that count."""
        return values if len(self._counting) == values.shape[1] else values.take(self._counting, axis=1)

    def _choose(self) -> None:
        """Find out which columns count now."""
        fitness = self.fitness
        self._n_columns = fitness.n_columns
        covered = np.zeros(len(fitness.targets), dtype=bool)
        covered[: len(self._covered)] = self._covered
        counting = np.zeros(fitness.n_columns, dtype=bool)
        counting[fitness.counting(~covered)] = True
        self._counting: Index = np.flatnonzero(counting[self._columns])
        if 2 * len(self._counting) < len(self._columns):
            self._columns = self._columns[self._counting]
            self._distances = self._distances.take(self._counting, axis=1)
            self._visits = self._visits.take(self._counting, axis=1)
            self._counting = np.arange(len(self._columns))
        archived = np.minimum(fitness.archived_visits(covered), _MANY).astype(np.uint16)
        self._archived: Counts = archived[self._columns[self._counting]]
        self._values.clear()

    def _make_room(self, n_rows: int) -> None:
        self._measured = _grown(self._measured, False, n_rows)
        n_rows = len(self._measured)
        self._covers = _grown(self._covers, False, n_rows, len(self.fitness.targets))
        self._distances = _grown(self._distances, UNSEEN, n_rows, len(self._columns))
        self._visits = _grown(self._visits, 0, n_rows, len(self._columns))


def _grown(values: NDArray[Any], fill: float, *shape: int) -> NDArray[Any]:
    """The array with at least this shape; where it has to grow it doubles, and what is new reads `fill`."""
    if all(have >= wanted for have, wanted in zip(values.shape, shape, strict=True)):
        return values
    room = [have if have >= wanted else max(wanted, 2 * have) for have, wanted in zip(values.shape, shape, strict=True)]
    grown = np.full(room, fill, dtype=values.dtype)
    grown[tuple(map(slice, values.shape))] = values
    return grown


def _reduced(ufunc: np.ufunc, matrix: NDArray[Any], rows: Index, starts: Index) -> NDArray[Any]:
    """The rows of each suite reduced to one, shape `(len(starts), matrix.shape[1])`."""
    if matrix.shape[1] <= _NARROW:
        return ufunc.reduceat(matrix.take(rows, axis=0), starts, axis=0, dtype=matrix.dtype)
    reduced = np.empty((len(starts), matrix.shape[1]), dtype=matrix.dtype)
    bounds = [*starts.tolist(), len(rows)]
    for suite, first, end in zip(reduced, bounds, bounds[1:], strict=False):
        ufunc.reduce(matrix.take(rows[first:end], axis=0), axis=0, dtype=matrix.dtype, out=suite)
    return reduced
