"""The runner: runs batches of test cases in a child of the worker and encodes their results."""

from __future__ import annotations

import contextlib
import gc
import resource
import signal
import sys
import types
from dataclasses import replace
from time import monotonic, process_time  # the real ones, see `fitgym.determinism.clock`
from typing import TYPE_CHECKING, Any

from fitgym.determinism.chance import PRIVATE, Chance
from fitgym.determinism.fleeting import is_fleeting
from fitgym.errors import SubjectError
from fitgym.instrument.recorder import Recorder
from fitgym.instrument.rewriting.loader import load
from fitgym.instrument.trace import Failure
from fitgym.messages.captured import Captured
from fitgym.messages.journal import IDLE, Journal
from fitgym.messages.limits import Limits
from fitgym.messages.observation import NOT_RUN, Observed, observe
from fitgym.messages.protocol import WireTrace, dumps
from fitgym.sandbox.landlock import isolate_signals, signal_rules
from fitgym.sandbox.sandbox import Guard, lower, used_memory
from fitgym.subject.collaborators import collaborators
from fitgym.subject.introspection.inspection import REPLACED
from fitgym.subject.source import read
from fitgym.subject.subject import SET_CLOCK, Reference, Subject
from fitgym.worker import preparation
from fitgym.worker.capture import Capture
from fitgym.worker.chain import OPEN, holds, sealed
from fitgym.worker.frames import depth
from fitgym.worker.live_functions import LiveFunctions, live_functions
from fitgym.worker.outcomes import TimeUp
from fitgym.worker.program import Outcome, Program
from fitgym.worker.surroundings import Found, Surroundings
from fitgym.worker.watchdog import Watchdog

if TYPE_CHECKING:
    from fitgym.worker.activation import Mutation, Trials, WireEffect, WireExpectation

__all__ = ["Runner"]

_MORE_TASKS = 1000  # processes and threads that all programs of the user may start in addition to the existing ones
_PROCESSOR_S = 3600  # processor time of the zygote, or of a child before its limit is raised; counted per process
_IMPORT_FUEL = 1 << 60
_LONGEST_S = 0.2  # seconds for a batch; the parent sends the rest again, so results arrive before a deadline

_NOTHING: Found = ((), ())


class Runner:
    """Runs batches of test cases and encodes their results.

    Args:
        subject: the subject.
        recorder: the recorder of its probes.
        program: the compiled statements.
        limits: resource limits of one test case.
        journal: records which test case is running.
        guard: the sandbox guard, which refuses actions.
        chance: source of the subject's random numbers.
        around: all state that test cases must find unchanged.
        infection: the code has infection probes.
    """

    def __init__(
        self,
        subject: Subject,
        recorder: Recorder,
        program: Program,
        limits: Limits,
        journal: Journal,
        guard: Guard,
        chance: Chance,
        around: Surroundings,
        *,
        infection: bool = False,
    ) -> None:
        self.subject = subject
        self.recorder = recorder
        self.program = program
        self.limits = limits
        self.journal = journal
        self.guard = guard
        self._cells = journal.cells
        self._around = around
        self._infection = infection
        self._signal_rules: int
        self._processor_s = _PROCESSOR_S
        self._chance = chance
        self._known: dict[object, int] = {}
        self._numbers = 0  # number of known traces
        self._watchdog = Watchdog(limits, journal, recorder)
        self._interval = 0.0
        self._fuel = limits.fuel
        self._captured: Captured | None = None  # output of the last observed test case
        self._finalizer_failed = False  # a finalizer of the last test case hung or was refused
        self._functions: LiveFunctions = {}
        self._mutation: Mutation | None = None
        self._checked: dict[tuple[int, ...], WireExpectation] = {}

    @classmethod
    def prepare(
        cls, reference: Reference, limits: Limits, journal: Journal, guard: Guard, *, infection: bool = False
    ) -> Runner:
        """Import, instrument and describe the subject. With infection probes if `infection`.

        Raises:
            SubjectError: there is nothing to test, or the imported module cannot be described.
            BaseException: any exception that the import raises.
        """
        source = read(reference)
        instrumented = preparation.instrumented(reference, source, infection)
        recorder = Recorder(instrumented.plan.sites, _IMPORT_FUEL)
        recorder.begin(frozenset({"infection"}) if infection else frozenset())
        chance = Chance(reference.module)
        before = frozenset(sys.modules)
        module = load(reference, instrumented, recorder.probe)
        recorder.settle()  # a suite imports the module before its first test, so every trace includes the import
        chance.settle()
        recorder.fuel = limits.fuel
        if not isinstance(module, types.ModuleType):
            raise SubjectError(f"'{reference.text}' offers nothing to test: {REPLACED}")
        around = Surroundings(module, before, guard, recorder)
        around.gather(collaborators(reference.module, reference.path, source, sys.modules))
        try:
            subject = preparation.describe(reference, source, module, instrumented)
        except SubjectError:
            raise
        except Exception as error:
            what = type(error).__name__
            raise SubjectError(f"'{reference.text}' can be imported, but looking at it raises {what}") from error
        if guard.overlay is not None:
            added, changed = guard.overlay.written()
            subject = replace(subject, added=added, changed=changed)
            guard.overlay.keep()
        program = Program(subject, recorder, journal.cells, {SET_CLOCK: chance.freeze})
        return cls(subject, recorder, program, limits, journal, guard, chance, around, infection=infection)

    def settle(self) -> None:
        """Take a snapshot of all state and prepare the memory for sharing. The last step before children are forked."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it were ignored, the exit status of children would be lost
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        self._around.take()
        self._signal_rules = signal_rules()
        self._functions = live_functions(self.subject.reference.path, self.recorder)
        gc.collect()
        gc.freeze()
        gc.disable()  # objects in cycles are collected between test cases, not during an arbitrary one
        with self.guard.off():
            lower(resource.RLIMIT_AS, used_memory() + self.limits.memory_mb * (1 << 20))
            lower(resource.RLIMIT_NPROC, _tasks() + _MORE_TASKS)
            lower(resource.RLIMIT_CPU, _PROCESSOR_S)
        signal.signal(signal.SIGALRM, self._watchdog.handler())

    def warm(self, names: list[str]) -> int:
        """Import modules for all later children and return their number, see `Surroundings.warm`."""
        return self._around.warm(names)

    def mutate(self) -> None:
        """Prepare the process for running mutants."""
        from fitgym.worker.activation import Mutation

        instrumented = preparation.instrumented(self.subject.reference, self.subject.source, self._infection)
        self._mutation = Mutation(self.subject, instrumented, self.recorder, self._functions)
        gc.freeze()

    def make(self, number: int) -> None:
        """Compile a mutant here, so that later children need not compile it again."""
        if self._mutation is not None:
            with contextlib.suppress(Exception):  # the child that runs the mutant will report the error
                self._mutation.make(number)
            gc.freeze()

    def begin(self) -> None:
        """Prepare a child for running. Called once per child; work that all children share is done in `settle`."""
        isolate_signals(self._signal_rules)
        if self.program.is_async:
            self.program.open_loop()
        sys.setrecursionlimit(depth() + self.limits.recursion)
        self.guard.refused = ""
        self.guard.mode = "strict"

    def wake(self) -> None:
        """Start the timer when the first request arrives."""
        self._tick(self.limits.seconds, self.limits.idle_seconds)

    def _tick(self, seconds: float, idle_seconds: float) -> None:
        """Set the interval of the timer to fit these limits."""
        interval = min(seconds / 8, idle_seconds / 4)
        if interval != self._interval:
            self._interval = interval
            self._watchdog.allow(seconds, idle_seconds)
            signal.setitimer(signal.ITIMER_REAL, interval, interval)
            self._around.forget_process()  # the timer is part of the process snapshot

    def answer(self, request: tuple[Any, ...]) -> tuple[bytes, bool]:
        """Run a batch and return the encoded answer, and whether it is the last one of this process.

        Args:
            request: a tuple with these items:

                1. the mode: "run"; "observe" (random numbers are not fixed); "expect" and "expect otherwise" (one of
                   two fixed random streams); "check" (like "run", followed by all checks of a test); "mutate";
                2. the data to record. For "check" a pair of it and the expectations. For "mutate" a pair of the
                   expectations and whether killed mutants are run on later test cases;
                3. the new statements;
                4. the test cases; for "mutate" pairs of a test case and the number of a mutant;
                5. the care level: how much state is compared after each test case rather than after the batch, see
                   `fitgym.worker.surroundings`. Two further levels: with 3 no state is compared, because this process
                   ends after its first test case. -1 is like 0, but if the batch left state behind, this process ends
                   and nothing is repeated, because the expected traces are known;
                6. the fuel, the seconds and the seconds of waiting that each test case may use;
                7. the watched state.

        Returns:
            The answer has a result for each test case up to the first one that left state behind, or until `_LONGEST_S`
            had passed. If that test case is unknown, it has no results but the care level with which to find it. It
            also has the changed parts of the state, and the names of the modules imported since the last answer. If a
            test case changed the records of others, the answer is an invalid message. The parent then runs each test
            case in another process.
        """
        mode, needs, definitions, testcases, care, allowance, watched = request
        self._around.watch(watched)
        self._fuel = self.recorder.fuel = allowance[0]
        self._tick(*allowance[1:])
        if care < 3:
            self._around.enter(self.guard.overlay)
        # Results and traces are sealed in nested tuples, because test cases can reach and change these lists.
        define = self.program.define
        for identifier, wire in definitions:
            define(identifier, wire)
        self._limit_processor_time(len(testcases))
        results: list[Any] = []
        fresh: list[WireTrace] = []
        last = False
        end = monotonic() + _LONGEST_S
        trials = self._trials(*needs) if mode == "mutate" else None
        if mode == "check":
            needs, self._checked = needs
        seal = OPEN
        for index, testcase in enumerate(tuple(testcases)):
            if trials is None:
                results.append(self._run(index, testcase, needs, mode, fresh))
            else:
                results.append(self._try(index, trials, *testcase))
            seal = sealed(seal, results, fresh)
            if results[-1] is None:
                continue
            if care == 3 or self._is_dirty(index, care) or self._around.has_unknown_modules():
                last = True
                break
            if monotonic() > end:
                break
        if not holds(seal, results, fresh) or len(self._known) != self._numbers:
            return dumps("a test case has changed what others have recorded"), True
        redo, found = 0, _NOTHING
        if not last:
            if care < 0:
                last = self._around.is_different()
            else:
                redo, found = self._around.unclear(care)
        last = last or (not redo and self._around.has_grown())
        if redo and len(results) == 1:
            redo, last = 0, True
        if redo:
            results, fresh, last = [], [], True
        returns, iterators = self.program.feedback.drain()
        constants = [text for text in self.recorder.constants if PRIVATE not in text and not is_fleeting(text)]
        self.recorder.constants.clear()
        feedback = ({}, [], []) if redo else (returns, iterators, constants)
        return dumps((results, fresh, last, redo, feedback, found, self._around.imported())), last

    # ------------------------------------------------------------------------------------------------ one test case

    def _run(
        self, index: int, testcase: tuple[int, ...], needs: frozenset[str], mode: str, fresh: list[WireTrace]
    ) -> Any:
        cells, guard = self._cells, self.guard
        self._watchdog.timed_out = False
        guard.refused = ""
        if mode == "observe":
            self._chance.free()
        else:
            self._chance.fix(other=mode == "expect otherwise")
        self.recorder.begin(needs)
        cells[2] = 0
        cells[3] = index
        cells[0] += 1
        cells[1] = index
        capture = None if mode in ("run", "check") else Capture(lambda: cells[2])
        try:
            outcome = self.program.run(testcase, needs)
            if mode == "check":
                cells[1] = index
                self._check(testcase, outcome)
        except TimeUp:  # raised between the last statement and the update of the journal
            outcome = Outcome((), "timeout", [], [])
        cells[1] = IDLE
        cells[0] += 1
        self._captured = None if capture is None else capture.end()
        failure: Failure = outcome.failure
        if self._watchdog.timed_out:
            failure = "timeout"
        elif guard.refused:
            failure = "blocked"
        if failure in ("timeout", "memory") or issubclass(type(outcome.error), RecursionError):
            # How far it came is random: it depends on time, on memory, and on how much of the code the interpreter had
            # optimised by then (a call needs more stack at first).
            self.recorder.discard_collected()
            self.recorder.begin(needs)
        result = self._described(testcase, outcome, failure, mode, fresh)
        if self.recorder.spent and not self._watchdog.timed_out:
            self.recorder.begin(needs)  # finalizers that run now need fuel
        late = self._destroy(index, outcome)
        self._finalizer_failed = bool(late)
        if late and not failure:
            failure = late
            self.recorder.discard_collected()
            self.recorder.begin(needs)
            result = self._described(testcase, outcome, failure, mode, fresh)
        self._last_failure = failure
        return result

    def _described(
        self, testcase: tuple[int, ...], outcome: Outcome, failure: Failure, mode: str, fresh: list[WireTrace]
    ) -> Any:
        if mode not in ("run", "check"):
            return self._observed(testcase, outcome, failure)
        return self._number(outcome, failure, fresh)

    def _check(self, testcase: tuple[int, ...], outcome: Outcome) -> None:
        """Run the assertions of a test. Their outcome is ignored."""
        from fitgym.worker.check import Checks

        facts, raises, position, _, _ = self._checked[testcase]
        Checks(facts, raises, position).judge(outcome.results, outcome.error)

    def _destroy(self, index: int, outcome: Outcome) -> Failure:
        """Destroy all objects of the test case while it counts as running. Return the failure of their finalizers."""
        # The journal marks this phase as running, so that the timer can interrupt finalizers of the subject.
        cells, guard = self._cells, self.guard
        before, guard.refused = guard.refused, ""
        cells[0] += 1
        cells[1] = index
        try:
            outcome.results.clear()
            outcome.error = None
            gc.collect(0)
        except TimeUp:
            pass
        cells[1] = IDLE
        cells[0] += 1
        late, guard.refused = guard.refused, guard.refused or before
        if self._watchdog.timed_out:
            return "timeout"
        return "blocked" if late else "fuel" if self.recorder.spent else ""

    def _number(self, outcome: Outcome, failure: Failure, fresh: list[WireTrace]) -> int:
        """Return the number of this trace in the process. A new trace is appended to `fresh`."""
        recorder = self.recorder
        reached, direct = recorder.snapshot()
        if direct == reached:
            direct = reached  # a message contains an object once
        stops = recorder.stops()
        raised = self.program.raised(outcome)
        infected = recorder.infected()
        key = (reached, direct, outcome.calls, raised, stops, failure, infected)
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = self._numbers
            self._numbers += 1
            plain = raised and tuple(raised), tuple(map(tuple, stops))
            fresh.append((reached, direct, outcome.calls, *plain, failure, recorder.burnt, infected))
        return number

    def _observed(self, testcase: tuple[int, ...], outcome: Outcome, failure: Failure) -> Any:
        if failure:
            return Observed(failure=failure)
        results = [*outcome.results, *([NOT_RUN] * (len(testcase) - len(outcome.results)))]
        return observe(results, outcome.error, home=self.subject.reference.module, captured=self._captured)

    # ---------------------------------------------------------------------------------------------------- one mutant

    def _trials(self, expected: dict[tuple[int, ...], WireExpectation], exhaustive: bool) -> Trials:
        """Create the trials of a request for mutants."""
        from fitgym.worker.activation import Trials

        assert self._mutation is not None, "the zygote was told that there will be mutants"
        return Trials(self._mutation, expected, exhaustive)

    def _try(self, index: int, trials: Trials, testcase: tuple[int, ...], number: int) -> WireEffect | None:
        """Run a test case on a mutant. Returns None if another test case of this batch has killed it.

        A mutant that cannot be compiled has no effect.
        """
        if trials.is_over(number):
            return None
        mutant = trials.mutation.make(number)
        if mutant is None:
            return "", (), 0.0
        cells, guard, recorder = self._cells, self.guard, self.recorder
        checks, reached, fuel = trials.of(testcase)
        self._watchdog.timed_out = False
        guard.refused = ""
        self._chance.fix()
        recorder.fuel = fuel
        recorder.begin()
        kill, difference = "", 0.0
        failing: tuple[int, ...] = ()
        capture = Capture(lambda: cells[2]) if checks.of_output else None
        mutant.do()
        try:
            cells[2] = 0
            cells[3] = index
            cells[0] += 1
            cells[1] = index
            try:
                outcome = self.program.repeat(testcase)
                cells[1] = index
                captured = None if capture is None else capture.end()
                kill, failing = checks.judge(outcome.results, outcome.error, captured)
            except TimeUp:
                outcome = Outcome((), "timeout", [], [])
            cells[1] = IDLE
            cells[0] += 1
            if self._watchdog.timed_out:
                kill, failing = "clock", ()
            elif recorder.spent:
                kill, failing = "timeout", ()
            elif outcome.failure == "memory":
                kill, failing = "memory", ()
            elif not kill:
                difference = trials.mutation.impact(number, reached, recorder.snapshot()[0])
            recorder.fuel = self._fuel
            recorder.begin()  # finalizers that run now need fuel
            late = self._destroy(index, outcome)
        finally:
            mutant.undo()
            if capture is not None:
                capture.end()  # again, if the timer stopped the test case
            recorder.fuel = self._fuel
        self._finalizer_failed = bool(late)
        self._last_failure = "timeout" if self._watchdog.timed_out else outcome.failure
        if guard.refused:
            kill, failing, difference = "", (), 0.0
        elif late == "timeout":
            kill, failing = "clock", ()
        elif late:
            kill, failing = "timeout", ()
        if kill and kill not in ("clock", "memory"):  # the parent repeats these in another process
            trials.end(number)
        return kill, failing, difference

    # --------------------------------------------------------------------------------------------------- clean state

    def _is_dirty(self, index: int, care: int) -> bool:
        """Return True if the last test case left state that cannot be restored, or cannot be compared in time."""
        cells = self._cells
        cells[0] += 1
        cells[1] = index
        try:
            return self._compare(care)
        except TimeUp:
            return True
        finally:
            cells[1] = IDLE
            cells[0] += 1

    def _compare(self, care: int) -> bool:
        if self._finalizer_failed or self._last_failure in ("timeout", "memory"):
            return True  # it was interrupted at an arbitrary point, perhaps inside a library
        return self._around.is_dirty(care)

    # ------------------------------------------------------------------------------------------------ processor time

    def _limit_processor_time(self, testcases: int) -> None:
        """Limit the processor time of this process, in case the parent is gone and nothing else stops it."""
        needed = int(process_time() + testcases * self.limits.seconds + 60)
        if needed <= self._processor_s:
            return
        self._processor_s = seconds = needed + _PROCESSOR_S
        with contextlib.suppress(ValueError, OSError):
            _, hard = resource.getrlimit(resource.RLIMIT_CPU)
            with self.guard.off():
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, hard))


def _tasks() -> int:
    """Return the number of threads on this machine, an upper bound for those of this user."""
    try:
        with open("/proc/loadavg", "rb") as loadavg:
            return int(loadavg.read().split()[3].partition(b"/")[2])
    except (OSError, IndexError, ValueError):
        return 10_000
