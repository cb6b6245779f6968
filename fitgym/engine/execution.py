"""Execution: runs test cases within the budget and the deadline, and stores what their traces show."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import numpy as np

from fitgym.engine.discovery import function_name
from fitgym.engine.queries import Queries
from fitgym.engine.state import State
from fitgym.errors import OutOfBudget
from fitgym.evolution.trials import tried
from fitgym.instrument.trace import Trace
from fitgym.testcase.statement import TestCase

__all__ = ["Execution"]

_GLANCE = 0.1  # seconds between two looks at the clock; a look after each test case would split the batches


class Execution:
    """Runs test cases for one search.

    Args:
        state: of the search.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._queries = Queries(state)

    def execute(self, testcases: Iterable[TestCase]) -> None:
        """Run the unknown test cases, learn from them and offer them to the archive.

        Raises:
            OutOfBudget: time or executions ran out before all of them ran.
        """
        unknown = self._state.measurements.unknown(testcases, self._queries.probes)
        left = self._executions_left()
        affordable = len(unknown) if left is None else max(0, left)
        self._run_in_time(unknown[:affordable])
        if affordable < len(unknown):
            raise OutOfBudget

    def run(self, testcases: Sequence[TestCase]) -> None:
        """Run all of these test cases, known or not, whatever the budget; see `execute`.

        Raises:
            OutOfBudget: the deadline passed.
        """
        state = self._state
        probes = self._probes_of(testcases)
        with state.stopwatch.time("execute"):
            before = state.executor.executions
            late: OutOfBudget | None = None
            try:
                traces = state.executor.run(testcases, state.table, probes | {"constants"})
            except OutOfBudget as out:  # what has run counts
                late = out
                ran = [(testcase, trace) for testcase, trace in zip(testcases, out.done, strict=False) if trace]
                testcases, traces = [testcase for testcase, _ in ran], [trace for _, trace in ran]
            finally:
                state.executions += state.executor.executions - before
            if "effects" in probes and late is None and not state.spares_mutants:
                traces = self._run_on_mutants(testcases, traces)
        if late is None or "effects" not in probes:
            with state.stopwatch.time("measure"):
                self._learn(testcases, traces, probes)
        if late is not None:
            raise late

    def offer(self, names: Sequence[str], testcases: Iterable[TestCase]) -> None:
        """Offer executed test cases to the archive for the targets of the named fitness functions.

        Test cases without the probes that a function needs are not offered for it.
        """
        measurements = self._state.measurements
        known = [testcase for testcase in dict.fromkeys(testcases) if testcase in measurements]
        for name in names:
            needs = measurements.fitness[name].needs
            able = [testcase for testcase in known if needs <= measurements.recorded(testcase)]
            self._state.archive.update([name], able, self._confirm)

    def trace_of_import(self, probes: frozenset[str]) -> Trace:
        """Return the trace of the empty test case, which only imports the subject.

        Raises:
            OutOfBudget: the deadline passed.
        """
        state = self._state
        if probes not in state.imported:
            (state.imported[probes],) = state.executor.run([()], state.table, probes)
        return state.imported[probes]

    def _executions_left(self) -> int | None:
        """Return the number of executions that the budget leaves; None if the budget counts something else."""
        budget = self._state.budget
        if budget is None or budget.unit != "x":
            return None
        return int(budget.amount) - self._state.executions

    def _run_in_time(self, unknown: Sequence[TestCase]) -> None:
        """Run test cases in chunks until the deadline.

        Raises:
            OutOfBudget: the deadline passed before all of them ran.
        """
        state = self._state
        while unknown and state.executor.deadline is not None:
            if self._queries.late:
                raise OutOfBudget
            started = time.monotonic()
            self.run(unknown[: state.chunk])
            unknown = unknown[state.chunk :]
            # Adapt the chunk so that it takes about `_GLANCE` seconds: large chunks overshoot the deadline.
            quick = time.monotonic() - started < _GLANCE
            state.chunk = min(1024, 2 * state.chunk) if quick else max(1, state.chunk // 2)
        if unknown:
            self.run(unknown)

    def _probes_of(self, testcases: Sequence[TestCase]) -> frozenset[str]:
        """Return the probes to record for these test cases: the ones needed now, and all that were recorded before."""
        # Functions are activated in turn. Dropping an earlier probe would run the test case again at each turn.
        measurements = self._state.measurements
        return self._queries.probes.union(*(measurements.recorded(t) for t in testcases if t in measurements))

    def _run_on_mutants(self, testcases: Sequence[TestCase], traces: list[Trace]) -> list[Trace]:
        """Return the traces, with the effects of the mutants that the test cases infect and none has killed."""
        state = self._state
        infected = np.zeros((len(traces), len(state.subject.mutants)), dtype=bool)
        imported = self.trace_of_import(frozenset())
        uses_archive = self._queries.uses_archive
        for name, fitness in state.measurements.fitness.items():
            if fitness.numbers is not None:
                dead = state.archive.covered(name) if uses_archive else state.archive.granted(name)
                infected[:, fitness.numbers] |= fitness.infected(traces, imported) & ~dead
        if uses_archive:
            infected = state.survivors.due(infected)
        return tried(testcases, traces, infected, state.executor, state.table, exhaustive=not uses_archive)

    def _learn(self, testcases: Sequence[TestCase], traces: Sequence[Trace], probes: frozenset[str]) -> None:
        state = self._state
        new = state.measurements.add(testcases, traces, probes)
        state.reach.note(new)
        for raised in [trace.raised for trace in new if trace.raised is not None and trace.raised.ill_typed]:
            state.ill_typed.setdefault((raised.type, function_name(state.subject, raised.function)))
        for testcase, trace in zip(testcases, traces, strict=True):
            state.factory.note(testcase, trace)
        state.factory.learn(state.executor.learned())
        state.archive.update(state.archived, testcases, self._confirm)

    def _confirm(self, testcases: Sequence[TestCase]) -> list[bool]:
        """Return whether test cases cover the same targets in a fresh process.

        A test case that behaves identically there is not run in a fresh process again.
        """
        state = self._state
        confirmed = [testcase in state.confirmed for testcase in testcases]
        unsure = [testcase for testcase, sure in zip(testcases, confirmed, strict=True) if not sure]
        answers = iter(self._compare(unsure) if unsure else ())
        return [sure or next(answers) for sure in confirmed]

    def _compare(self, testcases: Sequence[TestCase]) -> list[bool]:
        """Run test cases in a fresh process. Return whether they cover the same targets."""
        state = self._state
        measurements = state.measurements
        known = [trace.plain or trace for trace in map(measurements.trace, testcases)]
        try:
            with state.stopwatch.time("execute"):
                again = state.executor.verify(testcases, state.table, self._probes_of(testcases), known)
        except OutOfBudget:
            return [False] * len(testcases)
        confirmed = np.ones(len(testcases), dtype=bool)
        # Equal executions share one trace, so identity is enough to compare them.
        differ = [i for i, trace in enumerate(known) if again[i] is not trace]
        state.confirmed.update((testcases[i], None) for i, trace in enumerate(known) if again[i] is trace)
        for name in state.archived if differ else ():
            fitness = measurements.fitness[name]
            missed = measurements.covers(name, [testcases[i] for i in differ])
            rows, columns = fitness.entries([again[i] for i in differ]).covered(missed.shape[1])
            missed[rows, columns] = False
            confirmed[differ] &= ~missed.any(axis=1)
        return [bool(ok) for ok in confirmed]
