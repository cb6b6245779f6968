"""Method coverage: every operation entered, by the test case or by other code of the subject."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from fitgym.fitness._operations import OperationFitness, entered_directly
from fitgym.fitness._outcomes import Outcomes
from fitgym.fitness._recorded import reached
from fitgym.fitness.base import Entries
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject

__all__ = ["Method"]


class Method(OperationFitness):
    """Measures which operations under test were entered, directly or indirectly.

    The distance is 0 or 1 for each operation. The value of a suite is the share of operations that it does not enter.
    An operation without a body in the subject (a generated constructor, an inherited method) counts only if a statement
    calls it.

    References:
        Almulla and Gay 2022, Learning How to Search, section 3.3, Method Coverage: direct or indirect calls.

    Differs from EvoSuite as released with it, which counts direct calls only: that is `TopLevelMethod` here.
    """

    kind = "method"

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        seen = [(operation.id, operation.function) for operation in subject.under_test if operation.function >= 0]
        self._seen = {operation for operation, _ in seen}
        self._columns = self._columns_of[np.array([operation for operation, _ in seen], dtype=np.intp)]
        self._outcomes = Outcomes(subject, [(subject.functions[function].entry, True) for _, function in seen])

    def entries(self, traces: Sequence[Trace]) -> Entries:
        """Return an entry for each operation that a trace enters."""
        entered = self._outcomes.entries(reached(self.subject, traces))
        whole = Entries(entered.rows, self._columns[entered.columns], entered.distances)
        return Entries.join(whole, super().entries(traces))

    def _operations(self, trace: Trace) -> Iterable[int]:
        return (operation for operation in entered_directly(trace) if operation not in self._seen)
