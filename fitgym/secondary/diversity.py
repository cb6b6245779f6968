"""Diversity: prefers test cases that do not repeat operations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fitgym.fitness.base import Floats
from fitgym.instrument.trace import Trace
from fitgym.secondary.base import SecondaryObjective
from fitgym.testcase.statement import TestCase

__all__ = ["Diversity"]


class Diversity(SecondaryObjective):
    """The share of statements that repeat an operation of an earlier statement, in [0, 1).

        1 - (number of distinct operations) / (number of statements)

    It depends on one test case only, so the archive can compare any two test cases. The diversity of a suite is the
    fitness function of that name.
    """

    def of(self, testcases: Sequence[TestCase], traces: Sequence[Trace]) -> Floats:
        distinct = [len({self.table[i].operation for i in testcase}) for testcase in testcases]
        lengths = np.array([max(1, len(testcase)) for testcase in testcases])
        repeated: Floats = 1.0 - np.maximum(1, distinct) / lengths
        return repeated
