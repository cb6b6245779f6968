"""The workbench: runs test cases outside the search, as finishing a suite requires."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fitgym.engine.execution import Execution
from fitgym.engine.queries import Queries
from fitgym.engine.state import State
from fitgym.evolution.budget import Budget
from fitgym.execution.executor import Trial
from fitgym.instrument.trace import Trace
from fitgym.messages.effect import Effect, Expectation
from fitgym.messages.observation import Observed
from fitgym.testcase.statement import TestCase

__all__ = ["Workbench"]


class Workbench(Queries):
    """Runs, observes and checks test cases within budget and deadline; it steers no search.

    Args:
        state: of the search.
    """

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self._execution = Execution(state)

    # ------------------------------------------------------------------ limits

    @property
    def budget(self) -> Budget | None:
        """The budget of the search; None without a budget, and while the suite is finished."""
        return self._state.budget

    @budget.setter
    def budget(self, budget: Budget | None) -> None:
        self._state.budget = budget

    @property
    def deadline(self) -> float | None:
        """The end of the search on the clock `time.monotonic`; a test case that runs then is interrupted."""
        return self._state.executor.deadline

    @deadline.setter
    def deadline(self, deadline: float | None) -> None:
        self._state.executor.deadline = deadline

    @property
    def work(self) -> int:
        """The amount of work for test cases and mutants so far; see `fitgym.execution.work`."""
        return self._state.executor.work

    # ------------------------------------------------------------------ running

    def execute(self, testcases: Iterable[TestCase]) -> None:
        """Run the unknown test cases, learn from them and offer them to the archive.

        Raises:
            OutOfBudget: time or executions ran out before all of them ran.
        """
        self._execution.execute(testcases)

    def observe(self, testcases: Sequence[TestCase]) -> list[Observed]:
        """Return everything observable of test cases when nothing of the subject is frozen; see `Executor.observe`.

        Raises:
            OutOfBudget: the deadline passed.
        """
        return self._state.executor.observe(testcases, self._state.table)

    def expect(self, testcases: Sequence[TestCase], *, once: bool = False) -> list[Expectation | None]:
        """Return the behaviour of executed test cases without mutants; see `Executor.expect`.

        Raises:
            OutOfBudget: the deadline passed.
        """
        traces = [self.trace(testcase) for testcase in testcases]
        return self._state.executor.expect(testcases, traces, self._state.table, once=once)

    def trace_of_import(self, probes: frozenset[str] = frozenset()) -> Trace:
        """Return the trace of the empty test case, which only imports the subject.

        Raises:
            OutOfBudget: the deadline passed.
        """
        return self._execution.trace_of_import(probes)

    def check(
        self, testcases: Sequence[TestCase], expected: Mapping[TestCase, Expectation], probes: frozenset[str]
    ) -> list[Trace]:
        """Return the traces of test cases with their assertions, which also run code; see `Executor.check`.

        Raises:
            OutOfBudget: the deadline passed.
        """
        return self._state.executor.check(testcases, expected, self._state.table, probes)

    # ------------------------------------------------------------------ mutants

    def kill(
        self,
        trials: Sequence[Trial],
        expected: Mapping[TestCase, Expectation],
        *,
        exhaustive: bool = False,
        patient: bool = False,
        certain: bool = False,
    ) -> list[Effect | None]:
        """Return the effects of mutants on test cases; see `Executor.kill`.

        Raises:
            OutOfBudget: the deadline passed.
        """
        run = self._state.executor.kill
        return run(trials, expected, self._state.table, exhaustive=exhaustive, patient=patient, certain=certain)

    def spare_mutants(self) -> None:
        """From now on run test cases on mutants only by `kill`, not whenever they are executed."""
        self._state.spares_mutants = True
