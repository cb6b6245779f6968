"""The archive: for every covered target, the best known test case that covers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fitgym.evolution.measurements import Measurements
from fitgym.fitness.base import Floats, Mask
from fitgym.immutable import Lookup
from fitgym.testcase.statement import TestCase

__all__ = ["Archive"]

_NOTHING = np.zeros(0)

Value = Callable[[Sequence[TestCase]], Floats]
"""The cost of test cases, `(len(testcases),)`, finite; less is better."""


def _lengths(testcases: Sequence[TestCase]) -> Floats:
    return np.array(list(map(len, testcases)), dtype=np.float64)


class Archive:
    """The best test case for each covered target of each fitness function.

    When a target is first covered, it is stored with its test case. Only a strictly better test case replaces it; by
    default, a shorter one. The search can then remove covered targets from the fitness.

    Args:
        measurements: provides the rows of test cases.
        value: the cost by which test cases are compared.

    References:
        Rojas, Vivanti, Arcuri and Fraser 2017, A Detailed Investigation of the Effectiveness of Whole Test Suite
        Generation, section on the archive.

    Differs from the paper: a test case with a failure never covers anything (see `Fitness.distances`). EvoSuite also
    prefers test cases without exceptions and with fewer mocks; the engine's cost does both (`fitgym.engine.guidance`).
    """

    def __init__(self, measurements: Measurements, value: Value = _lengths) -> None:
        self._measurements = measurements
        self._value = value
        self._best: dict[str, Lookup[int, TestCase]] = {}
        self._values: dict[str, Floats] = {}  # cost of the best test case, infinite without one, -infinite if granted
        self._only: dict[str, Mask] = {}
        self._kept: Lookup[TestCase, int] = Lookup()  # number of targets that each test case is kept for
        self._testcases: tuple[TestCase, ...] = ()
        self.version = 0  # changes whenever a target is covered for the first time

    def update(
        self,
        names: Sequence[str],
        testcases: Sequence[TestCase],
        confirm: Callable[[Sequence[TestCase]], Sequence[bool]] | None = None,
    ) -> int:
        """Offer test cases for the targets of the named fitness functions.

        Args:
            names: fitness functions whose targets count.
            testcases: executed test cases.
            confirm: called with all test cases that would enter; it returns for each whether it may.

        Returns:
            The number of targets covered for the first time.
        """
        if not testcases:
            return 0
        values = self._value(testcases)
        wanted: dict[str, list[tuple[int, TestCase, float, bool]]] = {}
        for name in names:
            offers, columns = self._measurements.covered(name, testcases)
            stored = self._grown(name)
            better = np.flatnonzero(values[offers] < stored[columns])
            if name in self._only:
                better = better[self._only[name][columns[better]]]
            if not len(better):
                continue
            offers, columns = offers[better], columns[better]
            # By target, then cost, then position: the first offer of each target wins.
            order = np.lexsort((offers, values[offers], columns))
            offers, columns = offers[order], columns[order]
            winners = np.flatnonzero(np.diff(columns, prepend=-1))
            # Test cases enter in their own order: that of the columns of a dynamic function depends on when it was first
            # measured.
            winners = winners[np.argsort(offers[winners], kind="stable")]
            wanted[name] = [
                (column, testcases[offer], float(values[offer]), known == np.inf)
                for column, offer, known in zip(
                    columns[winners].tolist(), offers[winners].tolist(), stored[columns[winners]].tolist(), strict=True
                )
            ]
        entering = list(dict.fromkeys(testcase for rows in wanted.values() for _, testcase, _, _ in rows))
        refused: set[TestCase] = set()
        if confirm is not None and entering:
            refused = {t for t, ok in zip(entering, confirm(entering), strict=True) if not ok}
        first = 0
        for name, rows in wanted.items():
            for column, testcase, worth, new in rows:
                if testcase in refused:
                    continue
                self._keep(self._best.setdefault(name, Lookup()), column, testcase)
                self._values[name][column] = worth
                first += new
        if first:
            self.version += 1
        if entering:
            self._testcases = tuple(self._kept)
        return first

    def covered(self, name: str) -> NDArray[np.bool_]:
        """Return which targets of a fitness function are covered, including those of `grant`, shape `(n_targets,)`."""
        result: NDArray[np.bool_] = self._grown(name) != np.inf
        return result

    def grant(self, name: str, targets: Mask) -> None:
        """Count targets of a fitness function as covered because existing tests cover them.

        From now on the archive keeps no test case for these targets.

        Args:
            name: of the fitness function; the archive must not hold test cases for these targets yet.
            targets: which of its targets, shape `(n_targets,)`.
        """
        self._grown(name)[targets] = -np.inf

    def granted(self, name: str) -> NDArray[np.bool_]:
        """Return which targets of a fitness function are covered only because of `grant`, shape `(n_targets,)`."""
        result: NDArray[np.bool_] = self._grown(name) == -np.inf
        return result

    def best(self, name: str) -> dict[int, TestCase]:
        """Return the test case of each covered target of a fitness function, by column in ascending order."""
        return dict(sorted(self._best.get(name, {}).items()))

    def limit(self, only: Mapping[str, Mask]) -> None:
        """From now on keep test cases only for these targets of the named functions; other functions keep all targets.

        Args:
            only: masks `(n_targets,)` of functions that are not dynamic.
        """
        self._only = dict(only)

    def value_by(self, value: Value) -> None:
        """Compare test cases by another cost from now on. Stored test cases stay until a better one is offered."""
        self._value = value
        for name, best in self._best.items():
            columns = list(best)
            self._grown(name)[columns] = value([best[column] for column in columns])

    def testcases(self) -> tuple[TestCase, ...]:
        """Return the distinct test cases kept for any fitness function, in the order in which they were added."""
        return self._testcases

    def _keep(self, best: dict[int, TestCase], column: int, testcase: TestCase) -> None:
        self._kept[testcase] = self._kept.get(testcase, 0) + 1
        old = best.get(column)
        if old is not None:
            self._kept[old] -= 1
            if not self._kept[old]:
                del self._kept[old]
        best[column] = testcase

    def _grown(self, name: str) -> Floats:
        """Return the stored values, extended if a dynamic fitness function has found new targets."""
        values = self._values.get(name, _NOTHING)
        missing = len(self._measurements.fitness[name].targets) - len(values)
        if missing:
            values = self._values[name] = np.append(values, np.full(missing, np.inf))
        return values
