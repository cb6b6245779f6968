"""Top-level method coverage without exceptions: every operation called by a test case itself, and returned."""

from __future__ import annotations

from collections.abc import Iterable

from fitgym.fitness._operations import OperationFitness
from fitgym.instrument.trace import Trace

__all__ = ["MethodNoException"]


class MethodNoException(OperationFitness):
    """Which operations under test a statement called that returned.

    0 or 1 for each operation; a suite is worth the share of operations that never returned to it. Where the result has
    to be awaited or drained for the body to run, returning includes that. Calls before the one that ends a test case
    with an exception count.

    References:
        Almulla and Gay 2022, Learning How to Search, section 3.3, Method Coverage (Top-Level, No Exception).
    """

    kind = "method_no_exception"

    def _operations(self, trace: Trace) -> Iterable[int]:
        return (call.operation for call in trace.calls if call.returned)
