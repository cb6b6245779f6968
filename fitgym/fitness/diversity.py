"""Diversity: how different the texts of the test cases in a suite are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

import numpy as np

from fitgym.fitness._pairs import Pairs
from fitgym.fitness._texts import last_two, texts
from fitgym.fitness.base import Fitness, Floats
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject
from fitgym.testcase.statement import StatementTable, TestCase

__all__ = ["Diversity"]


class Diversity(Fitness):
    """Measures how far apart the test cases of a suite are.

    With lev the Levenshtein distance (unit costs) of the texts of two statements,

        lev(a, b) = sum over statements s of a, t of b of lev(s, t)
        div(T)    = sum over unordered pairs {a, b} of test cases of T of lev(a, b)
        f(T)      = 1 / (1 + div(T))

    f is in (0, 1]; a suite of fewer than two test cases has the value 1. The text of a statement is its operation and
    its arguments (`fitgym.fitness._texts`). Constants are written as in Python, and variables are replaced by the
    statement that defined them. So a new name for the same value adds no diversity. Diversity does not depend on
    executions, so there are no targets.

    An additional test case or statement never makes the value worse and nearly always improves it. Used alone, the
    function makes suites grow up to their limit, as the authors also report (section 6.2.3).

    Args:
        subject: the code under test.
        last_two: the variant of the released code. It stores texts in a map with two keys, one for numbers and one for
            everything else. So only the last number and the last statement of each test case remain, and each pair of
            test cases has at most four distances. It also rounds f to 7 decimals. From a div of some thousand, suites
            with different div then get the same value.

    References:
        Almulla and Gay 2022, Learning How to Search, section 3.4.2, equations 7 to 9, and the paragraphs that follow:
        which parts of a test case are read, aliases, all pairs of statements.

    Differs from the paper: constants have no statements of their own here, so they are compared as part of the calls
    that take them. A text is cut after 128 characters, because replacing variables can make it grow without bound.
    """

    reads_tests: ClassVar[bool] = True

    def __init__(self, subject: Subject, *, last_two: bool = False) -> None:
        super().__init__(subject)
        self.last_two = last_two
        self._pairs = Pairs()

    def distances(self, traces: Sequence[Trace]) -> Floats:
        """Return no columns, shape `(len(traces), 0)`."""
        return np.zeros((len(traces), 0))

    def of_suites(self, columns: Floats, *, raw: bool = False) -> Floats:
        """Return 1.0, the worst value: traces contain no texts; see `of_tests`."""
        return np.ones(len(columns))

    def of_tests(self, suites: Sequence[Sequence[TestCase]], table: StatementTable) -> Floats:
        """Return f(T) of each suite, in (0, 1], shape `(len(suites),)`."""
        values = 1.0 / (1.0 + np.array([self.diversity(suite, table) for suite in suites], dtype=np.float64))
        return values.round(7) if self.last_two else values

    def diversity(self, testcases: Sequence[TestCase], table: StatementTable) -> int:
        """Return div(T), at least 0."""
        read = last_two if self.last_two else texts
        return self._pairs.total(testcases, lambda testcase: read(table.statements(testcase), self.subject))

    def retain(self, testcases: Collection[TestCase]) -> None:
        """Drop the texts and distances of all other test cases."""
        self._pairs.retain(testcases)
