"""The interface of secondary objectives: a cost of test cases that does not depend on coverage."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np

from fitgym.evolution.individual import Individual
from fitgym.fitness.base import Floats
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject
from fitgym.testcase.statement import StatementTable, TestCase

__all__ = ["SecondaryObjective"]


class SecondaryObjective(ABC):
    """The base class of secondary objectives. Less is better; the cost of a suite is the sum over its test cases.

    It breaks ties of fitness, and it decides which of two test cases for one target the archive keeps.

    Args:
        subject: the code under test.
        table: the statements of the test cases.
    """

    def __init__(self, subject: Subject, table: StatementTable) -> None:
        self.subject = subject
        self.table = table

    @abstractmethod
    def of(self, testcases: Sequence[TestCase], traces: Sequence[Trace]) -> Floats:
        """Return the cost of each test case, `(len(testcases),)`, finite and at least 0.

        Args:
            testcases: executed test cases.
            traces: of each of them.
        """

    def of_suites(self, individuals: Sequence[Individual], trace: Callable[[TestCase], Trace]) -> Floats:
        """Return the cost of each suite, `(len(individuals),)`: the sum over its test cases.

        Args:
            individuals: suites of executed test cases.
            trace: returns the trace of a test case.
        """
        testcases = list(dict.fromkeys(chain.from_iterable(one.testcases for one in individuals)))
        cost = dict(zip(testcases, self.of(testcases, list(map(trace, testcases))).tolist(), strict=True))
        return np.array([sum(map(cost.__getitem__, one.testcases)) for one in individuals], dtype=np.float64)
