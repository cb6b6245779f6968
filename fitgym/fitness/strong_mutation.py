"""Strong mutation coverage: every mutant killed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from fitgym.fitness.base import Fitness, Floats, Index, Mask, Target
from fitgym.fitness.weak_mutation import WeakMutation
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject

__all__ = ["StrongMutation"]


class StrongMutation(Fitness):
    """Measures how close test cases came to killing every mutant.

    Take a test that asserts everything assertable about a test case, including its exception. The test case kills a
    mutant if this test fails on the mutant, or if the mutant runs for too long or ends the process (`Executor.kill` has
    the rule). A mutant goes through four steps: it is reached, then infected (the changed expression has another
    value), then it propagates to something that was recorded, then it is killed. The distance of a trace t to a mutant
    m is

        f(t, m) = (1 + w(t, m)) / 3            if t does not infect m, with w(t, m) > 0 of `weak_mutation`: 2/3 or more
                                               where m is not reached, less where it is
                = 1 / (1 + impact(t, m)) / 3   if t infects m and does not kill it
                = 0                            if t kills m

    with the impact of `fitgym.worker.impact`. The impact is 0 if the test case was not run on the mutant: another
    test case had killed it, or it survived many of them (`fitgym.engine.survivors`). The value of a suite T is the sum
    over mutants m of the least f(t, m), at most 1 each, divided by their number. The engine runs test cases on mutants
    and stores the results in the traces. The columns are the targets of `weak_mutation`.

    References:
        EvoSuite 1.0.7, strong mutation: 2 + nu(distance to reach m), 1 + nu(distance to infect m), 1 / (1 + impact), 0.
        Almulla and Gay 2022, Learning How to Search, section 3.4.3.

    Differs from EvoSuite:

    - The value is divided by 3, so that it is at most 1 for a suite; `raw` is not divided.
    - The branch fitness is not added. If no decision next to m was executed, nothing guides a suite.
    - A mutant is killed by an exception where there was none, or the other way round, as intended. EvoSuite negates a
      flag by mistake, so that every infected mutant counts as killed if neither run raises.
    - Time-outs are counted in fuel, and a test case that runs out of time does not give its suite the worst value.
    """

    needs: ClassVar[frozenset[str]] = WeakMutation.needs | {"effects"}

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._weak = WeakMutation(subject)
        self.sites = self._weak.sites
        number = {mutant.id: index for index, mutant in enumerate(subject.mutants)}
        self.targets = [Target("strong_mutation", (mutant.id,)) for mutant in self._weak.mutants]
        self.numbers: Index = np.array([number[mutant.id] for mutant in self._weak.mutants], dtype=np.intp)
        self._column = {number: column for column, number in enumerate(self.numbers.tolist())}

    def distances(self, traces: Sequence[Trace]) -> Floats:
        distances: Floats = (1.0 + self._weak.distances(traces)) / 3.0
        for row, trace in enumerate(traces):
            if trace.effects and not trace.failure:
                columns = [self._column[number] for number, _ in trace.effects]
                impacts = np.array([impact for _, impact in trace.effects])
                distances[row, columns] = 1.0 / (1.0 + impacts) / 3.0
        return distances

    def infected(self, traces: Sequence[Trace], imported: Trace | None = None) -> Mask:
        return self._weak.infected(traces, imported)

    def of_suites(self, columns: Floats, *, raw: bool = False) -> Floats:
        total: Floats = super().of_suites(columns, raw=raw)
        return 3.0 * total if raw else total
