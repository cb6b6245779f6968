"""Exception count: the number of distinct exceptions that a suite raises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from fitgym.fitness.base import Entries, Fitness, Floats, Target
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject

__all__ = ["ExceptionCount"]


class ExceptionCount(Fitness):
    """Measures which of the exceptions seen so far a trace raises.

    Two exceptions are the same if they have the same class and the same innermost function of the subject on the
    traceback. A target is appended when a trace first raises its exception; only `Raised.counted` exceptions count. The
    distance of a trace is 0 to the exception that ended it and 1 to all others. With n the number of distinct
    exceptions that it raises, the value of a suite is

        f(T) = 1 / (1 + n)

    Exceptions in the archive count in n. Every exception enters the archive when it is first raised, so n would
    otherwise always be 0 and the function constant.

    Args:
        subject: the code under test.
        constant: give every suite the value 0, as in the released code, whose archive leaves no exception to count.
            Then exceptions do not guide the search but are still discovered and archived.

    Attributes:
        kinds: for each target "declared", "explicit" or "implicit", as when the exception was first raised.

    References:
        Almulla and Gay 2022, Learning How to Search, section 3.3, Exception Count: the count, and scores in [0, 1] of
        which less is better, from which 1 / (1 + n) follows; EvoSuite as released with it has this formula.

    Differs from the paper: the kind does not distinguish two exceptions. Differs from EvoSuite as released with it: the
    method is the one that raised, not the one that the test case called; and there the value is the constant 0 when an
    archive is used, which `constant` reproduces.
    """

    dynamic: ClassVar[bool] = True
    closes: ClassVar[bool] = False

    def __init__(self, subject: Subject, *, constant: bool = False) -> None:
        super().__init__(subject)
        self.constant = constant
        self.kinds: list[str] = []
        self._column: dict[tuple[str, int], int] = {}

    def distances(self, traces: Sequence[Trace]) -> Floats:
        """Return 0 for the exception that the trace raises, else 1, `(len(traces), n_columns)`; appends targets."""
        return self.entries(traces).dense(len(traces), self.n_columns)

    def entries(self, traces: Sequence[Trace]) -> Entries:
        """Return an entry for each exception that a trace raises; appends targets."""
        raised = [(row, self._seen(trace)) for row, trace in enumerate(traces) if trace.raised is not None]
        rows, columns = np.array([pair for pair in raised if pair[1] >= 0], dtype=np.intp).reshape(-1, 2).T
        return Entries(rows, columns, np.zeros(len(rows)))

    def of_suites(self, columns: Floats, *, raw: bool = False) -> Floats:
        """Return 1 / (1 + n), or 0 if the function is `constant`."""
        values: Floats = 1.0 / (1 + (columns == 0.0).sum(axis=1))
        return np.zeros_like(values) if self.constant else values

    def _seen(self, trace: Trace) -> int:
        """Return the column of the exception that ended the trace, a new one if needed; -1 if no exception counts."""
        raised = trace.raised
        if raised is None or not raised.counted or trace.failure:
            return -1
        key = (raised.type, raised.function)
        column = self._column.get(key)
        if column is None:
            column = self._column[key] = len(self.targets)
            name = self.subject.functions[raised.function].name if raised.function >= 0 else ""
            self.targets.append(Target("exception", (raised.type, name, raised.function)))
            self.kinds.append(raised.kind)
        return column
