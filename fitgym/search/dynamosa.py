"""DynaMOSA: MOSA that pursues a target only when the search has come to where it stands."""

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

    A target counts as soon as one of the branches is covered that its place is control dependent on: at first the entries
    of functions, then what runs whenever a function runs, then what stands behind a decision, outcome by outcome. What
    has no place in the code (exceptions, outputs, methods) counts from the beginning. Branches are archived whatever
    fitness functions are active.

    References:
        Panichella, Kifetew and Tonella 2018, Automated Test Case Generation as a Many-Objective Optimisation Problem with
        Dynamic Selection of the Targets, section 3.
    Differs from EvoSuite: control dependence is the real one (`fitgym.subject.dependence`), where the released code opens
    a target when either outcome of a decision before it is covered; methods wait for nothing, there for their branches;
    targets are released at the end of a generation, there after every test case.
    """

    tracks: ClassVar[tuple[str, ...]] = ("branch",)

    def _objectives(self, testcases: Sequence[TestCase], evaluation: Evaluation) -> NDArray[np.float64]:
        return evaluation.objectives(testcases, released=True)
