"""Reduction: one test case made smaller step by step, as long as it keeps its targets, its outcome and its mutants."""

from __future__ import annotations

from collections.abc import Callable, Container, Generator, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fitgym.subject.types.hints import ANY, PATH_TEXT
from fitgym.suite.reduction.dependencies import needed, without, without_orphans
from fitgym.suite.reduction.makers import Means
from fitgym.suite.reduction.simplification import Change, arguments, bare, changed, conforms, parameter_at, plainer
from fitgym.testcase.expression import Expression, Ref
from fitgym.testcase.statement import Statement, TestCase

__all__ = ["Proposals", "Reduction", "Row", "Seen", "Steps"]


class Proposals(NamedTuple):
    """Smaller test cases whose behaviour is asked for.

    Attributes:
        testcases: any number.
        on_mutants: also run them on the mutants that they must kill, which costs much more.
    """

    testcases: list[TestCase]
    on_mutants: bool = False


Steps = Generator[Proposals, list["Row"], None]
"""Proposes batches of test cases, and receives their behaviour."""

Made = TypeVar("Made")

FEW = 3  # changes of an argument that are tried at once
GROWTH = 4  # how many more proposals run on mutants if none of the last ones kept them dead; most first ones do


class Seen(NamedTuple):
    """Facts about the results of a test case.

    Attributes:
        written: literal forms of results, by the position of the statement.
        iterators: positions of statements whose results are iterators.
    """

    written: Mapping[int, Expression] = {}
    iterators: Container[int] = ()


class Row(NamedTuple):
    """The behaviour of a test case.

    Attributes:
        covers: the targets that it covers, booleans of shape `(n_targets,)`.
        outcome: how it ended, None if it returned.
        kills: mutants that it is known to kill.
    """

    covers: NDArray[np.bool_]
    outcome: Hashable
    kills: frozenset[int] = frozenset()


class Reduction:
    """The reduction of one test case, which must keep its targets and its outcome, or come to return.

    Attributes:
        best: the smallest valid test case so far; usable at any time.
        row: the behaviour of `best`.
        targets: the targets that it must cover.
        mutants: the mutants that it must kill.
        means: information about statements.
    """

    def __init__(self, testcase: TestCase, targets: Sequence[int], row: Row, means: Means) -> None:
        self.best = testcase
        self.row = row
        self.targets = list(targets)
        self.mutants: frozenset[int] = frozenset()
        self.means = means
        self._table = means.table
        self._failed: set[tuple[int, Change]] = set()  # the operation, and a change of its arguments
        self._plainer: dict[tuple[Statement, bool], list[Change]] = {}  # of statements that may raise or must not

    def shorter(self) -> Steps:
        """Propose batches of test cases with fewer statements; receive their behaviour."""
        statements = self._table.statements(self.best)
        if len(statements) < 2:
            return
        # Try every prefix, and each statement with only its dependencies. One of these is usually the answer, so that
        # few single deletions remain.
        prefixes = [list(range(size)) for size in range(1, len(statements))]
        slices = [needed(statements, position) for position in range(len(statements))]
        slices = [keep for keep in slices if len(keep) < len(statements)]
        yield from self._first(self.kept(keep) for keep in sorted(prefixes + slices, key=len))
        yield from self._deleted()

    def tidied(self, seen: Seen) -> Steps:
        """Propose shorter calls in few batches; receive their behaviour.

        Unused iterators are drained, so that their elements can be checked, and earlier results are replaced by literals,
        so that the statements that made them can be deleted. All optional arguments are left out at once if that is
        possible, else as many of them as possible.
        """
        yield from self._first(self._drained(seen.iterators))
        yield from self._improved(self._with_literals(seen.written))
        if not (yield from self._first(self._bare())):
            yield from self._improved([one for one in self._changes() if one[1].value is None])

    def plainer(self) -> Steps:
        """Propose batches of simpler test cases; receive their behaviour.

        First, stand-ins give way to objects of the declared class.
        """
        while (yield from self._first(self._real())):
            pass
        while True:
            before = self.best
            yield from self._deleted()
            while (yield from self._first(self._bypassed())):
                yield from self._deleted()
            while changes := self._changes():
                if not (yield from self._improved(changes)):
                    self._failed |= {self._key(change) for change in changes}
            if self.best == before:
                return

    def _deleted(self) -> Steps:
        """Delete statements with their dependents until no single one can be deleted."""
        while len(self.best) > 1:
            statements = self._table.statements(self.best)
            singles = [without(statements, position) for position in reversed(range(len(statements)))]
            removable = yield from self._succeeding([keep for keep in singles if keep], self.kept)
            if not removable:
                return
            # Statements that can be deleted one by one can often be deleted together.
            together = sorted(set.intersection(*(set(keep) for keep in removable)))
            if len(removable) > 1 and together and (yield from self._first([self.kept(together)])):
                continue
            if not (yield from self._first(map(self.kept, removable))):
                return

    def _with_literals(self, values: Mapping[int, Expression]) -> list[tuple[int, Change]]:
        """Return changes that replace references to earlier results by their literal values.

        Not every object that equals a dict is one: a declared `Counter` stays.
        """
        found: list[tuple[int, Change]] = []
        for position, statement in enumerate(self._table.statements(self.best)):
            for place, old in arguments(statement):
                value = values.get(old.position) if isinstance(old, Ref) else None
                parameter = parameter_at(self.means.of(statement), place)
                hint = parameter.hint if parameter is not None and parameter.declared else ANY
                if value is not None and conforms(value, hint):
                    found.append((position, Change(place, value, 0)))
        return found

    def _changes(self) -> list[tuple[int, Change]]:
        """Return the `FEW` greatest simplifications of each argument that have not failed before.

        A greater one that succeeds makes the others unnecessary. A change that failed may be possible after others, but
        that is rare, and trying again takes time.
        """
        found: list[tuple[int, Change]] = []
        statements = self._table.statements(self.best)
        for position, statement in enumerate(statements):
            of_place: dict[int | str, list[Change]] = {}
            raises = self.row.outcome is not None and position == len(statements) - 1
            for change in self._simplifications(statement, raises):
                if (statement.operation, change) not in self._failed:
                    of_place.setdefault(change.place, []).append(change)
            for changes in of_place.values():
                found += [(position, change) for change in changes[:FEW]]
        return found

    def _simplifications(self, statement: Statement, raises: bool) -> list[Change]:
        """Return the simplifications of a statement, the greatest first. Most statements stay from step to step."""
        known = self._plainer.get((statement, raises))
        if known is None:
            every = plainer(statement, self.means.of(statement), raises=raises)
            known = self._plainer[statement, raises] = sorted(every, key=lambda change: -change.saved)
        return known

    def _bare(self) -> list[TestCase]:
        """Return the test case without optional arguments, then with those of the last or of the earlier statements."""
        before = self._table.statements(self.best)
        after = [bare(statement, self.means.of(statement)) for statement in before]
        found = map(self._rewritten, (after, [*after[:-1], before[-1]], [*before[:-1], after[-1]]))
        return [testcase for testcase in dict.fromkeys(found) if testcase != self.best]

    def _drained(self, iterators: Container[int]) -> list[TestCase]:
        """Return the test case with its unused iterators drained, if there are any."""
        statements = self._table.statements(self.best)
        used = {position for statement in statements for position in statement.refs}
        drained = [
            one._replace(iterate=True) if at in iterators and at not in used else one
            for at, one in enumerate(statements)
        ]
        return [self._table.testcase(drained)] if drained != statements else []

    def _bypassed(self) -> list[TestCase]:
        """Return test cases with one intermediate result removed.

        The result is replaced by one of the results that it was made from, or by a simple object of the class that
        later statements call methods of.
        """
        statements = self._table.statements(self.best)
        found: list[TestCase] = []
        for position, statement in enumerate(statements[:-1]):
            later = statements[position + 1 :]
            if not any(position in one.refs for one in later):
                continue
            made = self.means.of(statement)
            # `str(path)` stays: a parameter that is declared as text takes no path.
            for earlier in dict.fromkeys(statement.refs) if made is None or made.returns != PATH_TEXT else ():
                if self.means.suits(statements[earlier], position, later):
                    found.append(self._instead(position, earlier))
            asked = dict.fromkeys(
                operation.owner
                for one in later
                if one.receiver == position and (operation := self.means.of(one)) is not None
            )
            for maker in self.means.instead(statement, asked):
                found.append(self._table.testcase([*statements[:position], maker, *later]))
        return found

    def _real(self) -> list[TestCase]:
        """Return test cases with one stand-in replaced by an object of the class that later statements declare."""
        statements = self._table.statements(self.best)
        found: list[TestCase] = []
        for position, statement in enumerate(statements):
            later = statements[position + 1 :]
            for made in self.means.real(statement, position, later):
                new = {old: old + (len(made) - 1) * (old > position) for old in range(len(statements))}
                found.append(self._table.testcase([*statements[:position], *made, *(one.moved(new) for one in later)]))
        return found

    def _instead(self, position: int, earlier: int) -> TestCase:
        """Return the best test case without the statement at `position`; the result at `earlier` takes its place."""
        statements = self._table.statements(self.best)
        new = {old: old - (old > position) for old in range(len(statements))} | {position: earlier}
        return self._table.testcase(one.moved(new) for old, one in enumerate(statements) if old != position)

    def _improved(self, changes: list[tuple[int, Change]]) -> Generator[Proposals, list[Row], bool]:
        """Apply as many of the changes as the test case allows; return whether any was applied."""
        # Only the changes that are applied run on mutants, unless that fails: most changes keep them dead.
        for on_mutants in (False, True) if self.mutants else (False,):
            keys = {self._key(change) for change in changes}
            changes = yield from self._succeeding(changes, lambda change: self._changed([change]), on_mutants)
            self._failed |= keys - {self._key(change) for change in changes}
            # Try the best change of each argument together; if that fails, try half of them, down to a single one.
            best: dict[tuple[int, int | str], tuple[int, Change]] = {}
            for position, change in changes:
                known = best.get((position, change.place))
                if known is None or change.saved > known[1].saved:
                    best[position, change.place] = (position, change)
            together = sorted(best.values(), key=lambda one: -one[1].saved)
            while together:
                if (yield from self._first([self._changed(together)])):
                    return True
                together = together[: len(together) // 2]
        return False

    def _key(self, change: tuple[int, Change]) -> tuple[int, Change]:
        """Return what identifies a change when positions have moved."""
        position, what = change
        return self._table.statements(self.best)[position].operation, what

    def _first(self, proposals: Iterable[TestCase]) -> Generator[Proposals, list[Row], bool]:
        """Take the first of the test cases that is valid; return whether there was one."""
        testcases = list(proposals)
        if not testcases:
            return False
        rows = yield Proposals(testcases)
        valid = [(testcase, row) for testcase, row in zip(testcases, rows, strict=True) if self.covers(row)]
        size = 1 if self.mutants else len(valid)
        while valid:
            now, valid = valid[:size], valid[size:]
            if self.mutants:
                asked = [testcase for testcase, _ in now]
                now = list(zip(asked, (yield Proposals(asked, on_mutants=True)), strict=True))
            for testcase, row in now:
                if self.mutants <= row.kills:
                    self.best, self.row = testcase, row
                    return True
            size *= GROWTH
        return False

    def _succeeding(
        self, changes: list[Made], made: Callable[[Made], TestCase], on_mutants: bool = False
    ) -> Generator[Proposals, list[Row], list[Made]]:
        """Return the changes after which the test case keeps its targets, and with `on_mutants` also its mutants."""
        if not changes:
            return []
        rows = yield Proposals([made(change) for change in changes], on_mutants)
        mutants = self.mutants if on_mutants else frozenset()
        return [change for change, row in zip(changes, rows, strict=True) if self.covers(row) and mutants <= row.kills]

    def covers(self, row: Row) -> bool:
        """Return whether the behaviour keeps the targets and the outcome; mutants are not considered."""
        return row.outcome in (None, self.row.outcome) and bool(row.covers[self.targets].all())

    def kept(self, keep: list[int]) -> TestCase:
        """Return the best test case reduced to the positions `keep`."""
        statements = self._table.statements(self.best)
        position = {old: new for new, old in enumerate(keep)}
        return self._table.testcase(statements[old].moved(position) for old in keep)

    def _changed(self, changes: Iterable[tuple[int, Change]]) -> TestCase:
        """Return the best test case with some arguments changed."""
        statements = list(self._table.statements(self.best))
        made: dict[int, list[Change]] = {}
        for position, change in changes:
            made.setdefault(position, []).append(change)
        for position, some in made.items():
            statements[position] = changed(statements[position], some)
        return self._rewritten(statements)

    def _rewritten(self, statements: Sequence[Statement]) -> TestCase:
        """Return the best test case with other arguments, without the helpers that nothing uses any more.

        Later rounds would delete them too, but time may run out before.
        """
        keep = without_orphans(self._table.statements(self.best), statements, self._is_helper)
        new = {old: at for at, old in enumerate(keep)}
        return self._table.testcase(statements[old].moved(new) for old in keep)

    def _is_helper(self, statement: Statement) -> bool:
        operation = self.means.of(statement)
        return operation is not None and not operation.under_test
