"""Minimisation: from a suite to few short tests that still cover every target.

One target after the other takes its shortest test, which loses every statement that the target does not need, as in
EvoSuite; what the shortened test covers besides counts too. A second pass removes whole tests that the others make
superfluous. A third makes the arguments of what is left plainer.

The decisions are those of one target at a time, but several targets are worked on in step so that their candidates
are executed in one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fitgym.errors import OutOfTime
from fitgym.suite.plainness import plainer, plainness
from fitgym.testcase.statement import Statement, StatementTable, TestCase

__all__ = ["Covered", "minimize", "needed", "without"]

Covered = Callable[[Sequence[TestCase]], NDArray[np.bool_]]
"""Runs test cases and says which targets each covers: booleans of shape `(n_testcases, n_targets)`.

Columns of targets that are discovered on the way may be appended; they are not looked at."""

Returns = Callable[[Sequence[TestCase]], NDArray[np.bool_]]
"""Says which test cases end without an exception: booleans of shape `(n_testcases,)`."""

Steps = Generator[list[TestCase], NDArray[np.bool_], None]
Change = TypeVar("Change")

WAVE = 16  # targets worked on at once; changes how many executions share a batch, never the result


def minimize(
    candidates: Iterable[TestCase],
    covered: Covered,
    table: StatementTable,
    *,
    returns: Returns | None = None,
    wave: int = WAVE,
) -> list[TestCase]:
    """Few short test cases that together cover every target that the candidates cover.

    1. Targets come in the order of their columns; one that is covered by the tests chosen so far is skipped.
    2. The shortest candidate that covers the target is copied (one that returns before one that raises; of equally
       short ones that which covers more targets, then the first) and statements are deleted from its end, with what depends on them, as long as the target
       stays covered. In the end no single statement can be deleted.
    3. Redundant tests go: a greedy set cover, then every test without which the rest covers as much.
    4. Every target belongs to the first test that covers it. As long as a test keeps its targets, its keyword arguments
       go, its containers lose elements and its literals become plainer; once more redundant tests go.

    Args:
        candidates: the suite, supplemented from the archive.
        covered: judges test cases; must be a function of the test case alone. Its own cache decides what an
            execution costs; the same test case may be asked for again. Once it raises `OutOfTime` nothing is executed
            any more: tests being worked on stay as far as they got, the remaining targets take their shortest candidate
            whole, and the result covers the same. If it does so at once, the candidates are the result.
        table: where the statements of the candidates are; the shortened statements are added to it.
        returns: tells test cases that end without an exception, so that they are preferred and stay so: a test that
            returns can check a value. None treats all alike.
        wave: how many targets are worked on at once.

    Returns:
        Test cases in the order of the first target that they were chosen for; every one covers a target that no other
        does. Candidates without any target are dropped.

    References:
        EvoSuite 1.0.7, minimisation of a suite with one pass per goal, collateral coverage skipped.
        Differs: tests that return are preferred; after the set cover, tests that are superfluous together with later ones are found too; out of time
        the result is kept as far as it is instead of rolling back to the whole suite; arguments are made plainer.
    """
    tests = list(dict.fromkeys(testcase for testcase in candidates if testcase))
    if not tests:
        return []

    try:
        first = covered(tests)
    except OutOfTime:
        return tests
    targets = first.shape[1]
    wanted: NDArray[np.bool_] = np.logical_or.reduce(first, axis=0)

    def judge(testcases: Sequence[TestCase], columns: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """What is covered, and in the last column whether the test case returns."""
        columns = covered(testcases) if columns is None else columns
        last = np.zeros(len(testcases), dtype=bool) if returns is None else returns(testcases)
        return np.column_stack([columns[:, :targets], last])

    matrix = judge(tests, first)
    order = sorted(range(len(tests)), key=lambda row: (not matrix[row, -1], len(tests[row]), -matrix[row].sum(), row))
    source = {int(t): next(row for row in order if matrix[row, t]) for t in np.flatnonzero(wanted)}

    chosen: list[_Reduction] = []
    done = np.zeros(targets, dtype=bool)
    pending = list(source)
    while pending := [target for target in pending if not done[target]]:
        now, pending = pending[:wave], pending[wave:]
        active = [_Reduction(tests[source[t]], [t], matrix[source[t]], table) for t in now]
        _in_step([one.shorter() for one in active], judge)
        for target, one in zip(now, active, strict=True):
            if not done[target]:
                chosen.append(one)
                done |= one.row[:targets]

    kept: list[_Reduction] = []
    for one in _essential(chosen, wanted):
        mine = np.flatnonzero(one.row[:targets] & wanted & ~_union(kept, targets))
        kept.append(_Reduction(one.best, mine.tolist(), one.row, table))
    for at in range(0, len(kept), wave):
        _in_step([one.plainer() for one in kept[at : at + wave]], judge)
    return [one.best for one in _essential(kept, wanted)]


def needed(statements: Sequence[Statement], position: int) -> list[int]:
    """Positions of the statement at `position` and of all it needs directly or indirectly, in order."""
    keep = {position}
    for index in range(position, -1, -1):
        if index in keep:
            keep.update(statements[index].refs)
    return sorted(keep)


def without(statements: Sequence[Statement], position: int) -> list[int]:
    """Positions that are left when the statement at `position` goes and takes along all that need it."""
    gone = {position}
    for index in range(position + 1, len(statements)):
        if any(used in gone for used in statements[index].refs):
            gone.add(index)
    return [index for index in range(len(statements)) if index not in gone]


class _Reduction:
    """The reduction of one test case that has to keep some targets, and to return if it does.

    Attributes:
        best: the smallest test case known to do so; valid at any moment.
        row: what it covers, and whether it returns.
    """

    def __init__(
        self, testcase: TestCase, targets: Sequence[int], row: NDArray[np.bool_], table: StatementTable
    ) -> None:
        self.best = testcase
        self.row = row
        self._targets = [*targets, -1] if row[-1] else list(targets)
        self._table = table

    def shorter(self) -> Steps:
        """Propose batches of test cases with fewer statements, receive what they cover."""
        statements = self._table.statements(self.best)
        if len(statements) < 2:
            return
        # The shortest prefix that covers the target, and each statement with nothing but what it needs: one of these
        # is usually the answer, so that few deletions remain.
        prefixes = [list(range(size)) for size in range(1, len(statements))]
        slices = [needed(statements, position) for position in range(len(statements))]
        slices = [keep for keep in slices if len(keep) < len(statements)]
        yield from self._first(self._kept(keep) for keep in sorted(prefixes + slices, key=len))
        while len(self.best) > 1:
            statements = self._table.statements(self.best)
            singles = [without(statements, position) for position in reversed(range(len(statements)))]
            removable = yield from self._covering([keep for keep in singles if keep], self._kept)
            if not removable:
                return
            # All that can go alone often can go together.
            together = sorted(set.intersection(*(set(keep) for keep in removable)))
            if len(removable) == 1 or not (together and (yield from self._first([self._kept(together)]))):
                yield from self._first([self._kept(removable[0])])

    def plainer(self) -> Steps:
        """Propose batches of test cases with plainer arguments, receive what they cover."""
        while True:
            statements = self._table.statements(self.best)
            changes = [
                (position, statement)
                for position, old in enumerate(statements)
                for statement in plainer(old)
                if plainness(statement) < plainness(old)
            ]
            possible = yield from self._covering(changes, lambda change: self._changed([change]))
            if not possible:
                return
            # The plainest version of each statement, all at once; else one after the other.
            plainest: dict[int, tuple[int, Statement]] = {}
            for change in possible:
                known = plainest.get(change[0])
                if known is None or plainness(change[1]) < plainness(known[1]):
                    plainest[change[0]] = change
            together = list(plainest.values())
            if len(together) == 1 or not (yield from self._first([self._changed(together)])):
                yield from self._first([self._changed(together[:1])])

    def _first(self, proposals: Iterable[TestCase]) -> Generator[list[TestCase], NDArray[np.bool_], bool]:
        """Take the first of the test cases that covers the targets; False if none does."""
        testcases = list(proposals)
        rows = yield testcases
        for testcase, row in zip(testcases, rows, strict=True):
            if row[self._targets].all():
                self.best, self.row = testcase, row
                return True
        return False

    def _covering(
        self, changes: list[Change], made: Callable[[Change], TestCase]
    ) -> Generator[list[TestCase], NDArray[np.bool_], list[Change]]:
        """Those of the changes after which the targets are covered."""
        if not changes:
            return []
        rows = yield [made(change) for change in changes]
        return [change for change, row in zip(changes, rows, strict=True) if row[self._targets].all()]

    def _kept(self, keep: list[int]) -> TestCase:
        """The best test case reduced to the positions `keep`."""
        statements = self._table.statements(self.best)
        position = {old: new for new, old in enumerate(keep)}
        return self._table.testcase(statements[old].moved(position) for old in keep)

    def _changed(self, changes: Iterable[tuple[int, Statement]]) -> TestCase:
        """The best test case with some statements replaced."""
        statements = self._table.statements(self.best)
        for position, statement in changes:
            statements[position] = statement
        return self._table.testcase(statements)


def _in_step(active: Iterable[Steps], judge: Covered) -> None:
    """Run reductions to their end or until time is up, one shared batch per step."""
    waiting: list[tuple[Steps, list[TestCase]]] = []
    for steps in active:
        proposals = next(steps, None)
        if proposals is not None:
            waiting.append((steps, proposals))
    while waiting:
        batch = list(dict.fromkeys(testcase for _, proposals in waiting for testcase in proposals))
        index = {testcase: row for row, testcase in enumerate(batch)}
        try:
            matrix = judge(batch)
        except OutOfTime:
            return
        still: list[tuple[Steps, list[TestCase]]] = []
        for steps, proposals in waiting:
            try:
                still.append((steps, steps.send(matrix[[index[testcase] for testcase in proposals]])))
            except StopIteration:
                continue
        waiting = still


def _union(reductions: Iterable[_Reduction], targets: int) -> NDArray[np.bool_]:
    """What they cover together."""
    union = np.zeros(targets, dtype=bool)
    for one in reductions:
        union |= one.row[:targets]
    return union


def _essential(reductions: Sequence[_Reduction], wanted: NDArray[np.bool_]) -> list[_Reduction]:
    """Those, in their order, that together cover all that is wanted, none of them superfluous.

    Greedy: the one with the most new targets, of these the shortest, of these the first. Then backwards: of those
    taken, the longest first, every one whose targets are all covered by others goes.
    """
    matrix = np.array([one.row[:-1] & wanted for one in reductions], dtype=bool).reshape(len(reductions), wanted.size)
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
