"""Mean diversity: the average difference between the test cases of a suite, independent of their number and length."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

import numpy as np

from fitgym.fitness._pairs import Pairs
from fitgym.fitness._texts import texts
from fitgym.fitness.base import Fitness, Floats
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject
from fitgym.testcase.statement import StatementTable, TestCase

__all__ = ["MeanDiversity"]


class MeanDiversity(Fitness):
    """Measures how far apart two test cases of a suite are on average.

    With lev the Levenshtein distance of the texts of two statements (`fitgym.fitness._texts`),

        d(s, t) = lev(s, t) / max(|s|, |t|)                                  two statements
        d(a, b) = mean over statements s of a, t of b of d(s, t)             two test cases
        D(T)    = mean over unordered pairs {a, b} of test cases of d(a, b)  a suite; 0 with fewer than two test cases
        f(T)    = 1 - D(T)

    f is in [0, 1]; 0 is best. `fitgym.fitness.diversity` is the sum over all pairs of Almulla and Gay 2022. Unlike that
    sum, D does not grow with the number of test cases or statements. An additional test case can make it worse.
    """

    reads_tests: ClassVar[bool] = True
    monotone: ClassVar[bool] = False

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._pairs = Pairs(normalised=True)

    def distances(self, traces: Sequence[Trace]) -> Floats:
        """Return no columns, shape `(len(traces), 0)`."""
        return np.zeros((len(traces), 0))

    def of_suites(self, columns: Floats, *, raw: bool = False) -> Floats:
        """Return 1.0, the worst value: traces contain no texts; see `of_tests`."""
        return np.ones(len(columns))

    def of_tests(self, suites: Sequence[Sequence[TestCase]], table: StatementTable) -> Floats:
        """Return f(T) of each suite, in [0, 1], shape `(len(suites),)`."""
        return 1.0 - np.array([self.diversity(suite, table) for suite in suites], dtype=np.float64)

    def diversity(self, testcases: Sequence[TestCase], table: StatementTable) -> float:
        """Return D(T), in [0, 1]."""
        return self._pairs.mean(testcases, lambda testcase: texts(table.statements(testcase), self.subject))

    def retain(self, testcases: Collection[TestCase]) -> None:
        """Drop the texts and distances of all other test cases."""
        self._pairs.retain(testcases)
