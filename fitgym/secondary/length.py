"""Length: prefers short test cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fitgym.evolution.individual import Individual
from fitgym.fitness.base import Floats
from fitgym.instrument.trace import Trace
from fitgym.secondary.base import SecondaryObjective
from fitgym.testcase.statement import TestCase

__all__ = ["Length"]


class Length(SecondaryObjective):
    """The number of statements.

    References:
        Rojas, Vivanti, Arcuri and Fraser 2017, A Detailed Investigation of the Effectiveness of Whole Test Suite
        Generation: ties in fitness are broken by length. The authors report that this costs coverage on some classes.
    """

    def of(self, testcases: Sequence[TestCase], traces: Sequence[Trace]) -> Floats:
        return np.array(list(map(len, testcases)), dtype=np.float64)

    def of_suites(self, individuals: Sequence[Individual], trace: Callable[[TestCase], Trace]) -> Floats:
        return np.array([one.length for one in individuals], dtype=np.float64)
