"""Measurements: what is known about every executed test case, as rows of numbers.

Traces are kept, not numbers: a fitness function that becomes active later measures the same traces, nothing is run
again. Rows are computed for a batch of traces at once, only for functions that are asked for, and only once per trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fitgym.fitness.base import Fitness
from fitgym.instrument.trace import Trace
from fitgym.testcase.statement import TestCase

__all__ = ["Measurements"]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


class Measurements:
    """Traces of test cases, and their distances to the targets of fitness functions.

    Args:
        fitness: the fitness functions by name; all of them can be asked for, none is computed before it is.
    """

    def __init__(self, fitness: Mapping[str, Fitness]) -> None:
        self.fitness = dict(fitness)
        self._traces: dict[TestCase, Trace] = {}
        self._needs: dict[TestCase, frozenset[str]] = {}
        self._rows: dict[str, dict[Trace, Floats]] = {name: {} for name in fitness}
        self._visits: dict[str, dict[Trace, Counts | None]] = {name: {} for name in fitness}

    def register(self, name: str, fitness: Fitness) -> None:
        """Make a further fitness function available."""
        self.fitness[name] = fitness
        self._rows[name] = {}
        self._visits[name] = {}

    def __len__(self) -> int:
        return len(self._traces)

    def __contains__(self, testcase: TestCase) -> bool:
        return testcase in self._traces

    def unknown(self, testcases: Iterable[TestCase], needs: frozenset[str]) -> list[TestCase]:
        """Those that have no trace yet, or one that was recorded without what is needed now; each once, in order."""
        return [t for t in dict.fromkeys(testcases) if t not in self._traces or not needs <= self._needs[t]]

    def add(self, testcases: Sequence[TestCase], traces: Sequence[Trace], needs: frozenset[str]) -> None:
        """Remember the traces of test cases that were executed with `needs` recorded."""
        for testcase, trace in zip(testcases, traces, strict=True):
            self._traces[testcase] = trace
            self._needs[testcase] = needs

    def recorded(self, testcase: TestCase) -> frozenset[str]:
        """What was recorded beyond the usual when the test case was executed."""
        return self._needs[testcase]

    def trace(self, testcase: TestCase) -> Trace:
        """The trace of an executed test case.

        Raises:
            KeyError: it was never executed, or was forgotten.
        """
        return self._traces[testcase]

    def rows(self, name: str, testcases: Sequence[TestCase]) -> Floats:
        """Distances of test cases to the columns of a fitness function, shape `(len(testcases), n_columns)`."""
        self._measure(name, testcases)
        fitness = self.fitness[name]
        known = self._rows[name]
        return fitness.stack([known[self._traces[testcase]] for testcase in testcases])

    def visits(self, name: str, testcases: Sequence[TestCase]) -> Counts | None:
        """How often each test case executed the decision behind each column, or None where that has no meaning."""
        self._measure(name, testcases)
        known = self._visits[name]
        found = [known[self._traces[testcase]] for testcase in testcases]
        rows = [row for row in found if row is not None]
        if len(rows) < len(found) or not rows:
            return None
        columns = max(len(row) for row in rows)
        return np.stack([row if len(row) == columns else np.pad(row, (0, columns - len(row))) for row in rows])

    def covers(self, name: str, testcases: Sequence[TestCase]) -> NDArray[np.bool_]:
        """Which test case covers which target, shape `(len(testcases), n_targets)`."""
        rows = self.rows(name, testcases)
        covered: NDArray[np.bool_] = rows[:, : len(self.fitness[name].targets)] == 0.0
        return covered

    def retain(self, living: Iterable[TestCase]) -> None:
        """Forget every test case that is not among the `living`, and every row that none of them needs."""
        keep = dict.fromkeys(living)
        self._traces = {t: trace for t, trace in self._traces.items() if t in keep}
        self._needs = {t: needs for t, needs in self._needs.items() if t in keep}
        traces = dict.fromkeys(self._traces.values())
        for name in self.fitness:
            self._rows[name] = {t: row for t, row in self._rows[name].items() if t in traces}
            self._visits[name] = {t: row for t, row in self._visits[name].items() if t in traces}

    def _measure(self, name: str, testcases: Sequence[TestCase]) -> None:
        known = self._rows[name]
        new = [t for t in dict.fromkeys(self._traces[testcase] for testcase in testcases) if t not in known]
        if not new:
            return
        fitness = self.fitness[name]
        rows = fitness.distances(new)
        visits = fitness.visits(new)
        for index, trace in enumerate(new):
            known[trace] = rows[index]
            self._visits[name][trace] = None if visits is None else visits[index]
