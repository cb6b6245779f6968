"""The executor: runs test cases in a sandboxed worker and returns their traces.

The parent never imports the subject. A worker process imports it (`zygote`, `worker`) and forks children that run
batches. A test case that breaks its child is banned and the others are repeated, so no result depends on the rest of a batch.
"""

from __future__ import annotations

import contextlib
import functools
import time
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fitgym.errors import ExecutionError, OutOfBudget
from fitgym.execution.child import Broken
from fitgym.execution.history import Crash, History, Learned, failed
from fitgym.execution.host import Host
from fitgym.execution.killing import Care, Killing, Trial
from fitgym.execution.launch import Launch, launch
from fitgym.execution.pace import Allowance
from fitgym.execution.paced import paced
from fitgym.execution.work import work_of_results, work_of_trials
from fitgym.instrument.factories import in_use
from fitgym.instrument.trace import Trace
from fitgym.messages.answer import read_answer
from fitgym.messages.effect import (
    Effect,
    Expectation,
    decode_effect,
    encode_expectations,
    expectation,
    hashes,
    without,
)
from fitgym.messages.journal import IDLE
from fitgym.messages.limits import Limits
from fitgym.messages.protocol import ProtocolError, dumps
from fitgym.messages.segment import ALONE, Segment
from fitgym.messages.traces import Traces
from fitgym.subject.subject import Reference
from fitgym.testcase.statement import StatementTable, TestCase

if TYPE_CHECKING:
    from fitgym.messages.observation import Observed

__all__ = ["Executor", "Limits", "Trial"]

_MOST_EXPECTED = 2000  # test cases whose observations are cached
_MOST_EXCHANGED = 8 << 20  # bytes exchanged with a child; its memory grows by ten times that (statements, traces)
_PATIENT = 2  # multiple of a test case's fuel
_TRIALS = 4  # multiple of the batch size: trials are shorter than test cases and return less
_MOST_FAILED_STARTS = 3  # children in a row that may die before their first test case begins
_EXPECTED = -1  # the lowest care level: compare nothing until the batch ends, and never repeat it


class Executor(Host):
    """Runs the test cases of one subject.

    The worker starts on first use, and again after it was closed or unpickled, and in a fork of the process that started
    it. All methods may be called from any thread, one at a time. Several searches may share an executor: bans, crashes
    and feedback are kept per statement table.

    Args:
        reference: the subject.
        limits: resource limits of one test case.
        start: starts a worker, see `fitgym.execution.launch`.

    Attributes:
        infection: the code has infection probes (they tell which mutants are infected), see `require`.
        deadline: a value of `time.monotonic`. A run that is not finished by then is abandoned; None for no limit.
        executions: number of test cases run; one that is repeated because another broke the process counts once.
        work: work units of these test cases and of the trials on mutants, see `fitgym.execution.work`.
        timings: wall seconds of starting workers ("start") and of running ("run"); no result depends on them.

    Raises:
        InputError: the environment variable `FITGYM_SITES` selects probes that cannot be used.
    """

    def __init__(self, reference: Reference, limits: Limits = Limits(), start: Launch = launch) -> None:  # noqa: B008
        in_use()
        super().__init__(reference, limits, start)
        self.deadline: float | None = None
        self.executions = 0
        self.work = 0
        self._care = Care()
        self._trial_care = Care()
        self._table: StatementTable | None = None
        self._run = History(limits)
        self._allowance = self._run.pace.most
        self._quick = False
        self._reset_process()

    def _reset_process(self) -> None:
        self._traces = Traces()
        self._others: weakref.WeakKeyDictionary[StatementTable, History] = weakref.WeakKeyDictionary()
        self._window = self.limits.batch
        self._failed_starts = 0

    @property
    def banned(self) -> KeysView[TestCase]:
        """Test cases that are not run again because they ended their process or exceeded a time limit."""
        return self._run.banned.keys()

    @property
    def crashes(self) -> list[Crash]:
        """Test cases that ended their process, in the order of execution."""
        return self._run.crashes

    def run(
        self, testcases: Sequence[TestCase], table: StatementTable, needs: frozenset[str] = frozenset()
    ) -> list[Trace]:
        """Run test cases with limits that adapt to the subject (see `paced`). Return their traces.

        Args:
            testcases: the test cases to run; the sequence may be empty.
            table: the table that holds their statements.
            needs: what to record beyond counts, distances and calls: "direct", "output", "input", "constants",
                "infection" (see `require`).

        Raises:
            ExecutionError: `needs` has "infection", but `require` was not called for it.
            OutOfBudget: the deadline passed; the `done` attribute holds the traces recorded until then.
        """
        if "infection" in needs and not self.infection:
            raise ExecutionError(
                'needs has "infection", but the code has no probes for it; call `require` with "infection" first'
            )

        def run(some: Sequence[TestCase], allowance: Allowance) -> list[Trace]:
            return self._work("run", some, table, needs, 0, allowance)

        with self._lock:
            self._use(table)
            return paced(testcases, needs, self._run, run)

    def verify(
        self,
        testcases: Sequence[TestCase],
        table: StatementTable,
        needs: frozenset[str] = frozenset(),
        expected: Sequence[Trace] | None = None,
        *,
        alone: bool = False,
    ) -> list[Trace]:
        """Run test cases again, starting from a fresh process. Return their traces.

        The test cases share the process as long as none of them leaves state behind, as in `run`. One process per test
        case was tried and cost more than the whole search.

        Args:
            testcases, table, needs: as in `run`.
            expected: the traces of `run` for these test cases and needs. A test case that reproduces its trace is
                verified, whatever state it leaves. Only the others run again, each in its own process.
            alone: run each test case in its own process.
        """
        with self._lock, self._aside(table, verifies=expected is not None):
            allowance = self._run.pace.again
            if expected is None:
                return self._work("run", testcases, table, needs, ALONE if alone else 0, allowance)
            traces = self._work("run", testcases, table, needs, _EXPECTED, allowance)
            differ = [i for i, (trace, known) in enumerate(zip(traces, expected, strict=True)) if trace is not known]
            again = self._work("run", [testcases[i] for i in differ], table, needs, ALONE, allowance)
            for i, trace in zip(differ, again, strict=True):
                traces[i] = trace
            return traces

    def observe(self, testcases: Sequence[TestCase], table: StatementTable) -> list[Observed]:
        """Return the facts that a test could assert after each test case. Starts from a fresh process."""
        with self._lock, self._aside(table):
            return self._work("observe", testcases, table, frozenset(), 2)

    def expect(
        self, testcases: Sequence[TestCase], traces: Sequence[Trace], table: StatementTable, *, once: bool = False
    ) -> list[Expectation | None]:
        """Return the facts that each test case shows in every run, None if it does not end the same way in every run.

        Args:
            testcases, table: as in `run`.
            traces: the traces that `run` returned for them.
            once: one run is enough, so that some facts may depend on random numbers. It takes half of the time.
        """
        with self._lock:
            self._use(table)
            known = self._run.expected
            if len(known) > _MOST_EXPECTED:
                known.clear()
            # Two runs with different random streams: a fact that differs between them depends on chance.
            for run, mode in enumerate(("expect",) if once else ("expect", "expect otherwise")):
                new = [testcase for testcase in dict.fromkeys(testcases) if len(known.get(testcase, ())) == run]
                for testcase, seen in zip(new, self._work(mode, new, table, frozenset(), 0), strict=True):
                    hidden = hashes(table.statements(testcase), self.subject.operations)
                    known[testcase] = (*known.get(testcase, ()), without(seen, hidden))
            return [expectation(known[testcase], trace) for testcase, trace in zip(testcases, traces, strict=True)]

    def check(
        self,
        testcases: Sequence[TestCase],
        expected: Mapping[TestCase, Expectation],
        table: StatementTable,
        needs: frozenset[str],
    ) -> list[Trace]:
        """Run test cases together with assertions of all their expected facts. Return the traces of both.

        Args:
            testcases, table, needs: as in `run`.
            expected: the expected facts of each test case.
        """
        self._use(table)
        wire = encode_expectations({t: expected[t] for t in testcases}, self._run.pace.most.fuel)
        return self._work("check", testcases, table, (needs, wire), 0)

    def kill(
        self,
        trials: Sequence[Trial],
        expected: Mapping[TestCase, Expectation],
        table: StatementTable,
        *,
        exhaustive: bool = False,
        patient: bool = False,
        certain: bool = False,
    ) -> list[Effect | None]:
        """Run test cases on mutants. Return the effects of the mutants.

        A mutant is killed if a test that asserts all expected facts would fail: an exception is raised, is missing or
        has another class, or a fact does not hold; or if the test case burns more than ten times its usual fuel plus
        1000 units. A trial that exceeds a limit or ends its process counts only if it does so again in a fresh process.

        Args:
            trials: pairs of a test case and the number of a mutant (index in `subject.mutants`).
            expected: the expected facts of each test case.
            table: the table that holds their statements.
            exhaustive: run a killed mutant on later test cases too, unless it takes too much time.
            patient: a mutant may burn twice the fuel limit of a test case, whatever the original burns.
            certain: the caller uses only kills that do not depend on time or memory, see `Killing`.

        Returns:
            The effect of each trial. None for a trial that was skipped because an earlier one killed the mutant.

        Raises:
            OutOfBudget: the deadline passed; the `done` attribute holds the effects so far.
        """
        with self._lock:
            self._use(table)
            self._allowance = self._run.pace.trial
            started = time.perf_counter()
            self._tried_mutants = tuple(dict.fromkeys(number for _, number in trials))
            try:
                killing = Killing(
                    functools.partial(self._tried, table, patient),
                    expected,
                    exhaustive=exhaustive,
                    batch=_TRIALS * self.limits.batch,
                    care=self._trial_care,
                    doubts=not certain,
                )
                effects = killing.run(trials)
                self.work += work_of_trials(trials, effects, expected)
                return effects
            except BaseException:
                self._retire()
                raise
            finally:
                self.timings["run"] += time.perf_counter() - started

    def learned(self) -> Learned:
        """Return the feedback collected since the last call."""
        with self._lock:
            return self._run.feedback.drain()

    def require(self, needs: frozenset[str]) -> None:
        """Prepare the executor to record everything in `needs`.

        Infection probes cost time in every run, so they are inserted only when "infection" is required. A worker
        without them is replaced. From then on `subject` has the infection sites after all other sites.
        """
        with self._lock:
            if "infection" in needs and not self.infection:
                self.infection = True
                self._subject = None
                self.close()

    def begin(self, *, quick: bool = False) -> None:
        """Reset executions, bans and feedback. If `quick`, the time limit adapts to the subject, see `Pace`."""
        with self._lock:
            self.executions = self.work = 0
            self._quick = quick
            self._switch(None)

    def continue_as(self, table: StatementTable, copied: StatementTable) -> None:
        """Give a copied table the bans, crashes and feedback of the table it was copied from."""
        with self._lock:
            run = self._run if table is self._table else self._others.get(table)
            if run is not None:
                self._others[copied] = run.copy()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the worker and the objects bound to it."""
        state = self.__dict__.copy()
        started = ("_start", "_zygote", "_finalizer", "_lock", "_restarts", "_verifier")  # see `_reset_worker`
        for name in (*started, "_traces", "_others", "_window", "_failed_starts"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._reset_worker()
        self._reset_process()

    def _work(
        self,
        mode: str,
        testcases: Sequence[TestCase],
        table: StatementTable,
        needs: object,
        care: int,
        allowance: Allowance | None = None,
    ) -> list[Any]:
        with self._lock:
            started = time.perf_counter()
            self._use(table)
            self._allowance = allowance or self._run.pace.most
            try:
                return self._all(mode, testcases, table, needs, care)
            except BaseException:
                # For example Ctrl-C: the child is still busy with a batch whose answer will not be read.
                if self._zygote is not None:
                    self._zygote.retire()
                raise
            finally:
                self.timings["run"] += time.perf_counter() - started

    @contextlib.contextmanager
    def _aside(self, table: StatementTable, *, verifies: bool = False) -> Iterator[None]:
        """Run the test cases of `table` in fresh processes inside the block, see `_parked`."""
        self._use(table)
        with self._parked(verifies=verifies):
            yield

    def _switch(self, table: StatementTable | None) -> None:
        """Make `table` the current table: statement ids refer to it, and it has its own bans and feedback."""
        self._retire()
        self._drop_verifier()
        if self._table is not None:
            self._others[self._table] = self._run
        known = self._others.pop(table, None) if table is not None else None
        self._run = known or History(self.limits)
        self._run.pace.quick = self._quick
        self._table = table

    def _use(self, table: StatementTable) -> None:
        if table is not self._table:
            self._switch(table)

    def _all(
        self, mode: str, testcases: Sequence[TestCase], table: StatementTable, needs: object, care: int
    ) -> list[Any]:
        run = self._run
        results: list[Any] = [None] * len(testcases)
        segments = deque([Segment(list(range(len(testcases))), care)])
        while segments:
            segment = segments.popleft()
            alive = run.allowed(segment.indexes, testcases, mode, results) if run.banned else segment.indexes
            if not alive:
                continue
            if segment.care >= 0:
                segment.care = max(segment.care, self._care.level)
            if segment.suspect is not None and segment.suspect not in run.banned:
                segment.care = max(segment.care, 2)
            size = 1 if segment.care == ALONE else self._window
            batch, rest = alive[:size], alive[size:]
            if rest:
                segments.appendleft(Segment(rest, segment.care))
            started = time.perf_counter()
            try:
                asked = [testcases[i] for i in batch]
                done = self._ask(mode, needs, asked, asked, table, segment.care)
            except OutOfBudget as late:
                late.done = tuple(results)
                raise
            except Broken as broken:
                for piece in reversed(self._blame(broken, testcases, batch, table, segment.care)):
                    segments.appendleft(piece)
                continue
            if isinstance(done, int):  # one of the test cases left state behind: repeat with more care to find it
                self._care.raise_to(done)
                segments.appendleft(Segment(batch, done))
                continue
            self.executions += len(done)
            self.work += work_of_results(done)
            if mode == "run" and not self._first and not any(result.failure for result in done):
                run.pace.took(time.perf_counter() - started, len(done))
            if 0 < segment.care <= self._care.level:
                # Comparing all state after each test case costs several times as much as most test cases. If the
                # subject leaves state behind only rarely, repeating those batches is cheaper.
                self._care.relax(len(done), clean=self._zygote is not None and self._zygote.child is not None)
            for index, result in zip(batch, done, strict=False):
                if result.failure == "timeout":  # which calls had finished at the timeout is random
                    ran = len(result.calls) if mode in ("run", "check") else 0
                    hung = ran > 0 and not result.calls[-1].returned
                    banned = run.ban(testcases[index], "timeout", table, ran - 1 if hung else -1)
                    result = failed(mode, banned)
                results[index] = result
            if len(done) < len(batch):
                self._window = max(1, self._window // 2)
                segments.appendleft(Segment(batch[len(done) :], segment.care))
            else:
                self._window = min(self.limits.batch, 2 * self._window)
        return results

    def _ask(
        self,
        mode: str,
        needs: object,
        items: Sequence[Any],
        testcases: Iterable[TestCase],
        table: StatementTable,
        care: int,
    ) -> list[Any] | int:
        """Send items to the child. Send them again while the answer names more state to watch.

        Each item contains one of `testcases` (for mutants an item also names the mutant).

        Returns:
            The results up to the first item that left state behind. If that item is unknown, the care level with which
            to repeat the whole batch.

        Raises:
            Broken: the child did not answer.
            OutOfBudget: the deadline passed.
        """
        while True:
            zygote, child = self._ready(care == ALONE, mode == "mutate")
            self._first = child.fresh
            definitions = child.introduced(testcases, table)
            request = dumps((mode, needs, definitions, items, care, tuple(self._allowance), child.watched.wire()))
            payload = zygote.ask(request, len(items), self.deadline, self._allowance.seconds)
            if mode != "mutate":  # results on mutants are not kept
                child.exchanged += len(request) + len(payload)
            try:
                answer = read_answer(payload, len(items))
                zygote.note_imports(answer.imported)
                again = bool(answer.redo) and child.watched.add(*answer.found)
                child.memory += [self._traces.decoded(wire) for wire in answer.fresh]
                results = answer.results
                if mode in ("run", "check"):
                    results = [child.memory[number] for number in results]
                elif mode == "mutate":
                    results = [result and decode_effect(result) for result in results]
                elif not all(hasattr(result, "failure") for result in results):
                    raise ProtocolError("a result has the wrong type")
                self._run.feedback.add(*answer.feedback)
            except (ProtocolError, TypeError, ValueError, LookupError, AttributeError):
                zygote.retire()
                raise Broken("crash", forged=True) from None
            self._restarts = self._failed_starts = 0
            if answer.last or child.exchanged > _MOST_EXCHANGED:
                zygote.retire()
            if not again:
                return answer.redo or results

    def _tried(
        self,
        table: StatementTable,
        patient: bool,
        trials: Sequence[Trial],
        expected: Mapping[TestCase, Expectation],
        exhaustive: bool,
        care: int,
    ) -> list[Effect | None] | int:
        """Run trials in a child, see `Killing`."""
        most = self._allowance.fuel
        wire = encode_expectations(expected, most, _PATIENT * most if patient else 0)
        return self._ask("mutate", (wire, exhaustive), trials, expected, table, care)

    def _blame(
        self, broken: Broken, testcases: Sequence[TestCase], batch: list[int], table: StatementTable, care: int
    ) -> list[Segment]:
        """Ban the test case that broke the child, if it is known. Return the segments to run again."""
        if self._first and broken.ended_before_start and self._failed_starts < _MOST_FAILED_STARTS:
            # A waiting child may die of anything before its first test case begins. But decoding a statement is enough
            # to crash some children, so the number of retries is limited.
            self._failed_starts += 1
            return [Segment(batch, care)]
        self._window = max(1, self._window // 2)
        guilty, certain = broken.guilty(len(batch), care, fresh=self._first)
        if guilty == IDLE:
            return [Segment(batch, broken.more(care))]
        testcase = testcases[batch[guilty]]
        if not certain:
            before, after = batch[:guilty], batch[guilty + 1 :]
            return [Segment([batch[guilty]], ALONE), Segment(before, care, testcase), Segment(after, care)]
        at = broken.position if 0 <= broken.position < len(testcase) else len(testcase) - 1
        self._run.ban(testcase, broken.failure, table, at if broken.running != IDLE else -1)
        operation = table[testcase[at]].operation if testcase else -1
        self._run.crashes.append(Crash(testcase, broken.failure, broken.position, operation))
        self.executions += 1
        return [Segment(batch[:guilty], care), Segment(batch[guilty:], care)]
