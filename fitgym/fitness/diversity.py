"""Diversity: how different the test cases of a suite are from each other, as texts."""

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
    """How far apart the test cases of a suite are.

    With lev the Levenshtein distance (unit costs) of the texts of two statements,

        lev(a, b) = sum over statements s of a, t of b of lev(s, t)
        div(T)    = sum over unordered pairs {a, b} of test cases of T of lev(a, b)
        f(T)      = 1 / (1 + div(T))

    in (0, 1]; a suite of less than two test cases is worth 1. The text of a statement is what it calls and with what,
    constants as they are written and variables replaced by what defined them, so that a new name for the same value is
    not diverse (`fitgym.fitness._texts`). It says nothing about what happens when a test case runs, and so there are no
    targets.

    A further test case or statement never makes it worse, and nearly always better, so that alone it makes suites grow
    for as long as they may, as the authors report too (section 6.2.3).

    Args:
        subject: the code under test.
        last_two: the variant of the released code. It keeps what it reads in a map with two keys, one for numbers and
            one for everything else, so that of each test case only the last number and the last statement are left, and
            each pair of test cases has at most four distances. It also rounds f to 7 decimals, which from some thousand
            on makes suites equal whose div differs.

    References:
        Almulla and Gay 2022, Learning How to Search, section 3.4.2, equations 7 to 9, and the paragraphs that follow:
        what is read of a test case, aliases, all pairs of statements.
    Differs from the paper: constants have no statements of their own here, so they are compared as part of the calls
    that take them. A text is cut after 128 characters, because replacing variables can make it grow without bound.
    """

    reads_tests: ClassVar[bool] = True

    def __init__(self, subject: Subject, *, last_two: bool = False) -> None:
        super().__init__(subject)
        self.last_two = last_two
        self._pairs = Pairs()

    def distances(self, traces: Sequence[Trace]) -> Floats:
        """No columns, shape `(len(traces), 0)`."""
        return np.zeros((len(traces), 0))

    def of_suites(self, columns: Floats, *, raw: bool = False) -> Floats:
        """1.0, the worst: traces say nothing about texts, see `of_tests`."""
        return np.ones(len(columns))

    def of_tests(self, suites: Sequence[Sequence[TestCase]], table: StatementTable) -> Floats:
        """f(T) of each suite, in (0, 1], shape `(len(suites),)`."""
        values = 1.0 / (1.0 + np.array([self.diversity(suite, table) for suite in suites], dtype=np.float64))
        return values.round(7) if self.last_two else values

    def diversity(self, testcases: Sequence[TestCase], table: StatementTable) -> int:
        """div(T), at least 0."""
        read = last_two if self.last_two else texts
        return self._pairs.total(testcases, lambda testcase: read(table.statements(testcase), self.subject))

    def retain(self, testcases: Collection[TestCase]) -> None:
        """Forget the texts and distances of all other test cases."""
        self._pairs.retain(testcases)
