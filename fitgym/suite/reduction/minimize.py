"""Minimisation: reduce a suite to few short tests that still cover every target.

For each target in turn, the shortest test that covers it is chosen, and statements that the target does not need are
deleted, as in EvoSuite. Other targets that the shortened test covers count as covered too. A second pass removes
redundant tests. A third pass simplifies the arguments of the remaining tests.

The result is the same as that of one target at a time. Several targets are processed in parallel, so that their
candidates are executed in one batch.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from fitgym.errors import OutOfBudget
from fitgym.subject.subject import Class, Operation
from fitgym.suite.reduction.dependencies import connected
from fitgym.suite.reduction.makers import Means, makers_of
from fitgym.suite.reduction.reduction import Proposals, Reduction, Row, Seen, Steps
from fitgym.testcase.statement import StatementTable, TestCase

__all__ = ["Covered", "Kills", "Likely", "Outcomes", "minimize"]

Covered = Callable[[Sequence[TestCase]], NDArray[np.bool_]]
"""Runs test cases and returns the targets that each covers: booleans of shape `(n_testcases, n_targets)`.

Columns of targets discovered in the meantime may be appended; they are ignored.
"""

Outcomes = Callable[[Sequence[TestCase]], Sequence[Hashable]]
"""Returns the outcome of test cases that were run: None if they return, else a value that identifies the exception."""


Kills = Callable[[Sequence[tuple[TestCase, Sequence[int] | None]]], Sequence[frozenset[int]]]
"""Runs test cases on mutants and returns the mutants that each kills.

Each test case comes with the numbers of the mutants; None means all mutants that it may kill.
"""


Likely = Callable[[Sequence[TestCase], int], Sequence[Sequence[int] | None]]
"""Returns the mutants that each test case probably kills and few others do, at most as many as the second argument.

None means that nothing is known.
"""

MUTANTS = 12  # maximal number of mutants that a test must keep killing; each is run with every proposal
TRIED = 16  # maximal number of mutants on which a test is run to find them
WAVE = 16  # targets processed in parallel; changes the size of batches, never the result

_NONE: frozenset[int] = frozenset()


def minimize(
    candidates: Iterable[TestCase],
    covered: Covered,
    table: StatementTable,
    *,
    outcomes: Outcomes | None = None,
    seen: Callable[[Sequence[TestCase]], Sequence[Seen]] | None = None,
    kills: Kills | None = None,
    likely: Likely | None = None,
    mutants: Set[int] = frozenset(),
    operations: Sequence[Operation] = (),
    classes: Mapping[str, Class] = MappingProxyType({}),
    wave: int = WAVE,
) -> list[TestCase]:
    """Return few short test cases that together cover every target that the candidates cover.

    1. Targets are processed in the order of their columns; targets covered by the tests chosen so far are skipped. The
       `mutants` follow as further targets, which are covered by killing them.
    2. The shortest candidate that covers the target is copied. Candidates that return are preferred to those that
       raise; among equally short ones, the one that covers more targets, then the first. Statements are deleted from
       its end, together with their dependents, as long as the target stays covered. In the end no single statement can
       be deleted.
    3. Redundant tests are removed: by a greedy set cover, then by dropping every test without which the rest covers as
       much.
    4. Every target is assigned to the first test that covers it, preferably one that returns. A test whose parts share no
       result is split. Then tests are simplified as long as they cover their targets. Results of earlier statements are
       replaced by literals, so that these statements can be deleted. An object made from another one is replaced by that
       one, or by the simplest object of its class. Arguments are left out, containers lose elements, literals become
       shorter and rounder. What has come apart is split, and redundant tests are removed again.

    If `kills` is given without `mutants`, a test that returns must also keep killing some mutants in step 4.

    Args:
        candidates: the suite, supplemented from the archive.
        covered: returns the targets of test cases; must be a function of the test case alone. The same test case may be
            passed again; a cache in `covered` avoids repeated executions. After it raises `OutOfBudget`, nothing is
            executed any more: tests in progress keep their current form, the remaining targets use their shortest
            candidate unchanged, and the result still covers every target. If it raises on the first call, the
            candidates are returned.
        table: contains the statements of the candidates; shortened statements are added to it.
        outcomes: returns the outcomes of test cases. Tests that return are preferred, because they can check a value,
            and must keep returning. A test that raises must raise the same exception or return. With None, outcomes are
            ignored.
        seen: returns facts about the results of test cases; None if there are none. May raise `OutOfBudget`.
        kills: returns the mutants that test cases kill. A test that returns must keep killing the mutants that it kills
            before its arguments are simplified and that no earlier test kills, at most `MUTANTS` of them. With None,
            mutants are ignored. May raise `OutOfBudget`.
        likely: returns the mutants on which to run the tests to find these. With None, they are run on all.
        mutants: the mutants that the result must kill if a candidate does; needs `kills`.
        operations: of the subject, by id; simplified arguments then fit the annotations.
        classes: of the subject, by name: which class can take the place of another.
        wave: number of targets processed in parallel.

    Returns:
        Test cases in the order of the first target that they were chosen for. Every one covers a target that no other
        covers, or kills a mutant that no other kills. Candidates without targets are dropped.

    References:
        EvoSuite 1.0.7, minimisation of a suite with one pass per goal, collateral coverage skipped.
        Differs: tests that return are preferred; after the set cover, tests made redundant by later ones are also
            removed; when the budget runs out, the current result is kept instead of rolling back to the whole suite;
            arguments are simplified.
    """
    tests = list(dict.fromkeys(testcase for testcase in candidates if testcase))
    if not tests:
        return []

    try:
        first = covered(tests)
        killed = kills([(test, sorted(mutants)) for test in tests]) if kills and mutants else [_NONE] * len(tests)
    except OutOfBudget:
        return tests
    targets = first.shape[1]
    wanted: NDArray[np.bool_] = np.logical_or.reduce(first, axis=0)

    def judge(testcases: Sequence[TestCase], columns: NDArray[np.bool_] | None = None) -> list[Row]:
        """Return the coverage and the outcome of test cases."""
        columns = covered(testcases) if columns is None else columns
        ended = [None] * len(testcases) if outcomes is None else outcomes(testcases)
        return [Row(covers, outcome) for covers, outcome in zip(columns[:, :targets], ended, strict=True)]

    # Shorten the shortest candidate of each goal, a target or a mutant; candidates that return are preferred.
    rows = [row._replace(kills=some) for row, some in zip(judge(tests, first), killed, strict=True)]
    order = sorted(
        range(len(tests)),
        key=lambda at: (rows[at].outcome is not None, len(tests[at]), -first[at].sum() - len(killed[at]), at),
    )
    means = Means(table)
    chosen: list[Reduction] = []
    pending: list[tuple[list[int], frozenset[int]]] = [([target], _NONE) for target in np.flatnonzero(wanted).tolist()]
    pending += [([], frozenset({mutant})) for mutant in sorted(frozenset().union(*killed))]
    done = np.zeros(targets, dtype=bool)
    dead: set[int] = set()
    while pending := [goal for goal in pending if not (done[goal[0]].all() and goal[1] <= dead)]:
        now, pending = pending[:wave], pending[wave:]
        active = []
        for goal in now:
            at = next(at for at in order if rows[at].covers[goal[0]].all() and goal[1] <= rows[at].kills)
            active.append(Reduction(tests[at], goal[0], rows[at], means))
            active[-1].mutants = goal[1]
        _run_in_lockstep([(one, one.shorter()) for one in active], judge, kills, mutants)
        _add_all_kills(active, kills, mutants)
        for goal, one in zip(now, active, strict=True):
            if not (done[goal[0]].all() and goal[1] <= dead):
                chosen.append(one)
                one.mutants = one.row.kills
                done |= one.row.covers
                dead |= one.row.kills

    # Drop redundant tests, and assign each target and mutant to the first test that covers or kills it. Tests that return
    # come first: a test that raises then has only the arguments that the exception needs.
    essential = _essential(chosen, wanted)
    means = Means(table, operations, classes)
    makers = makers_of((statement for one in tests for statement in table.statements(one)), means)
    means = means._replace(makers=makers)
    kept = [Reduction(one.best, [], one.row, means) for one in essential]
    missing, taken = wanted.copy(), _NONE
    for one in sorted(kept, key=lambda one: one.row.outcome is not None):
        one.targets = np.flatnonzero(one.row.covers & missing).tolist()
        one.mutants = one.row.kills - taken
        missing &= ~one.row.covers
        taken |= one.mutants
    # Split independent parts and simplify arguments. Split what has come apart then, and simplify the new parts.
    if not mutants:
        _assign_mutants(kept, kills, likely)
    kept = _split(kept, judge, kills, table)
    known = _known([one.best for one in kept], seen)
    wide = 2 * wave  # larger batches, because most of the time of a step is not spent on its test cases

    def run(steps: Sequence[tuple[Reduction, Steps]]) -> None:
        for at in range(0, len(steps), wide):
            _run_in_lockstep(steps[at : at + wide], judge, kills, mutants)

    # All are tidied first, because time may run out. Then the longest come first, because they are the hardest to read.
    # The result does not depend on the order.
    run([(one, one.tidied(known[one.best])) for one in kept])
    heavy = sorted(kept, key=lambda one: -sum(map(means.costs, table.statements(one.best))))
    run([(one, one.plainer()) for one in heavy])
    parts = _split(kept, judge, kills, table)
    new = [one for one in parts if one not in kept]
    run([(one, one.tidied(Seen())) for one in new])
    run([(one, one.plainer()) for one in new])
    return [one.best for one in _essential(parts, wanted)]


def _add_all_kills(reductions: Sequence[Reduction], kills: Kills | None, mutants: Set[int]) -> None:
    """Find out which of the mutants the tests kill; without time, only those are known that they had to kill."""
    if kills is not None and mutants:
        with contextlib.suppress(OutOfBudget):
            found = kills([(one.best, sorted(mutants)) for one in reductions])
            for one, killed in zip(reductions, found, strict=True):
                one.row = one.row._replace(kills=killed | one.mutants)


def _assign_mutants(reductions: Sequence[Reduction], kills: Kills | None, likely: Likely | None) -> None:
    """Assign mutants that returning tests kill to the first of these tests, at most `MUTANTS` to each.

    Mutants that the fewest tests kill are preferred: a mutant that many tests kill will probably die whatever the
    arguments are. Running all tests on all mutants would leave no time for the arguments.
    """
    returning = [one for one in reductions if one.row.outcome is None]
    if kills is None or not returning:
        return
    with contextlib.suppress(OutOfBudget):
        taken: set[int] = set()
        tests = [one.best for one in returning]
        asked = [None] * len(tests) if likely is None else likely(tests, TRIED)
        every = kills(list(zip(tests, asked, strict=True)))
        times = Counter(mutant for killed in every for mutant in killed)
        for one, killed in zip(returning, every, strict=True):
            one.mutants = frozenset(sorted(killed - taken, key=lambda mutant: (times[mutant], mutant))[:MUTANTS])
            one.row = one.row._replace(kills=killed)
            taken |= killed


def _known(
    testcases: Sequence[TestCase], seen: Callable[[Sequence[TestCase]], Sequence[Seen]] | None
) -> Mapping[TestCase, Seen]:
    """Return facts about the results of the test cases, empty if there is no time."""
    found: Sequence[Seen] = [Seen()] * len(testcases)
    if seen is not None and testcases:
        with contextlib.suppress(OutOfBudget):
            found = seen(testcases)
    return dict(zip(testcases, found, strict=True))


def _split(
    reductions: Sequence[Reduction],
    judge: Callable[[Sequence[TestCase]], list[Row]],
    kills: Kills | None,
    table: StatementTable,
) -> list[Reduction]:
    """Split each reduction into independent parts, if the parts together cover and kill what the whole must."""
    parts = {one.best: [one.kept(part) for part in connected(table.statements(one.best))] for one in reductions}
    asked = {part: sorted(one.mutants) for one in reductions if len(parts[one.best]) > 1 for part in parts[one.best]}
    pending = list(asked)
    try:
        rows = dict(zip(pending, judge(pending), strict=True)) if pending else {}
        if kills is not None and any(asked.values()):
            killed = kills([(part, asked[part]) for part in pending])
            rows = {part: rows[part]._replace(kills=some) for part, some in zip(pending, killed, strict=True)}
    except OutOfBudget:
        return list(reductions)
    result: list[Reduction] = []
    for one in reductions:
        made: list[Reduction] = []
        missing, alive = set(one.targets), set(one.mutants)
        for part in parts[one.best] if len(parts[one.best]) > 1 else ():
            mine = [target for target in one.targets if target in missing and rows[part].covers[target]]
            deadly = rows[part].kills & alive
            if (mine or deadly) and rows[part].outcome in (None, one.row.outcome):
                made.append(Reduction(part, mine, rows[part], one.means))
                made[-1].mutants = deadly
                missing -= set(mine)
                alive -= deadly
        result += [one] if missing or alive or not made else made
    return result


def _run_in_lockstep(
    active: Iterable[tuple[Reduction, Steps]],
    judge: Callable[[Sequence[TestCase]], list[Row]],
    kills: Kills | None,
    mutants: Set[int],
) -> None:
    """Run reductions to their end or until the budget runs out, with one shared batch per step.

    If there is no time for mutants, tests only keep their coverage from then on, unless `mutants` must be killed.
    """
    waiting: list[tuple[Reduction, Steps, Proposals]] = []
    for one, steps in active:
        proposals = next(steps, None)
        if proposals is not None:
            waiting.append((one, steps, proposals))
    while waiting:
        batch = list(dict.fromkeys(testcase for _, _, proposals in waiting for testcase in proposals.testcases))
        try:
            known = dict(zip(batch, judge(batch), strict=True))
            rows = [[known[testcase] for testcase in proposals.testcases] for _, _, proposals in waiting]
        except OutOfBudget:
            return
        if kills is not None:
            try:
                _add_kills(waiting, rows, kills)
            except OutOfBudget:
                if mutants:
                    return
                for one, _, _ in waiting:
                    one.mutants = _NONE
        still: list[tuple[Reduction, Steps, Proposals]] = []
        for (one, steps, _), some in zip(waiting, rows, strict=True):
            try:
                still.append((one, steps, steps.send(some)))
            except StopIteration:
                continue
        waiting = still


def _add_kills(waiting: Sequence[tuple[Reduction, Steps, Proposals]], rows: list[list[Row]], kills: Kills) -> None:
    """Run proposals that keep targets and outcome on the mutants they must kill, and add the kills to the rows."""
    asked: list[tuple[TestCase, Sequence[int]]] = []
    places: list[tuple[int, int]] = []
    for index, (one, _, proposals) in enumerate(waiting):
        for at, testcase in enumerate(proposals.testcases if proposals.on_mutants else ()):
            if one.covers(rows[index][at]):
                asked.append((testcase, sorted(one.mutants)))
                places.append((index, at))
    for (index, at), killed in zip(places, kills(asked) if asked else (), strict=True):
        rows[index][at] = rows[index][at]._replace(kills=killed)


def _essential(reductions: Sequence[Reduction], wanted: NDArray[np.bool_]) -> list[Reduction]:
    """Return reductions, in order, that cover all `wanted` targets and kill their mutants, without redundant ones.

    Greedy set cover: each step takes the reduction with the most new targets; ties go to the shortest, then to the
    first. Afterwards, starting with the longest, every reduction is removed whose targets are all covered by others.
    """
    mutants = sorted({mutant for one in reductions for mutant in one.mutants})
    matrix = np.array(
        [[*(one.row.covers & wanted), *(mutant in one.row.kills for mutant in mutants)] for one in reductions],
        dtype=bool,
    ).reshape(len(reductions), wanted.size + len(mutants))
    lengths = [len(one.best) for one in reductions]
    taken: list[int] = []
    open_ = matrix.any(axis=0)
    while open_.any():
        gains = (matrix & open_).sum(axis=1)
        best = min(range(len(lengths)), key=lambda row: (-int(gains[row]), lengths[row], row))
        taken.append(best)
        open_ &= ~matrix[best]
    times = matrix[taken].sum(axis=0)
    for row in sorted(taken, key=lambda row: (-lengths[row], -row)):
        if not (matrix[row] & (times == 1)).any():
            taken.remove(row)
            times -= matrix[row]
    return [reductions[row] for row in sorted(taken)]
