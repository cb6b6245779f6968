"""Minimisation: from a suite to few short tests that still cover every target.

One target after the other takes its shortest test, which loses every statement that the target does not need, as in
EvoSuite; what the shortened test covers besides counts too. A second pass removes whole tests that the others make
superfluous. A third makes the arguments of what is left plainer.

The decisions are those of one target at a time, but several targets are worked on in step so that their candidates
are executed in one batch.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Container, Generator, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fitgym.errors import OutOfBudget
from fitgym.subject.subject import Operation
from fitgym.suite.reduction.dependencies import connected, needed, without
from fitgym.suite.reduction.makers import Means, makers_of
from fitgym.suite.reduction.simplification import Change, arguments, changed, plainer
from fitgym.testcase.expression import Expression, Ref
from fitgym.testcase.statement import StatementTable, TestCase

__all__ = ["Covered", "Endings", "Kills", "Seen", "minimize"]

Covered = Callable[[Sequence[TestCase]], NDArray[np.bool_]]
"""Runs test cases and says which targets each covers: booleans of shape `(n_testcases, n_targets)`.

Columns of targets that are discovered on the way may be appended; they are not looked at."""

Endings = Callable[[Sequence[TestCase]], Sequence[Hashable]]
"""Says how test cases end that were run: None if they return, else what tells one exception from another."""


class Seen(NamedTuple):
    """What is known of the results of a test case.

    Attributes:
        written: positions of statements whose results can be written down, and how.
        iterators: positions of statements whose results are iterators.
    """

    written: Mapping[int, Expression] = {}
    iterators: Container[int] = ()


Kills = Callable[[Sequence[tuple[TestCase, Sequence[int] | None]]], Sequence[frozenset[int]]]
"""Runs test cases on mutants of the given numbers, on all that may matter where there is None, and says which of them
each kills."""

Steps = Generator[list[TestCase], list["_Row"], None]
Made = TypeVar("Made")

MUTANTS = 12  # that a test has to go on killing at most; each is run with everything that is tried
WAVE = 16  # targets worked on at once; changes how many executions share a batch, never the result


def minimize(
    candidates: Iterable[TestCase],
    covered: Covered,
    table: StatementTable,
    *,
    endings: Endings | None = None,
    seen: Callable[[Sequence[TestCase]], Sequence[Seen]] | None = None,
    kills: Kills | None = None,
    operations: Sequence[Operation] = (),
    wave: int = WAVE,
) -> list[TestCase]:
    """Few short test cases that together cover every target that the candidates cover.

    1. Targets come in the order of their columns; one that is covered by the tests chosen so far is skipped.
    2. The shortest candidate that covers the target is copied (one that returns before one that raises; of equally
       short ones that which covers more targets, then the first) and statements are deleted from its end, with what
       depends on them, as long as the target stays covered. In the end no single statement can be deleted.
    3. Redundant tests go: a greedy set cover, then every test without which the rest covers as much.
    4. Every target belongs to the first test that covers it. As long as a test keeps its targets, results of earlier
       statements are written out where they are used, so that these statements can go; an object that was made from
       another one is replaced by that one, or by the plainest one of its class; arguments are left out, containers lose
       elements and literals become shorter and rounder. What a test that returns kills it goes on to
       kill, where that is looked at. A test of parts that share no result becomes
       several. Once more redundant tests go.

    Args:
        candidates: the suite, supplemented from the archive.
        covered: judges test cases; must be a function of the test case alone. Its own cache decides what an
            execution costs; the same test case may be asked for again. Once it raises `OutOfBudget` nothing is executed
            any more: tests being worked on stay as far as they got, the remaining targets take their shortest candidate
            whole, and the result covers the same. If it does so at once, the candidates are the result.
        table: where the statements of the candidates are; the shortened statements are added to it.
        endings: how test cases end. Those that return are preferred, because they can check a value, and stay so; one
            that raises goes on to raise the same, or comes to return. None treats all alike.
        seen: what is known of the results of test cases; None knows nothing. May raise `OutOfBudget`.
        kills: which mutants test cases kill. What a test that returns kills before its arguments are made plainer, and
            none before it, it goes on to kill, at most `MUTANTS` of them. None asks for nothing like that. May raise
            `OutOfBudget`.
        operations: of the subject, by id; arguments then become such as annotations ask for.
        wave: how many targets are worked on at once.

    Returns:
        Test cases in the order of the first target that they were chosen for; every one covers a target that no other
        does, or kills a mutant that no other kills. Candidates without any target are dropped.

    References:
        EvoSuite 1.0.7, minimisation of a suite with one pass per goal, collateral coverage skipped.
        Differs: tests that return are preferred; after the set cover, tests that are superfluous together with later
        ones are found too; out of time the result is kept as far as it is instead of rolling back to the whole suite;
        arguments are made plainer.
    """
    tests = list(dict.fromkeys(testcase for testcase in candidates if testcase))
    if not tests:
        return []

    try:
        first = covered(tests)
    except OutOfBudget:
        return tests
    targets = first.shape[1]
    wanted: NDArray[np.bool_] = np.logical_or.reduce(first, axis=0)

    def judge(testcases: Sequence[TestCase], columns: NDArray[np.bool_] | None = None) -> list[_Row]:
        """What is covered, and how the test cases end."""
        columns = covered(testcases) if columns is None else columns
        ends = [None] * len(testcases) if endings is None else endings(testcases)
        return [_Row(covers, ending) for covers, ending in zip(columns[:, :targets], ends, strict=True)]

    rows = judge(tests, first)
    order = sorted(
        range(len(tests)), key=lambda at: (rows[at].ending is not None, len(tests[at]), -first[at].sum(), at)
    )
    source = {int(t): next(at for at in order if first[at, t]) for t in np.flatnonzero(wanted)}

    chosen: list[_Reduction] = []
    done = np.zeros(targets, dtype=bool)
    pending = list(source)
    while pending := [target for target in pending if not done[target]]:
        now, pending = pending[:wave], pending[wave:]
        active = [_Reduction(tests[source[t]], [t], rows[source[t]], Means(table)) for t in now]
        _in_step([(one, one.shorter()) for one in active], judge)
        for target, one in zip(now, active, strict=True):
            if not done[target]:
                chosen.append(one)
                done |= one.row.covers

    kept: list[_Reduction] = []
    essential = _essential(chosen, wanted)
    means = Means(table, operations)
    makers = makers_of((statement for one in essential for statement in table.statements(one.best)), means)
    means = means._replace(makers=makers)
    for one in essential:
        mine = np.flatnonzero(one.row.covers & wanted & ~_union(kept, targets))
        kept.append(_Reduction(one.best, mine.tolist(), one.row, means))
    known = _known([one.best for one in kept], seen)
    _give_mutants(kept, kills)
    for at in range(0, len(kept), wave):
        _in_step([(one, one.plainer(known[one.best])) for one in kept[at : at + wave]], judge, kills)
    parts = _split(kept, judge, kills, table)
    for at in range(0, len(parts), wave):
        _in_step([(one, one.plainer(Seen())) for one in parts[at : at + wave] if one not in kept], judge, kills)
    return [one.best for one in _essential(parts, wanted)]


def _give_mutants(reductions: Sequence[_Reduction], kills: Kills | None) -> None:
    """Let every mutant that tests which return kill belong to the first one of them, at most `MUTANTS` to each.

    Those that the fewest tests kill go first: what many kill, tests with other arguments will most likely kill too.
    """
    returning = [one for one in reductions if one.row.ending is None]
    if kills is None or not returning:
        return
    with contextlib.suppress(OutOfBudget):
        taken: set[int] = set()
        every = kills([(one.best, None) for one in returning])
        times = Counter(mutant for killed in every for mutant in killed)
        for one, killed in zip(returning, every, strict=True):
            one.mutants = frozenset(sorted(killed - taken, key=lambda mutant: (times[mutant], mutant))[:MUTANTS])
            one.row = one.row._replace(kills=killed)
            taken |= killed


def _known(
    testcases: Sequence[TestCase], seen: Callable[[Sequence[TestCase]], Sequence[Seen]] | None
) -> Mapping[TestCase, Seen]:
    """What is known of the results of the test cases, nothing if there is no time to find out."""
    found: Sequence[Seen] = [Seen()] * len(testcases)
    if seen is not None and testcases:
        with contextlib.suppress(OutOfBudget):
            found = seen(testcases)
    return dict(zip(testcases, found, strict=True))


def _split(
    reductions: Sequence[_Reduction],
    judge: Callable[[Sequence[TestCase]], list[_Row]],
    kills: Kills | None,
    table: StatementTable,
) -> list[_Reduction]:
    """The reductions, those of them in parts whose parts cover and kill by themselves what the whole has to."""
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
    result: list[_Reduction] = []
    for one in reductions:
        made: list[_Reduction] = []
        missing, living = set(one.targets), set(one.mutants)
        for part in parts[one.best] if len(parts[one.best]) > 1 else ():
            mine = [target for target in one.targets if target in missing and rows[part].covers[target]]
            deadly = rows[part].kills & living
            if (mine or deadly) and rows[part].ending in (None, one.row.ending):
                made.append(_Reduction(part, mine, rows[part], one.means))
                made[-1].mutants = deadly
                missing -= set(mine)
                living -= deadly
        result += [one] if missing or living or not made else made
    return result


class _Row(NamedTuple):
    """What a test case does.

    Attributes:
        covers: which targets it covers, booleans of shape `(n_targets,)`.
        ending: how it ends, None if it returns.
        kills: mutants that it is known to kill.
    """

    covers: NDArray[np.bool_]
    ending: Hashable
    kills: frozenset[int] = frozenset()


class _Reduction:
    """The reduction of one test case that has to keep some targets, and to end as it does or to return.

    Attributes:
        best: the smallest test case known to do so; valid at any moment.
        row: what it does.
        targets: what it has to keep covered.
        mutants: what it has to go on killing.
        means: what is known about statements.
    """

    def __init__(self, testcase: TestCase, targets: Sequence[int], row: _Row, means: Means) -> None:
        self.best = testcase
        self.row = row
        self.targets = list(targets)
        self.mutants: frozenset[int] = frozenset()
        self.means = means
        self._table = means.table

    def shorter(self) -> Steps:
        """Propose batches of test cases with fewer statements, receive what they do."""
        statements = self._table.statements(self.best)
        if len(statements) < 2:
            return
        # The shortest prefix that covers the target, and each statement with nothing but what it needs: one of these
        # is usually the answer, so that few deletions remain.
        prefixes = [list(range(size)) for size in range(1, len(statements))]
        slices = [needed(statements, position) for position in range(len(statements))]
        slices = [keep for keep in slices if len(keep) < len(statements)]
        yield from self._first(self.kept(keep) for keep in sorted(prefixes + slices, key=len))
        yield from self._deleted()

    def plainer(self, seen: Seen) -> Steps:
        """Propose batches of test cases that are plainer, receive what they do.

        First iterators that nobody uses are drained, so that what they give can be seen, and what is known of earlier
        results takes their place, so that the statements they came from can go.
        """
        yield from self._first(self._drained(seen.iterators))
        yield from self._improved(self._written_out(seen.written))
        while True:
            before = self.best
            yield from self._deleted()
            while (yield from self._first(self._bypassed())):
                yield from self._deleted()
            while (yield from self._improved(self._changes())):
                pass
            if self.best == before:
                return

    def _deleted(self) -> Steps:
        """Delete statements, with what depends on them, until no single one can go."""
        while len(self.best) > 1:
            statements = self._table.statements(self.best)
            singles = [without(statements, position) for position in reversed(range(len(statements)))]
            removable = yield from self._succeeding([keep for keep in singles if keep], self.kept)
            if not removable:
                return
            # All that can go alone often can go together.
            together = sorted(set.intersection(*(set(keep) for keep in removable)))
            if len(removable) == 1 or not (together and (yield from self._first([self.kept(together)]))):
                yield from self._first([self.kept(removable[0])])

    def _written_out(self, values: Mapping[int, Expression]) -> list[tuple[int, Change]]:
        """Arguments that are earlier results, written as the values that these had."""
        return [
            (position, Change(place, value, 0))
            for position, statement in enumerate(self._table.statements(self.best))
            for place, old in arguments(statement)
            if isinstance(old, Ref) and (value := values.get(old.position)) is not None
        ]

    def _changes(self) -> list[tuple[int, Change]]:
        """Arguments made plainer, of all statements."""
        return [
            (position, change)
            for position, statement in enumerate(self._table.statements(self.best))
            for change in plainer(statement, self.means.of(statement), raises=self.row.ending is not None)
        ]

    def _drained(self, iterators: Container[int]) -> list[TestCase]:
        """The test case with the iterators drained that nobody uses, if there are any."""
        statements = self._table.statements(self.best)
        used = {position for statement in statements for position in statement.refs}
        drained = [
            one._replace(iterate=True) if at in iterators and at not in used else one
            for at, one in enumerate(statements)
        ]
        return [self._table.testcase(drained)] if drained != statements else []

    def _bypassed(self) -> list[TestCase]:
        """One result less that is made from others: one of those takes its place, or a plain object of the class that
        is asked something."""
        statements = self._table.statements(self.best)
        found: list[TestCase] = []
        for position, statement in enumerate(statements[:-1]):
            later = statements[position + 1 :]
            if not any(position in one.refs for one in later):
                continue
            for earlier in dict.fromkeys(statement.refs):
                found.append(self._instead(position, earlier))
            asked = dict.fromkeys(
                operation.owner
                for one in later
                if one.receiver == position and (operation := self.means.of(one)) is not None
            )
            for maker in self.means.instead(statement, asked):
                found.append(self._table.testcase([*statements[:position], maker, *later]))
        return found

    def _instead(self, position: int, earlier: int) -> TestCase:
        """The best test case with the result of one statement in the place of that of a later one, which goes."""
        statements = self._table.statements(self.best)
        new = {old: old - (old > position) for old in range(len(statements))} | {position: earlier}
        return self._table.testcase(one.moved(new) for old, one in enumerate(statements) if old != position)

    def _improved(self, changes: list[tuple[int, Change]]) -> Generator[list[TestCase], list[_Row], bool]:
        """Make as many of the changes as the test case bears; False if it bears none."""
        possible = yield from self._succeeding(changes, lambda change: self._changed([change]))
        if not possible:
            return False
        # The best change of each argument, all at once; else half of them; in the end one.
        best: dict[tuple[int, int | str], tuple[int, Change]] = {}
        for position, change in possible:
            known = best.get((position, change.place))
            if known is None or change.saved > known[1].saved:
                best[position, change.place] = (position, change)
        together = sorted(best.values(), key=lambda one: -one[1].saved)
        while together and not (yield from self._first([self._changed(together)])):
            together = together[: len(together) // 2]
        return bool(together)

    def _first(self, proposals: Iterable[TestCase]) -> Generator[list[TestCase], list[_Row], bool]:
        """Take the first of the test cases that does what it has to; False if none does."""
        testcases = list(proposals)
        if not testcases:
            return False
        rows = yield testcases
        for testcase, row in zip(testcases, rows, strict=True):
            if self._will_do(row):
                self.best, self.row = testcase, row
                return True
        return False

    def _succeeding(
        self, changes: list[Made], made: Callable[[Made], TestCase]
    ) -> Generator[list[TestCase], list[_Row], list[Made]]:
        """Those of the changes after which the test case does what it has to."""
        if not changes:
            return []
        rows = yield [made(change) for change in changes]
        return [change for change, row in zip(changes, rows, strict=True) if self._will_do(row)]

    def _will_do(self, row: _Row) -> bool:
        return self.mutants <= row.kills and self.covers(row)

    def covers(self, row: _Row) -> bool:
        """What a test case does is what this one has to do, mutants aside."""
        return row.ending in (None, self.row.ending) and bool(row.covers[self.targets].all())

    def kept(self, keep: list[int]) -> TestCase:
        """The best test case reduced to the positions `keep`."""
        statements = self._table.statements(self.best)
        position = {old: new for new, old in enumerate(keep)}
        return self._table.testcase(statements[old].moved(position) for old in keep)

    def _changed(self, changes: Iterable[tuple[int, Change]]) -> TestCase:
        """The best test case with some arguments changed."""
        statements = self._table.statements(self.best)
        made: dict[int, list[Change]] = {}
        for position, change in changes:
            made.setdefault(position, []).append(change)
        for position, some in made.items():
            statements[position] = changed(statements[position], some)
        return self._table.testcase(statements)


def _in_step(
    active: Iterable[tuple[_Reduction, Steps]],
    judge: Callable[[Sequence[TestCase]], list[_Row]],
    kills: Kills | None = None,
) -> None:
    """Run reductions to their end or until time is up, one shared batch per step."""
    waiting: list[tuple[_Reduction, Steps, list[TestCase]]] = []
    for one, steps in active:
        proposals = next(steps, None)
        if proposals is not None:
            waiting.append((one, steps, proposals))
    while waiting:
        batch = list(dict.fromkeys(testcase for _, _, proposals in waiting for testcase in proposals))
        try:
            known = dict(zip(batch, judge(batch), strict=True))
            rows = [[known[testcase] for testcase in proposals] for _, _, proposals in waiting]
        except OutOfBudget:
            return
        if kills is not None:
            try:
                _add_kills(waiting, rows, kills)
            except OutOfBudget:  # from now on the tests have to cover only
                for one, _, _ in waiting:
                    one.mutants = frozenset()
        still: list[tuple[_Reduction, Steps, list[TestCase]]] = []
        for (one, steps, _), some in zip(waiting, rows, strict=True):
            try:
                still.append((one, steps, steps.send(some)))
            except StopIteration:
                continue
        waiting = still


def _add_kills(
    waiting: Sequence[tuple[_Reduction, Steps, list[TestCase]]], rows: list[list[_Row]], kills: Kills
) -> None:
    """Find out which of the mutants that they have to kill those proposals kill that do all else they have to."""
    asked: list[tuple[TestCase, Sequence[int]]] = []
    places: list[tuple[int, int]] = []
    for index, (one, _, proposals) in enumerate(waiting):
        for at, testcase in enumerate(proposals):
            if one.mutants and one.covers(rows[index][at]):
                asked.append((testcase, sorted(one.mutants)))
                places.append((index, at))
    for (index, at), killed in zip(places, kills(asked) if asked else (), strict=True):
        rows[index][at] = rows[index][at]._replace(kills=killed)


def _union(reductions: Iterable[_Reduction], targets: int) -> NDArray[np.bool_]:
    """What they cover together."""
    union = np.zeros(targets, dtype=bool)
    for one in reductions:
        union |= one.row.covers
    return union


def _essential(reductions: Sequence[_Reduction], wanted: NDArray[np.bool_]) -> list[_Reduction]:
    """Those, in their order, that together cover all that is wanted and kill what they have to, none superfluous.

    Greedy: the one with the most new targets, of these the shortest, of these the first. Then backwards: of those
    taken, the longest first, every one whose targets are all covered by others goes.
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
