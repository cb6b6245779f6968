"""Minimisation: from a suite to few short tests that still cover every target.

One target after the other takes its shortest test and loses every statement it does not need, as in EvoSuite; what
the shortened test covers besides counts too. A second pass removes whole tests that the others make superfluous.

The decisions are those of one target at a time, but several targets are worked on in step so that their candidates
are executed in one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from fitgym.testcase.statement import Statement, StatementTable, TestCase

__all__ = ["Covered", "minimize", "needed", "without"]

Covered = Callable[[Sequence[TestCase]], NDArray[np.bool_]]
"""Runs test cases and says which targets each covers: booleans of shape `(n_testcases, n_targets)`."""

Shrinking = Generator[list[TestCase], NDArray[np.bool_], None]

WAVE = 16  # targets worked on at once; changes how many executions share a batch, never the result


def minimize(
    candidates: Iterable[TestCase],
    covered: Covered,
    table: StatementTable,
    *,
    stop: Callable[[], bool] = lambda: False,
    wave: int = WAVE,
) -> list[TestCase]:
    """Few short test cases that together cover every target that the candidates cover.

    1. Targets come in the order of their columns; one that is covered by the tests chosen so far is skipped.
    2. The shortest candidate that covers the target is copied (of equally short ones that which covers more targets,
       then the first) and statements are deleted from its end, with what depends on them, as long as the target
       stays covered. In the end no single statement can be deleted.
    3. Redundant tests go: a greedy set cover, then every test without which the rest covers as much.

    Args:
        candidates: the suite, supplemented from the archive.
        covered: judges test cases; must be a function of the test case alone. Its own cache decides what an
            execution costs; the same test case may be asked for again.
        table: where the statements of the candidates are; the shortened statements are added to it.
        stop: asked before every batch. Once it is true nothing is executed any more: tests being shortened stay as
            far as they got, the remaining targets take their shortest candidate whole. The result covers the same.
        wave: how many targets are worked on at once.

    Returns:
        Test cases in the order of the first target that they were chosen for; every one covers a target that no other
        does. Candidates without any target are dropped.

    References:
        EvoSuite 1.0.7, minimisation of a suite with one pass per goal, collateral coverage skipped.
        Differs: after the set cover, tests that are superfluous together with later ones are found too; out of time
        the result is kept as far as it is instead of rolling back to the whole suite.
    """
    tests = list(dict.fromkeys(testcase for testcase in candidates if testcase))
    if not tests or stop():
        matrix = covered(tests) if tests else np.zeros((0, 0), dtype=bool)
        return [tests[row] for row in _essential(matrix, [len(t) for t in tests])]
    matrix = covered(tests)
    order = sorted(range(len(tests)), key=lambda row: (len(tests[row]), -int(matrix[row].sum()), row))
    shortest = {  # target -> its test
        target: tests[next(row for row in order if matrix[row, target])]
        for target in range(matrix.shape[1])
        if matrix[:, target].any()
    }
    chosen: list[TestCase] = []
    rows: list[NDArray[np.bool_]] = []
    done = np.zeros(matrix.shape[1], dtype=bool)
    pending = list(shortest)
    whole = {testcase: matrix[row] for row, testcase in enumerate(tests)}
    while pending := [target for target in pending if not done[target]]:
        now, pending = pending[:wave], pending[wave:]
        shrunk = _in_step([_Shrinking(shortest[t], t, whole[shortest[t]], table) for t in now], covered, stop)
        for target, (testcase, row) in zip(now, shrunk, strict=True):
            if not done[target]:
                chosen.append(testcase)
                rows.append(row)
                done |= row
    return [chosen[row] for row in _essential(np.array(rows), [len(testcase) for testcase in chosen])]


def needed(statements: Sequence[Statement], position: int) -> list[int]:
    """Positions of the statement at `position` and of all it needs directly or indirectly, in order."""
    keep = {position}
    for index in range(position, -1, -1):
        if index in keep:
            keep.update(statements[index].refs())
    return sorted(keep)


def without(statements: Sequence[Statement], position: int) -> list[int]:
    """Positions that are left when the statement at `position` goes and takes along all that need it."""
    gone = {position}
    for index in range(position + 1, len(statements)):
        if any(used in gone for used in statements[index].refs()):
            gone.add(index)
    return [index for index in range(len(statements)) if index not in gone]


class _Shrinking:
    """The shortening of one test case for one target.

    Attributes:
        best: the shortest test case known to cover the target; valid at any moment.
        row: what it covers.
    """

    def __init__(self, testcase: TestCase, target: int, row: NDArray[np.bool_], table: StatementTable) -> None:
        self.best = testcase
        self.row = row
        self._target = target
        self._table = table
        self.proposals = self._run()

    def _run(self) -> Shrinking:
        """Propose batches of shorter test cases, receive what they cover."""
        statements = self._table.statements(self.best)
        if len(statements) < 2:
            return
        # The shortest prefix that covers the target, and each statement with nothing but what it needs: one of these
        # is usually the answer, so that few deletions remain.
        prefixes = [list(range(size)) for size in range(1, len(statements))]
        slices = [needed(statements, position) for position in range(len(statements))]
        yield from self._shortest(sorted(prefixes + slices, key=len))
        while len(self.best) > 1:
            statements = self._table.statements(self.best)
            singles = [without(statements, position) for position in reversed(range(len(statements)))]
            removable = yield from self._covering([keep for keep in singles if keep])
            if not removable:
                return
            # All that can go alone often can go together.
            together = sorted(set.intersection(*(set(keep) for keep in removable)))
            if len(removable) == 1 or not (together and (yield from self._shortest([together]))):
                yield from self._shortest(removable[:1])

    def _shortest(self, proposals: list[list[int]]) -> Generator[list[TestCase], NDArray[np.bool_], bool]:
        """Take the first of the proposals (positions to keep) that covers the target; False if none does."""
        testcases = [self._kept(keep) for keep in proposals]
        rows = yield testcases
        for testcase, row in zip(testcases, rows, strict=True):
            if row[self._target] and len(testcase) < len(self.best):
                self.best, self.row = testcase, row
                return True
        return False

    def _covering(self, proposals: list[list[int]]) -> Generator[list[TestCase], NDArray[np.bool_], list[list[int]]]:
        """Those of the proposals that cover the target."""
        rows = yield [self._kept(keep) for keep in proposals]
        return [keep for keep, row in zip(proposals, rows, strict=True) if row[self._target]]

    def _kept(self, keep: list[int]) -> TestCase:
        """The best test case reduced to the positions `keep`."""
        statements = self._table.statements(self.best)
        position = {old: new for new, old in enumerate(keep)}
        return self._table.testcase(statements[old].moved(position) for old in keep)


def _in_step(
    active: list[_Shrinking], covered: Covered, stop: Callable[[], bool]
) -> list[tuple[TestCase, NDArray[np.bool_]]]:
    """Run all shortenings to their end, one shared batch per step; what each has got to, in the order given."""
    waiting: list[tuple[_Shrinking, list[TestCase]]] = []
    for shrinking in active:
        proposals = next(shrinking.proposals, None)
        if proposals is not None:
            waiting.append((shrinking, proposals))
    while waiting and not stop():
        batch = list(dict.fromkeys(testcase for _, proposals in waiting for testcase in proposals))
        index = {testcase: row for row, testcase in enumerate(batch)}
        matrix = covered(batch)
        still: list[tuple[_Shrinking, list[TestCase]]] = []
        for shrinking, proposals in waiting:
            try:
                asked = shrinking.proposals.send(matrix[[index[testcase] for testcase in proposals]])
            except StopIteration:
                continue
            still.append((shrinking, asked))
        waiting = still
    return [(shrinking.best, shrinking.row) for shrinking in active]


def _essential(matrix: NDArray[np.bool_], lengths: Sequence[int]) -> list[int]:
    """Rows, ascending, that together cover all that any row covers, none of them superfluous.

    Greedy: the row with the most new columns, of these the shortest, of these the first. Then backwards: of the rows
    taken, the longest first, every row whose columns are all covered by others goes.
    """
    if not matrix.size:
        return []
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
    return sorted(taken)
