"""Diversity: test cases first that do not repeat themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fitgym.fitness.base import Floats
from fitgym.instrument.trace import Trace
from fitgym.secondary.base import SecondaryObjective
from fitgym.testcase.statement import TestCase

__all__ = ["Diversity"]


class Diversity(SecondaryObjective):
    """The share of the statements that do what another one before them does, in [0, 1): same operation.

        1 - (number of distinct operations) / (number of statements)

    A value of a test case by itself, so that the archive can compare test cases that never met; for the diversity of a
    suite there is the fitness function of that name.
    """

    def of(self, testcases: Sequence[TestCase], traces: Sequence[Trace]) -> Floats:
        distinct = [len({self.table[i].operation for i in testcase}) for testcase in testcases]
        lengths = np.array([max(1, len(testcase)) for testcase in testcases])
        repeated: Floats = 1.0 - np.maximum(1, distinct) / lengths
        return repeated
