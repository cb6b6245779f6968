"""Variation: mutation of one test case, and crossover of two.

Every result is valid: references point backwards, at least one statement is under test, and the length is within the
limit.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from fitgym.chance import Chance
from fitgym.testcase.arguments.values import Place
from fitgym.testcase.calls import Calls
from fitgym.testcase.draft import Draft, NoRoom
from fitgym.testcase.expression import Expression
from fitgym.testcase.selection import Selection
from fitgym.testcase.signature import Signature
from fitgym.testcase.statement import Statement

__all__ = ["Variation"]


class Variation:
    """Mutation and crossover of the statements of test cases.

    Args:
        calls: builds new statements; its rates are the probabilities of the mutations.
        selection: chooses which operation to insert.
    """

    def __init__(self, calls: Calls, selection: Selection) -> None:
        self.calls = calls
        self.selection = selection
        self.rates = calls.rates
        self.operations = calls.subject.operations
        self._tested = [operation.is_entry_point for operation in self.operations]
        self._sets = [operation.sets_environment for operation in self.operations]
        self._changes = [operation.exampled and operation.kind == "function" for operation in self.operations]

    # The three mutations

    def mutated(self, statements: list[Statement], rng: Chance, *, raises: bool = False) -> list[Statement]:
        """Delete, then change, then insert, each with its own probability.

        Args:
            statements: the parent.
            rng: source of random numbers.
            raises: its last statement raises, so calls are inserted before that one; after it they would never run.

        Differs from EvoSuite: if none of the three applies, a statement is still changed or inserted, because the
        execution of an offspring equal to its parent gives no new information.
        """
        random = rng.random
        new = old = statements
        if len(new) > 1 and random() < self.rates.delete_rate:
            new = self.deleted(new, rng)
        if random() < self.rates.change_rate:
            new = self.changed(new, rng)
        # The statement that raised may be gone after a deletion or a change.
        raises = raises and bool(new) and new[-1].operation == old[-1].operation
        if random() < self.rates.insert_rate or not self.has_test(new):
            new = self.inserted(new, rng, raises=raises)
        if new == old:
            new = self.changed_at(old, int(random() * len(old)), rng) if old and random() < 0.7 else old
            if new == old:
                new = self.inserted(old, rng, raises=raises)
        return self.trimmed(new) or old

    def deleted(self, statements: Sequence[Statement], rng: Chance) -> list[Statement]:
        """Delete every statement with probability 1/length; statements that needed it are repaired or deleted too."""
        random = rng.random
        rate = 1.0 / len(statements)
        doomed = [position for position in range(len(statements)) if random() < rate]
        return self.without(statements, doomed, rng) if doomed else list(statements)

    def changed(self, statements: Sequence[Statement], rng: Chance) -> list[Statement]:
        """Change every statement with probability 1/length."""
        random = rng.random
        new = list(statements)
        rate = 1.0 / max(1, len(new))
        position = 0
        while position < len(new):
            if random() < rate:
                length = len(new)
                new = self.changed_at(new, position, rng)
                position += len(new) - length  # helpers were inserted before it
            position += 1
        return new

    def inserted(self, statements: Sequence[Statement], rng: Chance, *, raises: bool = False) -> list[Statement]:
        """Insert one call, then each further one with probability `insert_again`.

        Calls are inserted before the last statement if that one `raises`.
        """
        new = list(statements)
        while len(new) < self.rates.max_length:
            new = self.selection.insert(new, rng, len(new) - 1 if raises else None)
            if rng.random() >= self.rates.insert_again:
                break
        return new

    # One statement

    def changed_at(self, statements: Sequence[Statement], position: int, rng: Chance) -> list[Statement]:
        """Change the statement at `position`; return an equal test case if the change exceeds the length limit."""
        draft = Draft(statements[:position])
        statement = statements[position]
        try:
            changed = self._changed(statement, draft, rng)
        except NoRoom:
            return list(statements)
        draft.append(changed)
        if len(draft) + len(statements) - position - 1 > self.rates.max_length:
            return list(statements)
        # New helpers stand before the changed statement, so what refers to it moves as well.
        draft.extend_moved(statements[position + 1 :], position, len(draft) - 1 - position)
        return draft

    def _changed(self, statement: Statement, draft: Draft, rng: Chance) -> Statement:
        """Return a statement with another operation, receiver or argument; the same if there is none.

        Raises:
            NoRoom: there is no room for an argument of a declared class.
        """
        where = rng.random()
        # 10 % change the operation, 10 % the receiver, 15 % an optional argument, the rest another argument.
        if where < 0.1:
            changed = self._other_operation(statement, draft, rng)
        elif where < 0.2:
            changed = self._other_receiver(statement, draft, rng)
        elif where < 0.35:
            changed = self._toggled(statement, draft, rng)
        else:
            changed = None
        if changed is None:
            changed = self._other_argument(statement, draft, rng)
        if changed is None:
            changed = self._toggled(statement, draft, rng) or self._other_operation(statement, draft, rng)
        return changed or statement

    def _other_argument(self, statement: Statement, draft: Draft, rng: Chance) -> Statement | None:
        """Change one argument: mostly slightly, otherwise by a new draw."""
        positional = len(statement.args)
        count = positional + len(statement.kwargs)
        if count == 0:
            return None
        signature = self.calls.signature(statement.operation)
        index = int(rng.random() * count)
        if index < positional:
            args = list(statement.args)
            args[index] = self._varied(signature.place(index), args[index], draft, rng)
            return statement.with_arguments(tuple(args), statement.kwargs)
        kwargs = list(statement.kwargs)
        name, value = kwargs[index - positional]
        kwargs[index - positional] = (name, self._varied(signature.place(name), value, draft, rng))
        return statement.with_arguments(statement.args, tuple(kwargs))

    def _varied(self, place: Place | None, value: Expression, draft: Draft, rng: Chance) -> Expression:
        values = self.calls.values
        return values.anything(draft, rng, 0) if place is None else values.varied(place, value, draft, rng)

    def _other_receiver(self, statement: Statement, draft: Draft, rng: Chance) -> Statement | None:
        """Return the same call on another object of the test case, None if there is no other."""
        if statement.receiver < 0:
            return None
        alike = self.calls.knowledge.results.alike(draft[statement.receiver].operation)
        others = [position for position in draft.results(alike) if position != statement.receiver]
        return statement.with_receiver(others[int(rng.random() * len(others))]) if others else None

    def _toggled(self, statement: Statement, draft: Draft, rng: Chance) -> Statement | None:
        """Add or remove one optional argument; None if that is not possible."""
        args, kwargs = statement.args, statement.kwargs
        signature = self.calls.signature(statement.operation)
        names = {name for name, _ in kwargs}
        optional = [
            (index, place)
            for index, place in signature.optional
            if self._can_change(signature, index, place, len(args), names)
        ]
        if not optional:
            return None
        index, place = optional[int(rng.random() * len(optional))]
        if place.kind == "var_positional":
            if len(args) > index and rng.random() < 0.5:
                return statement.with_arguments(args[:-1], kwargs)
            if len(args) - index >= 3:
                return None
            return statement.with_arguments((*args, self.calls.values.argument(place, draft, rng, 0)), kwargs)
        if place.name in names:
            return statement.with_arguments(args, tuple([pair for pair in kwargs if pair[0] != place.name]))
        return statement.with_arguments(args, (*kwargs, (place.name, self.calls.values.argument(place, draft, rng, 0))))

    @staticmethod
    def _can_change(signature: Signature, index: int, place: Place, given: int, names: Container[str]) -> bool:
        """The call remains valid if an argument for this parameter is added or removed."""
        if place.kind == "var_positional":
            return given >= index and not any(earlier.name in names for earlier in signature.places[:index])
        # The removal of an argument passed by position would move the later ones.
        return place.kind == "keyword_only" or index >= given

    def _other_operation(self, statement: Statement, draft: Draft, rng: Chance) -> Statement | None:
        """Return another operation with the same result and new arguments; None without such an operation or room."""
        others = self.calls.knowledge.results.others(statement.operation)
        if outside := self.selection.outside:
            others = tuple(one for one in others if one not in outside)
        if not others:
            return None
        operation = self.operations[others[int(rng.random() * len(others))]]
        if self.operations[statement.operation].is_entry_point and not operation.is_entry_point:
            return None
        receiver = statement.receiver if operation.owner == self.operations[statement.operation].owner else -1
        if self.calls.append(operation, draft, rng, receiver=receiver) < 0:
            return None
        return draft.pop()

    # Deletion and repair

    def without(self, statements: Sequence[Statement], doomed: Iterable[int], rng: Chance) -> list[Statement]:
        """Return the test case without the `doomed` positions.

        A statement that needs a deleted result gets a random earlier result of the same type. Without one, it is
        deleted as well.
        """
        gone = set(doomed)
        position: dict[int, int] = {}
        kept: list[Statement] = []
        for index, statement in enumerate(statements):
            if index in gone:
                continue
            places = position
            moved = False
            for reference in statement.refs:
                where = places.get(reference)
                if where is None:
                    where = self._substitute(statements[reference].operation, kept, rng)
                    if where < 0:
                        break
                    places = {**places, reference: where}
                moved = moved or where != reference
            else:
                position[index] = len(kept)
                kept.append(statement.moved(places) if moved else statement)
        return kept

    def _substitute(self, operation: int, kept: Sequence[Statement], rng: Chance) -> int:
        alike = self.calls.knowledge.results.alike(operation)
        candidates = [position for position, statement in enumerate(kept) if statement.operation in alike]
        return candidates[int(rng.random() * len(candidates))] if candidates else -1

    def trimmed(self, statements: list[Statement]) -> list[Statement]:
        """Return the test case without dead statements.

        A statement is needed if its operation is under test, if a needed statement uses its result, or if it acts on an
        object that a needed statement uses later, or if it sets an environment variable before one. Functions that only
        examples use may act on their arguments. Without a statement under test the result is empty.
        """
        tested = self._tested
        for statement in statements:
            if not tested[statement.operation]:
                break
        else:
            return statements
        needed: set[int] = set()
        dead: set[int] = set()
        is_called = False  # a needed statement follows
        for index in range(len(statements) - 1, -1, -1):
            statement = statements[index]
            if (
                tested[statement.operation]
                or index in needed
                or statement.receiver in needed
                or (self._sets[statement.operation] and is_called)
                or (self._changes[statement.operation] and not needed.isdisjoint(statement.refs))
            ):
                needed.update(statement.refs)
                is_called = True
            else:
                dead.add(index)
        if not dead:
            return statements
        kept = [index for index in range(len(statements)) if index not in dead]
        position = {index: place for place, index in enumerate(kept)}
        return [statements[index].moved(position) for index in kept]

    def has_test(self, statements: Sequence[Statement]) -> bool:
        """At least one statement applies an operation under test."""
        tested = self._tested
        return any(tested[statement.operation] for statement in statements)

    # Crossover

    def crossed(
        self, first: Sequence[Statement], second: Sequence[Statement], rng: Chance
    ) -> tuple[list[Statement], list[Statement]]:
        """Return two offspring of single-point relative crossover: both parents are cut at the same share.

        The cut position is a share of the length of each parent. A cut never lies before the first statement, as in
        EvoSuite: position floor((length - 1) * share) + 1.
        """
        share = rng.random()
        cuts = [int((len(parent) - 1) * share) + 1 for parent in (first, second)]
        one = self.spliced(first[: cuts[0]], second, cuts[1], rng)
        other = self.spliced(second[: cuts[1]], first, cuts[0], rng)
        return one or list(first), other or list(second)

    def spliced(
        self, head: Sequence[Statement], donor: Sequence[Statement], start: int, rng: Chance
    ) -> list[Statement]:
        """Return `head` followed by the statements of `donor` from `start` on.

        If these need a result from the first part of `donor`, a result in `head` replaces it with probability
        `object_reuse`. Otherwise the statement is copied with all statements that it needs. The result is cut at the
        maximum length.
        """
        spliced = list(head)
        position: dict[int, int] = {}

        def copied(index: int) -> int:
            """Return the position, in the result, of the donor's statement `index` or of a substitute."""
            where = position.get(index)
            if where is None:
                where = -1
                if index < start and rng.random() < self.rates.object_reuse:
                    where = self._substitute(donor[index].operation, spliced, rng)
                if where < 0:
                    statement = donor[index]
                    places = {reference: copied(reference) for reference in statement.refs}
                    spliced.append(statement.moved(places))
                    where = len(spliced) - 1
                position[index] = where
            return where

        for index in range(start, len(donor)):
            before = len(spliced)
            copied(index)
            if len(spliced) > self.rates.max_length:
                del spliced[before:]
                break
        return self.trimmed(spliced)
