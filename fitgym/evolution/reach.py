"""Reach: the functions that each operation was seen to run, and the operations with nothing left to cover."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fitgym.fitness._ranges import ranges
from fitgym.fitness._recorded import reached
from fitgym.instrument.trace import Trace
from fitgym.subject.callgraph import reachable
from fitgym.subject.subject import Subject

__all__ = ["Reach"]

_MANY = 500  # the largest number of traces that wait to be processed


class Reach:
    """Learns from traces which code a call of an operation can reach.

    An operation is exhausted when everything that it was seen to reach is covered. Calling it again would only distract
    from uncovered code. EvoSuite stops inserting a method when the goals of this method are covered. Public Python
    functions often delegate to private ones that no test calls. So here every function counts that was entered in a
    test case that called the operation. That is more than the operation itself reaches, so an operation is rather kept
    than dropped.

    Args:
        subject: the code under test.

    References:
        Rojas, Vivanti, Arcuri and Fraser 2017, A Detailed Investigation of the Effectiveness of Whole Test Suite
        Generation, section on the archive: calls of fully covered methods are no longer inserted.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._noted: list[Trace] = []
        self._tested = np.array([one.id for one in subject.operations if one.is_entry_point], dtype=np.int64)
        self._entered = np.full(len(subject.sites), -1, dtype=np.int64)  # the function that begins with a site
        self._entered[[function.entry for function in subject.functions]] = range(len(subject.functions))
        self._site_function = np.array([site.function for site in subject.sites], dtype=np.int64)
        self._branch_function = np.array(
            [subject.sites[branch.site].function for branch in subject.branches], dtype=np.int64
        )
        self._reached = np.zeros((len(subject.operations), len(subject.functions)), dtype=bool)
        # Sites of infection measure expressions of other sites, and are recorded for few test cases.
        self._visited = np.array([site.kind in ("arithmetic", "value") for site in subject.sites], dtype=bool)
        self._possible = np.zeros_like(self._reached)
        graph = reachable(subject.source, subject.functions) if subject.source else ()
        names = {function.name for function in subject.functions}
        for operation in (one for one in subject.operations if one.is_entry_point):
            if operation.function >= 0:
                self._reached[operation.id, operation.function] = True
                self._possible[operation.id, list(graph[operation.function]) if graph else slice(None)] = True
            elif operation.kind != "constructor" or f"{operation.name}.__init__" in names:
                self._possible[operation.id] = True  # the code that it runs is unknown, so it may reach everything

    def note(self, traces: Sequence[Trace]) -> None:
        """Add executions to learn from. Equal executions share one trace, which is needed only once."""
        self._noted += [trace for trace in traces if trace.calls and not trace.failure]
        if len(self._noted) >= _MANY:
            self._learn()

    def exhausted(self, covered: Sequence[bool] | NDArray[np.bool_]) -> frozenset[int]:
        """Return the ids of the operations under test that were called and reach no uncovered code.

        Args:
            covered: for each branch of the subject whether it is covered, shape `(len(subject.branches),)`.
        """
        self._learn()
        unfinished = np.zeros(self._reached.shape[1], dtype=bool)
        unfinished[self._branch_function[~np.asarray(covered, dtype=bool)]] = True
        # A handler of exceptions has no branch; a function with code that never ran is not finished either.
        unfinished[self._site_function[~self._visited]] = True
        called = self._reached[self._tested].any(axis=1)
        left = (self._reached[self._tested] & self._possible[self._tested] & unfinished).any(axis=1)
        return frozenset(int(identifier) for identifier in self._tested[called & ~left])

    def _learn(self) -> None:
        """Process the pending traces. Large batches on demand are cheaper than one small batch per generation."""
        traces, self._noted = self._noted, []
        found = reached(self._subject, traces)
        self._visited[found.sites] = True
        functions = self._entered[found.sites]
        is_entry = functions >= 0
        n_functions = np.bincount(found.traces[is_entry], minlength=len(traces))
        callers = np.repeat(np.arange(len(traces)), [len(trace.calls) for trace in traces])
        operations = np.array([call.operation for trace in traces for call in trace.calls], dtype=np.intp)
        owners, places = ranges((np.cumsum(n_functions) - n_functions)[callers], n_functions[callers])
        self._reached[operations[owners], functions[is_entry][places]] = True
