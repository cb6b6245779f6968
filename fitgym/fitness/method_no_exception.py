"""Top-level method coverage without exceptions: every operation called by a test case itself, and returned."""

from __future__ import annotations

from collections.abc import Iterable

from fitgym.fitness._operations import OperationFitness
from fitgym.instrument.trace import Trace

__all__ = ["MethodNoException"]


class MethodNoException(OperationFitness):
    """Measures which operations under test returned from a call that a statement made.

    The distance is 0 or 1 for each operation. The value of a suite is the share of operations without such a call. If a
    result must be awaited or drained to run the body, that counts as part of the call. If an exception ends a test
    case, the calls before it count.

    References:
        Almulla and Gay 2022, Learning How to Search, section 3.3, Method Coverage (Top-Level, No Exception).
    """

    kind = "method_no_exception"

    def _operations(self, trace: Trace) -> Iterable[int]:
        return (call.operation for call in trace.calls if call.returned)
