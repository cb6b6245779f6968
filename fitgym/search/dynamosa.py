"""DynaMOSA: MOSA that pursues a target only when the code that controls it is covered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fitgym.search.base import Evaluation
from fitgym.search.mosa import MOSA
from fitgym.testcase.statement import TestCase

__all__ = ["DynaMOSA"]


class DynaMOSA(MOSA):
    """MOSA with dynamic selection of the targets; arguments as for `mosa`.

    A target counts as soon as one of the branches is covered that its place is control dependent on. At first these are
    the entries of functions, then the code that every call of a function runs, then the code behind a decision, outcome
    by outcome. Targets without a place in the code (exceptions, outputs, methods) count from the beginning. Branches
    are always archived, active or not.

    References:
        Panichella, Kifetew and Tonella 2018, Automated Test Case Generation as a Many-Objective Optimisation Problem
        with Dynamic Selection of the Targets, section 3.

    Differs from EvoSuite: control dependence is exact (`fitgym.subject.dependence`); the released code opens a target
    when either outcome of the decision before it is covered. Methods always count; there they wait for their branches.
    Targets are released at the end of a generation; there after every test case.
    """

    tracks: ClassVar[tuple[str, ...]] = ("branch",)

    def _objectives(self, testcases: Sequence[TestCase], evaluation: Evaluation) -> NDArray[np.float64]:
        return evaluation.objectives(testcases, released=True)
