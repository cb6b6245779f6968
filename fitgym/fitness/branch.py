"""Branch coverage: every outcome of every decision, and the entry of every function."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fitgym.fitness._approach import Approach
from fitgym.fitness._outcomes import Outcomes
from fitgym.fitness._recorded import reached, recorded_counts, recorded_distances
from fitgym.fitness.base import Counts, Entries, Fitness, Floats, Mask, Target
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Branch as SubjectBranch
from fitgym.subject.subject import Subject

__all__ = ["Branch", "branch_target"]


def branch_target(kind: str, subject: Subject, branch: SubjectBranch) -> Target:
    """Return the target of a branch: (function, line, site, outcome), with outcome "entered" for a function."""
    site = subject.sites[branch.site]
    name = subject.functions[site.function].name
    return Target(kind, (name, site.line, site.id, "entered" if branch.root else branch.outcome))


class Branch(Fitness):
    """Measures how close traces came to taking every branch.

    The distance of a trace t to the branch x is

        f(t, x) = A(t, x) + nu(d(t, x_c))

    A is the approach level, the number of control dependences between x and the executed code. d is the distance at the
    decision x_c where t took another way (`fitgym.fitness._approach` has the recursion). The value of a suite T is

        f_BC(T) = sum over branches b of d(T, b)

    with d(T, b) as in `Fitness.suite_columns`: no approach level, 1 for decisions executed less than twice. The columns
    are `subject.branches`. The entry of a function is a branch without a decision, 0 or 1 for a suite.

    References:
        Rojas, Vivanti, Arcuri and Fraser 2017, A Detailed Investigation of the Effectiveness of Whole Test Suite
        Generation: equation 1 for traces, equations 5 and 6 for suites, section 3.3 for the archive.

    Differs from EvoSuite: a failed test case (a time-out, for example) gets the worst row. In EvoSuite, its whole suite
    gets the worst value.
    """

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        branches = subject.branches
        self.targets = [branch_target("branch", subject, branch) for branch in branches]
        self._approach = Approach(subject, (branch.site for branch in branches))
        self._rows = self._approach.outcomes((branch.site, branch.outcome) for branch in branches)
        self._outcomes = Outcomes(subject, [(branch.site, branch.outcome) for branch in branches])
        self._sites = np.array([branch.site for branch in branches], dtype=np.intp)
        self.sites = [(branch.site,) for branch in branches]
        column = {(branch.site, branch.outcome): index for index, branch in enumerate(branches)}
        self._opposite = np.array([column.get((b.site, not b.outcome), -1) for b in branches], dtype=np.intp)

    def distances(self, traces: Sequence[Trace]) -> Floats:
        """Return approach level plus normalised branch distance, shape `(len(traces), n_columns)`."""
        counts = recorded_counts(self.subject, traces)
        outcomes, _ = self._approach.measure(counts, recorded_distances(self.subject, traces))
        return outcomes.take(self._rows, axis=0).T

    def entries(self, traces: Sequence[Trace]) -> Entries:
        """Return entries for the branches of executed decisions and for the entered functions."""
        return self._outcomes.entries(reached(self.subject, traces))

    def visits(self, traces: Sequence[Trace]) -> Counts:
        """Return how often each trace executed the decision, or entered the function."""
        return recorded_counts(self.subject, traces)[:, self._sites]

    def archived_visits(self, archived: Mask) -> Counts:
        """Return for each column 1 for each of the two outcomes of its decision that is archived."""
        both = np.append(archived, False)
        visits: Counts = archived.astype(np.int64) + both[self._opposite]
        return visits
