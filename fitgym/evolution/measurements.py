"""Measurements: cached traces and fitness values of every executed test case.

Traces are kept as well as numbers. So a fitness function that becomes active later measures the same traces, and
nothing runs again. Rows are computed on demand, for a batch of traces at once, and only once per trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain

import numpy as np

from fitgym.evolution.individual import Individual
from fitgym.evolution.rows import Rows
from fitgym.fitness.base import Fitness, Floats, Index, Mask
from fitgym.immutable import Lookup
from fitgym.instrument.trace import Trace
from fitgym.testcase.statement import StatementTable, TestCase

__all__ = ["Measurements"]


class Measurements:
    """Traces of test cases, their distances to the targets of fitness functions, and the values of suites.

    Args:
        fitness: the fitness functions by name; none is computed before its values are requested.
        table: the statements of the test cases, for functions that read them.
        raw: values of suites are plain sums, not bounded by 1; see `Fitness.of_suites`.
    """

    def __init__(
        self, fitness: Mapping[str, Fitness], table: StatementTable | None = None, *, raw: bool = False
    ) -> None:
        self._raw = raw
        self.table = StatementTable() if table is None else table
        self.fitness: dict[str, Fitness] = {}
        self._rows: dict[str, Rows] = {}
        self._needs: Lookup[TestCase, frozenset[str]] = Lookup()
        self._row: Lookup[TestCase, int] = Lookup()
        self._traces: list[Trace] = []  # by row
        self._row_of: Lookup[Trace, int] = Lookup()
        self._suites: dict[Individual, Index] = {}  # rows of the test cases
        for name, function in fitness.items():
            self.register(name, function)

    def register(self, name: str, fitness: Fitness) -> None:
        """Make another fitness function available."""
        self.fitness[name] = fitness
        self._rows[name] = Rows(fitness, raw=self._raw)

    def __len__(self) -> int:
        return len(self._row)

    def __contains__(self, testcase: TestCase) -> bool:
        return testcase in self._row

    def unknown(self, testcases: Iterable[TestCase], needs: frozenset[str]) -> list[TestCase]:
        """Return the test cases without a trace or whose trace lacks some of the needed probes; each once, in order."""
        recorded = self._needs
        return [t for t in dict.fromkeys(testcases) if t not in recorded or not needs <= recorded[t]]

    def add(self, testcases: Sequence[TestCase], traces: Sequence[Trace], needs: frozenset[str]) -> list[Trace]:
        """Store the traces of test cases that were executed with the probes `needs`.

        Returns:
            The traces that were not known before, each once.
        """
        first = len(self._traces)
        # A test case that runs again, with more probes, can get another row. The cached rows of suites are then stale.
        if not self._row.keys().isdisjoint(testcases):
            self._suites.clear()
        for testcase, trace in zip(testcases, traces, strict=True):
            # Equal traces share a row, so that each of them is measured once.
            row = self._row_of.get(trace)
            if row is None:
                row = self._row_of[trace] = len(self._traces)
                self._traces.append(trace)
            self._row[testcase] = row
            self._needs[testcase] = needs
        return self._traces[first:]

    def recorded(self, testcase: TestCase) -> frozenset[str]:
        """Return the additional probes that were on when the test case was executed."""
        return self._needs[testcase]

    def trace(self, testcase: TestCase) -> Trace:
        """Return the trace of an executed test case.

        Raises:
            KeyError: the test case was never executed, or its trace was dropped.
        """
        return self._traces[self._row[testcase]]

    def covers(self, name: str, testcases: Sequence[TestCase]) -> Mask:
        """Return which test case covers which target, shape `(len(testcases), n_targets)`."""
        positions, targets = self.covered(name, testcases)
        covers = np.zeros((len(testcases), len(self.fitness[name].targets)), dtype=bool)
        covers[positions, targets] = True
        return covers

    def covered(self, name: str, testcases: Sequence[TestCase]) -> tuple[Index, Index]:
        """Return the targets that test cases cover: positions in `testcases`, ascending, and columns of targets."""
        rows = np.fromiter(map(self._row.__getitem__, testcases), np.intp, len(testcases))
        self._measure(name, rows)
        return self._rows[name].covered(rows)

    def close(self, name: str, covered: Mask, aside: Mask | None = None) -> None:
        """Remove the covered targets, and for now the targets set `aside`, from suite values; see `Rows.close`."""
        self._rows[name].close(covered, aside)

    def suite_fitness(self, name: str, individuals: Sequence[Individual]) -> Floats:
        """Return the fitness of each suite over the open targets of a fitness function, `(len(individuals),)`."""
        rows = self._rows[name]
        known = rows.values
        while missing := [individual for individual in individuals if individual not in known]:
            if rows.fitness.reads_tests:
                values = rows.fitness.of_tests([individual.testcases for individual in missing], self.table)
            else:
                numbers, sizes = self._numbers(missing)
                self._measure(name, numbers)
                known = rows.values  # measuring can append targets, which drops all cached values
                values = rows.of_suites(numbers, sizes)
            known.update(zip(missing, values.tolist(), strict=True))
        return np.array(list(map(known.__getitem__, individuals)))

    def objectives(self, name: str, testcases: Sequence[TestCase], among: Mask | None = None) -> Floats:
        """Return the distance of each test case to each open target of a fitness function, `(len(testcases), n_open)`.

        Args:
            name: of the fitness function.
            testcases: executed test cases.
            among: only these targets, all by default.
        """
        rows = np.fromiter(map(self._row.__getitem__, testcases), np.intp, len(testcases))
        self._measure(name, rows)
        return self._rows[name].objectives(rows, self._traces, among)

    def least(self, name: str, testcases: Sequence[TestCase]) -> Floats:
        """Return the least distance of the test cases to each target, open or not, `(n_targets,)`; inf without any.

        Args:
            name: of a fitness function that does not read test cases.
            testcases: executed test cases.
        """
        rows = np.fromiter(map(self._row.__getitem__, testcases), np.intp, len(testcases))
        self._measure(name, rows)
        found: Floats = self._rows[name].distances(rows, self._traces).min(axis=0, initial=np.inf)
        return found

    def open(self, name: str) -> Index:
        """Return the columns of the open targets of a fitness function, ascending; none if it reads test cases."""
        return np.flatnonzero(self._rows[name].open)

    def retain(self, individuals: Sequence[Individual], testcases: Iterable[TestCase]) -> None:
        """Drop the measurements of all test cases except those of the individuals and the other given ones."""
        needed = dict.fromkeys(chain(testcases, *(individual.testcases for individual in individuals)))
        self._needs = Lookup((t, needs) for t, needs in self._needs.items() if t in needed)
        kept = sorted({row for t, row in self._row.items() if t in needed})
        number = {old: new for new, old in enumerate(kept)}
        self._row = Lookup((t, number[row]) for t, row in self._row.items() if t in needed)
        self._traces = [self._traces[row] for row in kept]
        self._row_of = Lookup((trace, row) for row, trace in enumerate(self._traces))
        self._suites.clear()
        for rows in self._rows.values():
            rows.retain(np.array(kept, dtype=np.intp), dict.fromkeys(individuals))
            rows.fitness.retain(needed)

    def _numbers(self, individuals: Sequence[Individual]) -> tuple[Index, Index]:
        """Return the rows of all test cases, individual by individual, and the number of rows per individual."""
        new = [individual for individual in individuals if individual not in self._suites]
        testcases = chain.from_iterable(individual.testcases for individual in new)
        rows = np.array(list(map(self._row.__getitem__, testcases)), dtype=np.intp)
        ends = list(accumulate(map(len, new)))
        for individual, first, end in zip(new, [0, *ends], ends, strict=False):
            self._suites[individual] = rows[first:end]
        suites = [self._suites[individual] for individual in individuals]
        return np.concatenate(suites), np.array(list(map(len, suites)))

    def _measure(self, name: str, rows: Index) -> None:
        new = self._rows[name].unmeasured(rows)
        if len(new):
            self._rows[name].measure(new, [self._traces[row] for row in new.tolist()])
