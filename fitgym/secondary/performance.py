"""Performance: prefers test cases that take little time and memory."""

from __future__ import annotations

from collections.abc import Sequence

from fitgym.evolution.proxies import Proxies, performance_score
from fitgym.fitness.base import Floats
from fitgym.instrument.trace import Trace
from fitgym.secondary.base import SecondaryObjective
from fitgym.subject.subject import Subject
from fitgym.testcase.statement import StatementTable, TestCase

__all__ = ["Performance"]


class Performance(SecondaryObjective):
    """The performance score, in [0, 7): sum over seven proxies of I / (I + 1); see `fitgym.evolution.proxies`.

    References:
        Grano, Laaber, Panichella and Panichella 2021, Testing with Fewer Resources: An Adaptive Approach to
        Performance-Aware Test Case Generation, section 3.2.
    """

    def __init__(self, subject: Subject, table: StatementTable) -> None:
        super().__init__(subject, table)
        self._proxies = Proxies(subject, table)

    def of(self, testcases: Sequence[TestCase], traces: Sequence[Trace]) -> Floats:
        return performance_score(self._proxies.of(testcases, traces))
