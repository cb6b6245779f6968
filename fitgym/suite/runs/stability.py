"""Stability: keep only tests that pass in every run, on every machine and in every order.

Every run is a fresh interpreter with a hash seed of its own; every second one simulates another machine
(`fitgym.suite.runs.other_machine`). The first run uses the order of the file, the second the reverse order, so that of
any two tests each runs first once; then orders are shuffled. Whatever differs is removed: the assertion if only that
failed, otherwise the test. If several tests fail only after certain others, those others are removed, because they
change something for all that follow. A test that passes but takes different paths through the subject, so that the
coverage of the suite varies, is also removed. Then the count of clean runs starts again, because another test may have
depended on the removed one. Tests that leave files in the current folder, or look at the files of a project in it, get
a folder of their own. If the time ends before all tests have passed in both orders, because some of them end their
interpreter, tests that have passed once are kept.
"""

from __future__ import annotations

import ast
import math
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fitgym.subject.subject import Reference
from fitgym.suite.assertions import weakened
from fitgym.suite.deadline import Deadline
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.runs.blame import failures, first_failures, suspects, without_victims
from fitgym.suite.runs.measure import Arc, Measured, arcs_by_test, read_coverage
from fitgym.suite.runs.rerun import POLL_S, STILL_S, Rerun, Verdict

__all__ = ["Dropped", "Stability", "stabilize"]

RUNS = 5
JOBS = 2
WEAKENINGS = 3  # rounds in which failed assertions are dropped; later rounds drop whole tests
SUSPICIONS = 2  # rounds in which tests that pass are removed because others fail after them
HALVINGS = 3  # splits of a file that cannot be imported: 2 + 4 + 8 = 14 runs at most
MARGIN = 1.25  # factor by which a run may exceed its expected duration
LEISURE = 2 * MARGIN  # slack for one run and one retry

_VARYING_COVERAGE = Verdict(False, (), "covers something else from run to run")
_INVALID = "its text is not valid Python"
_NOT_CHECKED = Verdict(False, (), "no time was left to see it pass")

Render = Callable[[Sequence[FinishedTest]], str]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A removed test.

    Attributes:
        name: of the test.
        reason: the class of the exception, or a description of what else went wrong.
    """

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Stability:
    """The stable part of a suite, and how well it was checked.

    Attributes:
        tests: all of them passed in `runs` consecutive runs, in their present form, and at least twice; with 0 runs at
            least once.
        runs: number of fresh interpreters that ran exactly these tests without a failure; 0 if there was no time
            after others had failed.
        wanted: number of runs requested; fewer were made if time ran out.
        weakened: number of assertions dropped from the remaining tests.
        dropped: removed tests.
        measured: coverage of these tests by coverage.py, None if not requested or without tests.
        imported: the top-level modules that the runs imported, see `Rerun`.
    """

    tests: tuple[FinishedTest, ...]
    runs: int
    wanted: int
    weakened: int = 0
    dropped: tuple[Dropped, ...] = ()
    measured: Measured | None = None
    imported: Mapping[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether all requested clean runs were made."""
        return self.runs >= self.wanted or not self.tests


def stabilize(
    tests: Sequence[FinishedTest],
    render: Render,
    reference: Reference,
    *,
    runs: int = RUNS,
    jobs: int = JOBS,
    deadline: Deadline = Deadline(),  # noqa: B008  (it is immutable)
    limit_s: float | None = None,
    measure: bool = True,
    report: Callable[[str], None] = lambda _: None,
) -> Stability:
    """Run tests repeatedly until the remaining ones pass `runs` times in a row.

    Args:
        tests: with distinct names.
        render: returns the text of their file; each assertion of a test is one `assert` statement of its function, in
            order.
        reference: the subject.
        runs: number of clean runs wanted.
        jobs: number of interpreters in parallel.
        deadline: after its soft end, one clean batch of `jobs` runs is enough. If a batch fails and there is time for
            only one more, all tests that failed or did not run are removed, and the slowest ones if the rest would not
            finish in time. If more tests passed in both orders beside the failed ones, these are kept instead: each
            removed test ran once before and once after them. If more than twice as many passed in one of the orders and
            failed in none, these are kept.
        limit_s: time limit of one interpreter in seconds; None for 20 plus 2.5 for each test.
        measure: measure coverage in every run.
        report: receives the number of clean runs so far.
    """
    work = _Work(list(tests))
    limit = 20.0 + 2.5 * len(tests) if limit_s is None else limit_s
    clean = number = failed = 0
    measured: Measured | None = None
    imported: dict[str, str] = {}
    ways: list[dict[str, frozenset[Arc]]] = []
    proven: list[FinishedTest] = []  # passed in every run of the last batch, beside tests that failed
    passed_once: list[FinishedTest] = []  # in a run of the last batch that another test ended, and failed in none
    while work.tests and clean < runs:
        report(f"checking in fresh interpreters: {clean} of {runs} clean runs")
        if not clean:
            work.fit(deadline.rest)
            if not number:
                work.drop_invalid(render)
        elif deadline.left < 1.5 * work.took or deadline.rest < LEISURE * work.took:
            break
        if not work.tests:
            break
        batch = min(jobs, runs - clean)  # even in a hurry: a suite that ran in only one order is not known to be stable
        text = render(work.tests)
        rest = deadline.rest
        # While the duration of the tests is unknown, stop a run early enough to leave time for a retry.
        patience = math.inf if rest < LEISURE * work.took else rest / 2
        reruns: list[Rerun] = []
        try:
            for job in range(batch):
                # Orders and hash seeds continue after a change, so that no run is repeated; but every count starts
                # with the order of the file and its reverse.
                order = clean + job if clean + job < 2 else number + job + 2
                reruns.append(
                    Rerun(
                        text,
                        reference,
                        order=order,
                        hash_seed=number + job + 1,
                        elsewhere=(number + job) % 2 == 1,
                        measured=measure,
                        limit_s=min(limit, rest),
                        patience_s=patience,
                        still_s=max(rest / 6, STILL_S / 3),  # in a hurry it is that of the search
                    )
                )
            waiting = reruns
            while waiting := [rerun for rerun in waiting if not rerun.look()]:
                time.sleep(POLL_S)
            work.time(reruns)
            imported |= {name: folder for rerun in reruns for name, folder in rerun.imported.items()}
            number += batch
            # If there is time for one more batch only, remove all failures at once; after the soft end sooner.
            hurried = deadline.rest < LEISURE * work.took or (deadline.left < work.took and failed >= WEAKENINGS)
            writers = {n for rerun in reruns for n, verdict in rerun.verdicts.items() if verdict.wrote}
            if all(rerun.finished and _all_passed(rerun, work.tests) for rerun in reruns):
                again = deadline.rest > MARGIN * work.took  # if not, accept the tests because they passed
                if again and work.give_folders(writers):
                    clean, ways = 0, []
                    continue
                if measure:
                    ways += [arcs_by_test(rerun.coverage_file, reference) for rerun in reruns]
                    measured = read_coverage(reruns[0].coverage_file, reference)
                wandering = _with_varying_coverage(ways)
                if not (wandering and again):
                    clean += batch
                    continue
                work.take_out(dict.fromkeys(wandering, _VARYING_COVERAGE), may_weaken=False)
                clean, ways, proven = 0, [], list(work.tests)
                continue
            clean, ways = 0, []
            proven = _proven(work.tests, proven, reruns, writers)
            passed_once = _passed_once(work.tests, reruns, writers)
            if work.give_folders(writers) and not hurried:  # tests may have failed because of files of other tests
                continue
            if unusable := [rerun for rerun in reruns if rerun.unusable]:
                halvings = 0 if unusable[0].timed_out else HALVINGS
                work.drop_unusable(unusable[0].unusable, render, reference, limit, halvings, deadline)
            else:
                failed_tests = failures(reruns)
                blamed = without_victims(failed_tests, reruns, work.tests)
                if len(blamed) == len(work.tests) and failed < WEAKENINGS:
                    blamed = first_failures(failed_tests, reruns)
                if failed < SUSPICIONS:
                    blamed = suspects(reruns, 1 if not failed else len(work.tests)) or blamed
                if hurried:
                    unseen = _not_finished(reruns, work.tests)
                    seen = len(work.tests) - len(unseen)
                    # Many failures may have few causes. If blaming few tests saves many others, remove only those few.
                    most = seen - len(failed_tests) < (seen - len(blamed)) / 2
                    blamed = (blamed if most else failed_tests) | unseen
                work.take_out(blamed, may_weaken=failed < WEAKENINGS and not hurried)
            failed += 1
        finally:
            for rerun in reruns:
                rerun.close()
    if not clean:
        work.drop_all(_NOT_CHECKED.error)
    best = max(work.tests, proven, key=len)
    if len(passed_once) > 2 * len(best):  # rather weaker evidence than hardly any tests
        best = passed_once
    if len(best) > len(work.tests):
        work.bring_back(best)
        clean, measured = 0, None
    kept = {test.name for test in work.tests}
    weakened = sum(count for name, count in work.weakened.items() if name in kept)
    return Stability(
        tuple(work.tests), clean, runs, weakened, tuple(work.dropped), measured if work.tests else None, imported
    )


class _Work:
    """The remaining tests, the removed ones, and durations in seconds.

    Attributes:
        took: duration of the last batch of runs.
        overhead: part of it that was not spent in tests.
        slowness: the longest duration of each test.
    """

    def __init__(self, tests: list[FinishedTest]) -> None:
        self.tests = tests
        self.dropped: list[Dropped] = []
        self.weakened: dict[str, int] = {}
        self.took = 0.0
        self.overhead = 0.0
        self.slowness: dict[str, float] = {}

    def time(self, reruns: Sequence[Rerun]) -> None:
        """Record the durations of parallel runs."""
        self.took = max(rerun.seconds for rerun in reruns)
        within = [sum(verdict.seconds for verdict in rerun.verdicts.values()) for rerun in reruns]
        self.overhead = max(rerun.seconds - seconds for rerun, seconds in zip(reruns, within, strict=True))
        for rerun in reruns:
            for name, verdict in rerun.verdicts.items():
                self.slowness[name] = max(verdict.seconds, self.slowness.get(name, 0.0))

    def fit(self, rest: float) -> None:
        """Remove the slowest tests until the others are expected to finish within `rest` seconds.

        All tests are removed if not even one would finish in time.
        """
        expected = self.overhead + sum(self.slowness.get(test.name, 0.0) for test in self.tests)
        late = set()
        for test in sorted(self.tests, key=lambda test: self.slowness.get(test.name, 0.0))[:0:-1]:
            if MARGIN * expected < rest:
                break
            expected -= self.slowness.get(test.name, 0.0)
            late.add(test.name)
        if expected >= rest:
            self.drop_all(_NOT_CHECKED.error)
        elif late:
            self.take_out(dict.fromkeys(late, _NOT_CHECKED), may_weaken=False)

    def give_folders(self, writers: set[str]) -> bool:
        """Give tests that use the current folder one of their own; return whether this changes any test."""
        known = self.tests
        self.tests = [replace(test, writes=True) if test.name in writers else test for test in known]
        return self.tests != known

    def take_out(self, failures: dict[str, Verdict], *, may_weaken: bool) -> None:
        """Remove the assertions that failed, or tests that failed in another way.

        Without any failure a run died between two tests: the last test is removed, so that the loop terminates.
        """
        if not failures and self.tests:
            failures = {self.tests[-1].name: Verdict(False, (), "the interpreter died")}
        kept = []
        for test in self.tests:
            verdict = failures.get(test.name)
            if verdict is None:
                kept.append(test)
            elif verdict.assertions and may_weaken:
                self.weakened[test.name] = self.weakened.get(test.name, 0) + len(verdict.assertions)
                if (weak := weakened(test, verdict.assertions)) is not None:
                    kept.append(weak)
                else:
                    self.dropped.append(Dropped(test.name, verdict.error))
            else:
                self.dropped.append(Dropped(test.name, verdict.error))
        self.tests = kept

    def drop_all(self, reason: str) -> None:
        """Remove all remaining tests."""
        self.dropped += [Dropped(test.name, reason) for test in self.tests]
        self.tests = []

    def bring_back(self, tests: Sequence[FinishedTest]) -> None:
        """Keep exactly these tests, although some of them were removed."""
        names = {test.name for test in tests}
        self.tests = list(tests)
        self.dropped = [one for one in self.dropped if one.name not in names]

    def drop_invalid(self, render: Render) -> None:
        """Remove tests whose text is not valid Python, so that the others can run."""
        if not self.tests or _is_valid(render(self.tests)):
            return
        valid = [test for test in self.tests if _is_valid(render([test]))]
        self.dropped += [Dropped(test.name, _INVALID) for test in self.tests if test not in valid]
        self.tests = valid

    def drop_unusable(
        self, reason: str, render: Render, reference: Reference, limit_s: float, halvings: int, deadline: Deadline
    ) -> None:
        """Keep the largest parts, found by halving, whose file can be imported."""
        parts = self._usable(self.tests, render, reference, limit_s, halvings, deadline)
        usable = {test.name for part in parts for test in part}
        no_time = not usable and halvings > 0 and deadline.rest < LEISURE * self.took
        if no_time or len(usable) == len(self.tests):  # the parts work alone but not together: remove the second half
            usable = {test.name for test in self.tests[: len(self.tests) // 2]}
        self.dropped += [Dropped(test.name, reason) for test in self.tests if test.name not in usable]
        self.tests = [test for test in self.tests if test.name in usable]

    def _usable(
        self,
        tests: list[FinishedTest],
        render: Render,
        reference: Reference,
        limit_s: float,
        depth: int,
        deadline: Deadline,
    ) -> Iterator[list[FinishedTest]]:
        """Yield parts that can be imported; the caller knows that all tests together cannot."""
        if len(tests) < 2 or depth == 0 or deadline.rest < LEISURE * self.took:
            return
        middle = len(tests) // 2
        for half in (tests[:middle], tests[middle:]):
            rerun = Rerun(render(half), reference, limit_s=min(limit_s, max(0.0, deadline.rest)))
            try:
                unusable = rerun.wait().unusable
            finally:
                rerun.close()
            if not unusable:
                yield half
            else:
                yield from self._usable(half, render, reference, limit_s, depth - 1, deadline)


def _is_valid(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _proven(
    tests: Sequence[FinishedTest], before: Sequence[FinishedTest], reruns: Sequence[Rerun], writers: Container[str]
) -> list[FinishedTest]:
    """Return the tests that passed in both orders and leave no files.

    After a batch that was cut off, these are the tests proven `before` that have not failed in it.
    """
    complete = len(reruns) > 1 and all(rerun.finished for rerun in reruns)
    unseen = _MISSING if complete else _GOOD
    return [
        test
        for test in (tests if complete else before)
        if test.name not in writers and all(rerun.verdicts.get(test.name, unseen).passed for rerun in reruns)
    ]


def _passed_once(tests: Sequence[FinishedTest], reruns: Sequence[Rerun], writers: Container[str]) -> list[FinishedTest]:
    """Return the tests that passed at least once, failed in no run and leave no files."""
    verdicts = [rerun.verdicts for rerun in reruns]
    return [
        test
        for test in tests
        if test.name not in writers
        and any(test.name in known for known in verdicts)
        and all(known.get(test.name, _GOOD).passed for known in verdicts)
    ]


def _all_passed(rerun: Rerun, tests: Sequence[FinishedTest]) -> bool:
    return all(rerun.verdicts.get(test.name, _MISSING).passed for test in tests)


def _with_varying_coverage(ways: Sequence[dict[str, frozenset[Arc]]]) -> list[str]:
    """Return tests that may cause differences in coverage between runs.

    A test whose own coverage differs is not always blamed: the first caller of a cached function runs it, whichever
    test that is. Only lines that some runs of the whole suite miss count.
    """
    together = [frozenset().union(*way.values()) for way in ways]
    if len(set(together)) < 2:
        return []
    unsteady = frozenset().union(*together) - frozenset.intersection(*together)
    names = dict.fromkeys(name for way in ways for name in way)
    return [name for name in names if any(way.get(name, frozenset()) & unsteady for way in ways)]


def _not_finished(reruns: Sequence[Rerun], tests: Sequence[FinishedTest]) -> dict[str, Verdict]:
    """Return the tests that did not finish in any run."""
    return {test.name: _NOT_CHECKED for test in tests if all(test.name not in rerun.verdicts for rerun in reruns)}


_MISSING = Verdict(False, (), "it was not run")
_GOOD = Verdict(True)
