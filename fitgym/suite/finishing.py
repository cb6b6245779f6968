"""Finishing: turn the best suite of a search into an exported file whose tests pass every time."""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fitgym.engine.discovery import Discovery
from fitgym.engine.workbench import Workbench
from fitgym.errors import OutOfBudget
from fitgym.evolution.trials import minimal
from fitgym.messages.observation import Observation, Observed
from fitgym.suite.allotment import Allotment
from fitgym.suite.assertions import finished_tests, renamed, with_class_facts
from fitgym.suite.cases import joined_if_passing
from fitgym.suite.deadline import Deadline
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.idle import idle
from fitgym.suite.inspections import with_inspections
from fitgym.suite.kills import KillsOfTest
from fitgym.suite.mutant_effects import Mutation
from fitgym.suite.observers import enriched, unknown
from fitgym.suite.own_environment import with_own_environment, without_unread_clocks
from fitgym.suite.reduction.minimize import minimize
from fitgym.suite.reduction.reduction import Seen
from fitgym.suite.runs.measure import Measured
from fitgym.suite.runs.optional_packages import independent
from fitgym.suite.runs.stability import Dropped, stabilize
from fitgym.suite.score import MutationScore, mutation_score
from fitgym.suite.text.dialects import DIALECTS, Dialect
from fitgym.suite.text.export import arranged, suite_text
from fitgym.suite.text.filing import Filing
from fitgym.suite.text.suite_file import SuiteFile
from fitgym.testcase.expression import Expression, Name, refs
from fitgym.testcase.statement import TestCase

__all__ = ["Finished", "finish"]

MINIMIZING = 0.45  # shares of the time left when the stage begins
TRYING = 0.5  # share of minimising for finding out which mutants the candidates kill
OWNING = 0.1  # for finding out which tests need an environment of their own
INSPECTING = 0.15
OBSERVING = 0.4
KILLING = 0.3
AMPLE = 2.0  # seconds for minimising from which it also preserves killed mutants
ROUNDS = 4  # of minimising when the goal is mutants
SCORING_S = 2.0  # seconds for running the mutants if a budget in seconds is used up
GLANCES = 3  # extra observations if a chunk differs between its first two
CHUNK = 16  # test cases per observation; the deadline is checked between two
BATCH = 64  # test cases per execution while minimising, for the same reason

SHORTENING_WORK = 0.3  # shares of the units of finishing, if work is counted
JUDGING_WORK = 0.35  # for mutants that shortened tests must kill
CHOOSING_WORK = 0.15  # for mutants that assertions must kill

Report = Callable[[str], None]
"""Receives progress in a few words: the stage, and after a colon how far it is."""

_LAZY = {("builtins", name) for name in ("enumerate", "filter", "map", "reversed", "zip")}
_LAZY |= {("itertools", name) for name in dir(itertools)}

_ELSEWHERE = {
    Name("builtins", "ModuleNotFoundError"): "it depends on which packages are installed",
    Name("builtins", "ImportError"): "it depends on which packages are installed",
    Name("socket", "gaierror"): "it depends on the network",
    Name("socket", "herror"): "it depends on the network",
}
"""Why a test is left out that expects an exception which is not raised on every machine."""

_UNOBSERVED = "no time was left to observe it"


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished suite.

    Attributes:
        tests: in the order of the file; similar ones may be cases of one test there.
        source: text of the file, "" if no test is left.
        path: the file, None if there is none.
        coverage: number of targets covered by the exported tests and number of known targets, for each fitness function
            that was ever active.
        exceptions: the distinct exceptions that the exported tests raise, in the order of the file.
        measured: coverage of the exported file measured by coverage.py, None if no test is left.
        runs: number of runs in fresh interpreters in which all tests passed.
        dropped: tests that behaved differently between runs or were not checked in time, with the reason.
        weakened: number of assertions dropped for one of these reasons.
        mutants: the mutants that the exported tests kill, None unless the search ran mutants or a score was asked for.
        mutants_s: seconds spent on running the mutants.
        unfinished: a sentence for each stage that was cut off; empty if none was.
    """

    tests: tuple[FinishedTest, ...]
    source: str
    path: Path | None
    coverage: dict[str, tuple[int, int]]
    exceptions: tuple[Discovery, ...]
    measured: Measured | None
    runs: int
    dropped: tuple[Dropped, ...]
    weakened: int
    mutants: MutationScore | None = None
    mutants_s: float = 0.0
    unfinished: tuple[str, ...] = ()


def finish(
    engine: Workbench,
    names: Sequence[str],
    *,
    filing: Filing | None = None,
    command: str = "",
    dialect: Dialect = DIALECTS["pytest"],
    deadline: Deadline = Deadline(),  # noqa: B008  (it is immutable)
    units: float = math.inf,
    scoring_s: float = math.inf,
    scored: str = "",
    checking: bool = False,
    report: Report = lambda _: None,
) -> Finished:
    """Minimise the result of a search, add assertions, check the tests and export them.

    Args:
        engine: a search between two generations; its budget is removed.
        names: the fitness functions whose covered targets the suite must keep.
        filing: the file to write; its folder is created if needed. Existing tests are kept. With None nothing is
            written.
        command: the command that repeats the run, for the header of the file.
        dialect: the style of the tests.
        deadline: with little time left, less is minimised and checked less often. Every exported test has
            passed in the order of the file and in reverse; tests that have not by the hard deadline are dropped.
        units: limit of work for minimising and choosing assertions, so that the suite is the same on every machine;
            infinite if the deadline decides.
        scoring_s: seconds for running the mutants against the suite, if `units` is finite.
        scored: a fitness function about mutants that is scored even if the search ended before it ran any mutant.
        checking: leave out tests that check nothing, see `fitgym.suite.idle`.
        report: receives progress.
    """
    engine.budget = None
    counted = not math.isinf(units)
    unfinished: list[str] = []
    # Minimise, observe and choose assertions, each stage within its share of time or work.
    try:
        mutation = Mutation(engine, Allotment(engine, JUDGING_WORK * units))
        shortening = Allotment(engine, SHORTENING_WORK * units)
        report("minimising")
        kept = _minimized(engine, mutation, names, deadline, shortening, report)
        unfinished += _cut_off("minimising", engine, shortening)
        unfinished += _cut_off("keeping while minimising what tests kill", engine, mutation.allotment)[
            : not engine.late
        ]
        report("observing")
        kept, dropped, observed, before = _observed(engine, names, kept, deadline)
        report("choosing assertions")
        mutation.allotment = Allotment(engine, CHOOSING_WORK * units)
        kills = _killed(engine, mutation, kept, observed, before, deadline)
        unfinished += _cut_off("choosing assertions", engine, mutation.allotment)
    finally:
        engine.deadline = None
    late = [
        Dropped(f"a test of {engine.subject.operations[engine.table[testcase[-1]].operation].name}", _UNOBSERVED)
        for testcase in dropped
    ]
    # Build the tests. Leave out idle ones, and ones whose outcome depends on installed packages.
    statements = [engine.table.statements(testcase) for testcase in kept]
    made = finished_tests(statements, observed, engine.subject, before, kills)
    if checking:
        for at, reason in idle(engine, kept, made, observed, before, kills).items():
            if (test := made[at]) is not None:
                late.append(Dropped(test.name, reason))
                made[at] = None
    elsewhere = [test for test in made if test is not None and test.raises in _ELSEWHERE]
    late += [Dropped(test.name, _ELSEWHERE[test.raises]) for test in elsewhere if test.raises is not None]
    tests = arranged([test for test in made if test is not None and test not in elsewhere], engine.subject)
    folder = None if filing is None else filing.path.parent.resolve()
    unbound: frozenset[str] = frozenset()  # names with another meaning in the existing file

    def render(chosen: Sequence[FinishedTest], headed: bool = False) -> str:
        return suite_text(
            chosen,
            engine.subject,
            folder=folder,
            command=command,
            dialect=dialect,
            reserved=unbound,
            headed=headed,
            joining=filing is not None and filing.standing is not None,
        )

    # Join the existing file, if there is one.
    if filing is not None:
        alone = SuiteFile(render(tests))
        tests, unbound = filing.joining(tests, alone), filing.conflicts(alone)
    # Check the file in fresh interpreters, and remove what is not stable.
    until = replace(deadline, soft=deadline.hard) if counted else deadline
    stable = stabilize(tests, render, engine.subject.reference, deadline=until, report=report)
    stable = independent(stable, render, engine.subject.reference, deadline=until)
    if not stable.complete:
        unfinished.append(f"checking: {stable.runs} of {stable.wanted} runs in fresh interpreters, no time for more")
    if stable.weakened:  # names may mention dropped assertions
        new_names = renamed(stable.tests, engine.subject)
        stable = replace(stable, tests=tuple(new_names if filing is None else filing.distinct(new_names)))
    testcases = [engine.table.testcase(test.statements) for test in stable.tests]
    engine.execute(testcases)
    source = render(stable.tests) if stable.tests else ""
    joined = stable.tests
    if dialect.tabular:
        taken = frozenset() if filing is None else filing.names
        joined = joined_if_passing(stable.tests, engine.subject, render, taken=taken, deadline=until)
    written = render(joined, filing is not None and filing.headed) if joined else ""
    if filing is not None:
        filing.write(written)
    # Measure the final file.
    started = time.monotonic()
    report("running mutants")
    end = started + scoring_s if counted else min(deadline.hard, max(deadline.soft, started + SCORING_S))
    scoring = Deadline(end, end)
    patient = counted or math.isinf(deadline.hard)
    likely = {testcase: one.all for testcase, one in zip(kept, kills, strict=True) if one is not None}
    score = mutation_score(engine, stable.tests, source, scoring, twice=patient, name=scored, likely=likely)
    score_s = time.monotonic() - started
    if score is not None and not score.complete:
        unfinished.append("running mutants: stopped by the clock, the mutants that are left count as survivors")
    coverage = engine.coverage_of(testcases)
    if score is not None:
        score = score.renamed({name: test.name for test in joined for name in test.cases.names})
        # Minimising ran only some of the mutants.
        coverage[score.fitness] = (len(score.killed), score.total)
    return Finished(
        stable.tests,
        written,
        filing.path if filing is not None and (source or filing.standing) else None,
        coverage,
        tuple(engine.raised_by(testcases)),
        stable.measured,
        stable.runs,
        (*late, *stable.dropped),
        stable.weakened,
        score,
        score_s,
        tuple(unfinished),
    )


def _cut_off(stage: str, engine: Workbench, *allotments: Allotment) -> list[str]:
    """Return a sentence about a stage if it was cut off, else nothing."""
    if any(one.empty for one in allotments):
        return [f"{stage}: stopped after as much work as its share of the search"]
    return [f"{stage}: stopped by the clock"] if engine.late else []


def _minimized(
    engine: Workbench,
    mutation: Mutation,
    names: Sequence[str],
    deadline: Deadline,
    allotment: Allotment,
    report: Report,
) -> list[TestCase]:
    """Return the best suite as few short test cases, using at most `MINIMIZING` of the time."""
    counted = allotment.counted

    def covered(testcases: Sequence[TestCase]) -> NDArray[np.bool_]:
        if engine.late:
            raise OutOfBudget
        for start in range(0, len(testcases), BATCH):
            with allotment.spend():
                engine.execute(testcases[start : start + BATCH])
            report(f"minimising: {engine.executions - executions:,} executions")
        rows = [engine.covers(name, testcases) & ~engine.granted(name) for name in names if name != deadly]
        return np.concatenate(rows, axis=1) if rows else np.zeros((len(testcases), 0), dtype=bool)

    def outcomes(testcases: Sequence[TestCase]) -> list[tuple[str, int, bool] | None]:
        raised = [engine.trace(testcase).raised for testcase in testcases]
        return [None if one is None else (one.type, one.function, one.counted) for one in raised]

    def seen(testcases: Sequence[TestCase]) -> list[Seen]:
        if engine.late:
            raise OutOfBudget
        with allotment.spend():
            shown = engine.observe(testcases)
        return [
            Seen(_literal_results(one), _iterators(engine, testcase, one))
            for testcase, one in zip(testcases, shown, strict=True)
        ]

    def smaller(
        candidates: Sequence[TestCase], mutants: Set[int] = frozenset(), *, covers: bool = True
    ) -> list[TestCase]:
        in_time = counted or MINIMIZING * deadline.left >= AMPLE
        return minimize(
            candidates,
            covered if covers else lambda testcases: covered(testcases)[:, :0],
            engine.table,
            outcomes=outcomes,
            seen=seen,
            kills=mutation.killed if mutants or (in_time and not deadly) else None,
            likely=mutation.likely,
            mutants=mutants,
            operations=engine.subject.operations,
            classes=engine.subject.classes,
        )

    executions = engine.executions
    deadly = next((name for name in names if engine.function(name).numbers is not None), None)
    engine.deadline = end = deadline.until(1.0 if counted else MINIMIZING)
    candidates = engine.best_suite(names)
    if not deadly:
        return smaller(candidates)
    # Keep killing the mutants that the candidates kill. Test cases that kill all mutants of a minimal set kill the others,
    # too. But a shortened test case may lose some that no other kills; the next rounds are about these.
    engine.spare_mutants()
    candidates = sorted(candidates, key=len)  # the shortest are the first to run on a mutant
    kept: list[TestCase] = []
    try:
        if not counted:
            engine.deadline = deadline.until(MINIMIZING * TRYING)
        kills = mutation.killed([(testcase, None) for testcase in candidates], partial=True)
        engine.deadline = end
        beginnings = _beginnings(engine, candidates, frozenset().union(*kills))
        for (testcase, _), killed in zip(beginnings, mutation.killed(beginnings), strict=True):
            if killed:
                candidates.append(testcase)
                kills.append(killed)
        alive: Set[int] = frozenset().union(*kills)
        for number in range(ROUNDS):
            needed = _minimal([killed & alive for killed in kills])
            killing = [testcase for testcase, killed in zip(candidates, kills, strict=True) if killed & needed]
            found = smaller(candidates if number == 0 else killing, needed, covers=number == 0)
            new = [(testcase, None) for testcase in found if testcase not in kept]
            kept += [testcase for testcase, _ in new]
            alive = alive - frozenset().union(*mutation.killed(new, among=alive, enough=1))
            if not alive:
                break
    except OutOfBudget:
        return kept or candidates
    return kept


def _beginnings(
    engine: Workbench, testcases: Sequence[TestCase], killed: Set[int]
) -> list[tuple[TestCase, Sequence[int]]]:
    """Return parts of test cases that may kill mutants which no test of a whole test case does, with these mutants.

    In the search each result of a test case detects a mutant. A test checks its last statement above all, and only the
    exception if one ends it.
    """
    operations = engine.subject.operations
    found: dict[TestCase, Sequence[int]] = {}
    for testcase in testcases:
        lost = [number for number, impact in engine.trace(testcase).effects if impact == math.inf]
        lost = [number for number in lost if number not in killed]
        for end in range(1, len(testcase) if lost else 0):
            if operations[engine.table[testcase[end - 1]].operation].is_entry_point:
                found.setdefault(testcase[:end], lost)
    return list(found.items())


def _minimal(kills: Sequence[Set[int]]) -> Set[int]:
    """Return a minimal set of mutants, see `fitgym.evolution.trials.minimal`; `kills` has those of each test case."""
    mutants = sorted(frozenset().union(*kills))
    matrix = np.array([[mutant in killed for mutant in mutants] for killed in kills], dtype=bool)
    matrix = matrix.reshape(len(kills), len(mutants))
    return frozenset(mutants[column] for column in np.flatnonzero(minimal(matrix)).tolist())


def _literal_results(seen: Observed) -> dict[int, Expression]:
    """Return the results of statements that have a literal form, by position."""
    return {
        fact.position: fact.expression
        for fact in seen.observations
        if not fact.path
        and fact.kind in ("equal", "is", "approx")
        and not (isinstance(fact.expression, Name) or refs(fact.expression))
    }


def _iterators(engine: Workbench, testcase: TestCase, seen: Observed) -> frozenset[int]:
    """Return positions of results that are iterators.

    The operation must have returned an iterator before, and no other fact about the result may be known.
    """
    known = engine.iterators
    described = {fact.position for fact in seen.observations if not _is_iterator(fact)}
    last = len(testcase) if seen.position < 0 else seen.position
    return frozenset(
        position
        for position, statement in enumerate(engine.table.statements(testcase)[:last])
        if statement.operation in known and position not in described
    )


def _is_iterator(fact: Observation) -> bool:
    """Return whether the fact says that the result is an iterator class of the standard library."""
    name = fact.expression
    return fact.kind == "isinstance" and isinstance(name, Name) and (name.module, name.qualname) in _LAZY


def _observed(
    engine: Workbench, names: Sequence[str], testcases: Sequence[TestCase], deadline: Deadline
) -> tuple[list[TestCase], list[TestCase], list[tuple[Observed, ...]], list[Observed | None]]:
    """Observe the test cases, those that add the most coverage first, until the time is up.

    Returns:
        Four lists: the observed test cases; those that were not observed; at least two observations of each observed
        test case; the observation of each without its last statement. If time runs out, the last list has only None.
    """
    table = engine.table

    def ask(
        testcases: Sequence[TestCase], observed: Sequence[Observed], wanted: Sequence[Sequence[int]]
    ) -> list[Observed]:
        return enriched(testcases, observed, wanted, engine.subject, table, engine.observe)

    engine.deadline = None if math.isinf(deadline.hard) else time.monotonic() + OWNING * deadline.rest
    with contextlib.suppress(OutOfBudget):
        testcases = with_own_environment(engine, testcases)
        testcases = without_unread_clocks(engine, testcases)
    engine.deadline = None if math.isinf(deadline.hard) else time.monotonic() + INSPECTING * deadline.rest
    with contextlib.suppress(OutOfBudget):
        longer = with_inspections(testcases, engine.subject, table, engine.observe)
        engine.execute(longer)
        testcases = list(dict.fromkeys(longer))
    engine.deadline = None if math.isinf(deadline.hard) else time.monotonic() + OBSERVING * deadline.rest
    place = {testcase: at for at, testcase in enumerate(testcases)}
    ordered = _by_gain(engine, names, testcases)
    found: list[tuple[Observed, ...]] = []
    before: list[Observed | None] = []
    wanted: list[list[int]] = []
    with contextlib.suppress(OutOfBudget):
        for start in range(0, len(ordered), CHUNK):
            chunk = ordered[start : start + CHUNK]
            seen = [engine.observe(chunk), engine.observe(chunk)]
            if seen[0] != seen[1]:  # the code is random: two equal observations may be a coincidence
                seen += [engine.observe(chunk) for _ in range(GLANCES)]
            poor = [unknown(table.statements(t), one, engine.subject) for t, one in zip(chunk, seen[0], strict=True)]
            found += [
                tuple(with_class_facts(some)) for some in zip(*(ask(chunk, one, poor) for one in seen), strict=True)
            ]
            wanted += poor
        earlier = [testcase[:-1] for testcase in ordered]
        still = [[one for one in some if one < len(t)] for some, t in zip(wanted, earlier, strict=True)]
        before += ask(earlier, engine.observe(earlier), still)
    before = before or [None] * len(found)
    order = sorted(range(len(found)), key=lambda at: place[ordered[at]])
    late = sorted(ordered[len(found) :], key=place.__getitem__)
    return [ordered[at] for at in order], late, [found[at] for at in order], [before[at] for at in order]


def _by_gain(engine: Workbench, names: Sequence[str], testcases: Sequence[TestCase]) -> list[TestCase]:
    """Return the test cases in greedy order: each adds the most coverage to those before it; ties keep their order."""
    known = [testcase for testcase in testcases if engine.has_trace(testcase)]
    rows = [engine.covers(name, known) & ~engine.granted(name) for name in names] if known else []
    matrix = np.concatenate(rows, axis=1) if rows else np.zeros((len(known), 0), dtype=bool)
    ordered: list[TestCase] = []
    left = list(range(len(known)))
    missing = matrix.any(axis=0)
    while left:
        gains = (matrix[left] & missing).sum(axis=1)
        best = left.pop(int(gains.argmax()))
        missing &= ~matrix[best]
        ordered.append(known[best])
    return ordered + [testcase for testcase in testcases if not engine.has_trace(testcase)]


def _killed(
    engine: Workbench,
    mutation: Mutation,
    testcases: Sequence[TestCase],
    observed: Sequence[Sequence[Observed]],
    before: Sequence[Observed | None],
    deadline: Deadline,
) -> list[KillsOfTest | None]:
    """Return the mutants that each test kills with its candidate assertions, None if there was no time for it."""
    if deadline.left <= 0:
        return [None] * len(testcases)
    engine.deadline = deadline.until(KILLING if not mutation.allotment.counted else 1.0)
    return mutation.matrix(testcases, observed, before)
