"""Top-level method coverage: every operation called by a test case itself."""

from __future__ import annotations

from collections.abc import Iterable

from fitgym.fitness._operations import OperationFitness, entered_directly
from fitgym.instrument.trace import Trace

__all__ = ["TopLevelMethod"]


class TopLevelMethod(OperationFitness):
    """Measures which operations under test a statement called, even if the call then raised.

    The distance is 0 or 1 for each operation. The value of a suite is the share of operations that it does not call. A
    call whose arguments could not be bound never entered the operation and does not count.

    References:
        Zhou et al. 2023, Coverage Goal Selector for Combining Multiple Criteria in Search-Based Unit Test Generation,
        section 2.1, Top-Level Method Coverage.
    """

    kind = "top_level_method"

    def _operations(self, trace: Trace) -> Iterable[int]:
        return entered_directly(trace)
