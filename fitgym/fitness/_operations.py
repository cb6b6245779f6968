"""The base class of the method criteria: one target per operation under test, covered or not."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import ClassVar

import numpy as np

from fitgym.fitness.base import Entries, Fitness, Floats, Target
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Operation, Subject

__all__ = ["OperationFitness", "entered_directly", "operation_key"]


def operation_key(operation: Operation) -> tuple[str, str, int]:
    """Return name, kind and id of an operation. A property and its setter differ in kind, redefinitions in the id."""
    return (operation.name, operation.operator or operation.kind, operation.id)


def entered_directly(trace: Trace) -> Iterable[int]:
    """Return the operations that statements of the trace called, in order, including the one that raised.

    A call that failed before it entered the subject is left out, for example if its arguments could not be bound.
    """
    entered = trace.raised is None or trace.raised.function >= 0
    return (call.operation for call in trace.calls if call.returned or entered)


class OperationFitness(Fitness):
    """A fitness function with one column per operation under test: 0 if the trace covers it, 1 if not."""

    kind: ClassVar[str]

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self.targets = [Target(self.kind, operation_key(operation)) for operation in subject.under_test]
        self._columns_of = np.full(len(subject.operations), -1, dtype=np.intp)
        self._columns_of[[operation.id for operation in subject.under_test]] = range(len(self.targets))

    def distances(self, traces: Sequence[Trace]) -> Floats:
        """Return 0 where the trace covers the operation, else 1, shape `(len(traces), n_columns)`."""
        return self.entries(traces).dense(len(traces), self.n_columns)

    def entries(self, traces: Sequence[Trace]) -> Entries:
        """Return an entry for each operation that a trace covers."""
        covered = [() if trace.failure else [*self._operations(trace)] for trace in traces]
        rows = np.repeat(np.arange(len(traces)), [len(operations) for operations in covered])
        columns = self._columns_of[np.array([*chain.from_iterable(covered)], dtype=np.intp)]
        under_test = columns >= 0
        return Entries(rows[under_test], columns[under_test], np.zeros(np.count_nonzero(under_test)))

    @abstractmethod
    def _operations(self, trace: Trace) -> Iterable[int]:
        """Return the ids of the operations that the trace covers; operations that are not under test are ignored."""
