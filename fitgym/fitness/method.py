"""Method coverage: every operation entered, by the test case or by other code of the subject."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from fitgym.fitness._operations import OperationFitness, entered_directly
from fitgym.fitness._recorded import recorded_counts
from fitgym.fitness.base import Floats
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject

__all__ = ["Method"]


class Method(OperationFitness):
    """Which operations under test were entered, directly or indirectly.

    0 or 1 for each operation; a suite is worth the share of operations that it does not enter. An operation whose body
    is not in the subject (a generated constructor, an inherited method) can be seen only where a statement calls it.

    References:
        Almulla and Gay 2022, Learning How to Search, section 3.3, Method Coverage: direct or indirect calls.
    Differs from EvoSuite as released with it, which looks at direct calls only: that is `TopLevelMethod` here.
    """

    kind = "method"

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        seen = [
            (self._column[o.id], subject.functions[o.function].entry) for o in subject.under_test if o.function >= 0
        ]
        self._columns = np.array([column for column, _ in seen], dtype=np.intp)
        self._entries = np.array([entry for _, entry in seen], dtype=np.intp)

    def distances(self, traces: Sequence[Trace]) -> Floats:
        """0 where the trace enters the operation, else 1, shape `(len(traces), n_columns)`."""
        distances = super().distances(traces)
        distances[:, self._columns] = recorded_counts(self.subject, traces)[:, self._entries] == 0
        return distances

    def _operations(self, trace: Trace) -> Iterable[int]:
        return entered_directly(trace)  # overwritten where the counts tell more
