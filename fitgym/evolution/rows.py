"""Rows: the measurements of every trace by one fitness function, and of suites of traces.

A trace is near few columns, so a row stores only those. A suite is an array of row numbers. The values of many suites
come from one reduction over the entries of all their rows. When the archive covers a target, its column no longer
counts. The entries of such columns are dropped once they are half of all columns. Which row covers which target is kept
for all targets.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np

from fitgym.evolution.individual import Individual
from fitgym.evolution.ragged import Ragged
from fitgym.fitness.base import Counts, Fitness, Floats, Index, Mask, pad
from fitgym.instrument.trace import Trace

__all__ = ["Rows"]


class Rows:
    """The rows of one fitness function.

    Args:
        fitness: measures the traces.
        raw: values of suites are plain sums; see `Fitness.of_suites`.
    """

    def __init__(self, fitness: Fitness, *, raw: bool = False) -> None:
        self.fitness = fitness
        self._raw = raw
        self._values: dict[Individual, float] = {}
        self._measured: Mask = np.zeros(0, dtype=bool)
        self._covers = Ragged(np.intp)  # targets
        self._near = Ragged(np.intp, np.float64, np.uint16)  # columns, distances and visits
        self._has_visits = False
        self._covered: Mask = np.zeros(0, dtype=bool)
        self._aside: Mask = np.zeros(0, dtype=bool)
        self._kept: Mask = np.zeros(0, dtype=bool)  # the columns with stored entries
        self._position: Index = np.zeros(0, dtype=np.intp)  # index of each column among those that count, or -1
        self._stored = 0  # number of columns whose entries are stored
        self._dense: dict[int, Floats] = {}  # distances to all targets, by requested row
        self._choose()

    @property
    def values(self) -> dict[Individual, float]:
        """The cached fitness of suites; cleared when targets are appended or covered."""
        self._notice()
        return self._values

    def unmeasured(self, rows: Index) -> Index:
        """Return those of the rows that have not been measured, each once, in order."""
        n_rows = int(rows.max(initial=0)) + 1
        if n_rows > len(self._measured):
            self._measured = np.append(self._measured, np.zeros(n_rows, dtype=bool))
        missing = rows[~self._measured[rows]]
        return np.array(list(dict.fromkeys(missing.tolist())), dtype=np.intp)

    def measure(self, rows: Index, traces: Sequence[Trace]) -> None:
        """Fill rows with the fitness function's entries for their traces."""
        found = self.fitness.entries(traces)
        self._notice()
        covering, covered = found.covered(len(self.fitness.targets))
        self._covers.put(rows, np.bincount(covering, minlength=len(rows)), covered)
        self._has_visits = found.visits is not None
        visits = np.zeros(len(found.rows)) if found.visits is None else found.visits
        # Covered targets never come back, so entries of their columns are not stored.
        near = np.flatnonzero(self._kept[found.columns])
        lengths = np.bincount(found.rows[near], minlength=len(rows))
        self._near.put(rows, lengths, found.columns[near], found.distances[near], visits[near])
        self._measured[rows] = True

    def close(self, covered: Mask, aside: Mask | None = None) -> None:
        """Remove targets from suite values.

        Args:
            covered: targets that the archive covers; their entries may be dropped for good.
            aside: targets that do not count for now, because the search is focused elsewhere.
        """
        aside = np.zeros(0, dtype=bool) if aside is None else aside
        # `_choose` drops all cached suite values, so it runs only after a change.
        if not (np.array_equal(covered, self._covered) and np.array_equal(aside, self._aside)):
            self._covered, self._aside = covered, aside
            self._choose()

    def covered(self, rows: Index) -> tuple[Index, Index]:
        """Return the targets that rows cover: positions in `rows`, ascending, and the targets."""
        positions, (targets,) = self._covers.gather(rows)
        return positions, targets

    @property
    def open(self) -> Mask:
        """Which targets count, `(n_targets,)`: neither covered nor set aside; none if the function reads test cases."""
        open_ = np.full(len(self.fitness.targets), not self.fitness.reads_tests)
        open_[: len(self._covered)] &= ~self._covered
        open_[: len(self._aside)] &= ~self._aside
        return open_

    def objectives(self, rows: Index, traces: Sequence[Trace], among: Mask | None = None) -> Floats:
        """Return the distances of rows to the open targets, `(len(rows), n_open)`, including approach levels.

        Args:
            rows: measured rows.
            traces: of all rows.
            among: only these targets, all by default; targets beyond the end of a short mask count.
        """
        if self.fitness.reads_tests:
            return np.zeros((len(rows), 0))
        open_ = self.open
        if among is not None:
            open_[: len(among)] &= among
        return self.distances(rows, traces)[:, open_]

    def distances(self, rows: Index, traces: Sequence[Trace]) -> Floats:
        """Return the distances of rows to all targets, `(len(rows), n_targets)`, including approach levels.

        Args:
            rows: measured rows.
            traces: of all rows.
        """
        fitness = self.fitness
        if missing := list(dict.fromkeys(row for row in rows.tolist() if row not in self._dense)):
            found = fitness.distances([traces[row] for row in missing])
            self._dense.update(zip(missing, found[:, : len(fitness.targets)], strict=True))
        n = len(fitness.targets)
        return np.array([pad(self._dense[row], n) for row in rows.tolist()]).reshape(len(rows), n)

    def of_suites(self, rows: Index, sizes: Index) -> Floats:
        """Return the fitness of suites, shape `(len(sizes),)`.

        Args:
            rows: the rows of the first suite, then of the second one, and so on.
            sizes: the number of rows of each suite.
        """
        owners, (columns, distances, visits) = self._near.gather(rows)
        counting = self._position[columns]
        n_suites, n = len(sizes), len(self._archived)
        # One flat index for each pair of suite and column, so that one call reduces the entries of all suites.
        cells = np.repeat(np.arange(n_suites) * n, sizes)[owners] + counting
        if n < self._stored:
            chosen = np.flatnonzero(counting >= 0)
            cells, distances, visits = cells[chosen], distances[chosen], visits[chosen]
        least = np.ones(n_suites * n)
        np.minimum.at(least, cells, distances)
        executed: Counts | None = None
        if self._has_visits:
            executed = np.zeros(n_suites * n, dtype=visits.dtype)
            self.fitness.together.at(executed, cells, visits)
            executed = executed.reshape(n_suites, n)
        columns = self.fitness.suite_columns(least.reshape(n_suites, n), executed, self._archived)
        return self.fitness.of_suites(columns, raw=self._raw)

    def retain(self, rows: Index, individuals: Container[Individual]) -> None:
        """Keep only these rows, ascending, which become 0, 1, ..., and the values of these individuals."""
        self._measured = self._measured[rows[rows < len(self._measured)]]
        self._covers.retain(rows)
        self._near.retain(rows)
        self._dense = {new: self._dense[old] for new, old in enumerate(rows.tolist()) if old in self._dense}
        self._values = {individual: value for individual, value in self._values.items() if individual in individuals}

    def _notice(self) -> None:
        """Add the targets that a dynamic function has appended. No trace measured before concerns them."""
        if self.fitness.n_columns > len(self._position):
            self._choose()

    def _choose(self) -> None:
        """Compute which columns count now."""
        fitness = self.fitness
        self._stored += fitness.n_columns - len(self._position)
        covered, aside = (np.zeros(len(fitness.targets), dtype=bool) for _ in range(2))
        covered[: len(self._covered)] = self._covered
        aside[: len(self._aside)] = self._aside
        counting = fitness.counting(~(covered | aside))
        self._position = np.full(fitness.n_columns, -1)
        self._position[counting] = np.arange(len(counting))
        self._archived: Counts = np.minimum(fitness.archived_visits(covered), 2).astype(np.uint16)[counting]
        kept = fitness.counting(~covered) if aside.any() else counting
        self._kept = np.zeros(fitness.n_columns, dtype=bool)
        self._kept[kept] = True
        if 2 * len(kept) < self._stored:
            self._near.keep(self._kept[self._near.column(0)])
            self._stored = len(kept)
        self._values.clear()
