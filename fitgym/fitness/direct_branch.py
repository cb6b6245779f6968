"""Direct branch coverage: every branch taken in a call that the test case makes itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from fitgym.fitness._approach import Approach
from fitgym.fitness._outcomes import Outcomes
from fitgym.fitness._recorded import reached, recorded_counts, recorded_distances
from fitgym.fitness.base import Counts, Entries, Fitness, Floats, Target
from fitgym.fitness.branch import branch_target
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject

__all__ = ["DirectBranch"]


class DirectBranch(Fitness):
    """Measures how close traces came to taking every branch in a direct call.

    The columns are the branches of the functions that operations under test run. Code that no test case can call has no
    direct branch. A trace is measured as in `Branch`, but only on direct calls, with no other function of the subject
    between the test case and the code. The value of a suite T is the sum over branches b of

        0               if b was taken in a direct call
        1               if its decision was never executed in a direct call
        0.5             if no test case executed it more than once
        nu(d_min(T, b)) otherwise

    References:
        Almulla and Gay 2022, Learning How to Search, section 3.3, Direct Branch Coverage: the criterion, no formula.
        EvoSuite as released with it: the formula.

    Differs from EvoSuite: there a branch of a private method has a target for every call context that can reach it;
    here it has no column.

    The released formula has a trap: nu(d) is at least 0.5 for integers. So executing a decision with a large distance a
    second time makes the suite worse. Hence the function is not monotone.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"direct"})
    monotone: ClassVar[bool] = False
    together: ClassVar[np.ufunc] = np.maximum

    EXECUTED_ONCE: ClassVar[float] = 0.5
    """The value of a decision that no test case of the suite executed more than once."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        called = {operation.function for operation in subject.under_test}
        branches = [branch for branch in subject.branches if subject.sites[branch.site].function in called]
        self.targets: list[Target] = [branch_target("direct_branch", subject, branch) for branch in branches]
        self._approach = Approach(subject, (branch.site for branch in branches))
        self._rows = self._approach.outcomes((branch.site, branch.outcome) for branch in branches)
        self._outcomes = Outcomes(subject, [(branch.site, branch.outcome) for branch in branches])
        self._sites = np.array([branch.site for branch in branches], dtype=np.intp)
        self.sites = [(branch.site,) for branch in branches]

    def distances(self, traces: Sequence[Trace]) -> Floats:
        """Return approach level plus normalised branch distance of direct calls, shape `(len(traces), n_columns)`."""
        counts = recorded_counts(self.subject, traces, direct=True)
        outcomes, _ = self._approach.measure(counts, recorded_distances(self.subject, traces, direct=True))
        return outcomes.take(self._rows, axis=0).T

    def entries(self, traces: Sequence[Trace]) -> Entries:
        """Return entries for the branches of directly executed decisions and for the directly called functions."""
        return self._outcomes.entries(reached(self.subject, traces, direct=True))

    def visits(self, traces: Sequence[Trace]) -> Counts:
        """Return how often each trace executed the decision, or entered the function, in direct calls."""
        return recorded_counts(self.subject, traces, direct=True)[:, self._sites]

    def suite_columns(self, least: Floats, executed: Counts | None, archived: Counts | int = 0) -> Floats:
        """Return the value of each column, in [0, 1]; here the archive does not count as an execution."""
        if executed is not None:
            np.copyto(least, self.EXECUTED_ONCE, where=(executed == 1) & (least > 0.0))
        return least
