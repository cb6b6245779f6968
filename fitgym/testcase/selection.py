"""Selection: chooses the next call to insert, and its position."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate

from fitgym.chance import Chance
from fitgym.subject.subject import Operation
from fitgym.testcase.calls import Calls
from fitgym.testcase.draft import Draft
from fitgym.testcase.statement import Statement

__all__ = ["Selection"]


class Selection:
    """Chooses operations to call: operations under test that are not excluded, weighted by their usefulness so far.

    Args:
        calls: builds the statements; its rates are the probabilities of the kinds of call.
    """

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self._rates = calls.rates
        self._tested = [operation for operation in calls.subject.operations if operation.is_entry_point]
        self._environment = [operation for operation in calls.subject.operations if operation.sets_environment]
        self.excluded: frozenset[int] = frozenset()
        self.outside: frozenset[int] = frozenset()
        self.setters: Mapping[int, tuple[tuple[int, ...], ...]] = {}
        self._version = -1  # of the knowledge that the weights were computed from
        self._weights: list[float] = []
        self._open: list[Operation] = []
        self._changes = 0  # of the results that `_acting` was computed from
        self._acting: dict[int, list[Operation]] = {}

    def exclude(self, operations: frozenset[int], outside: frozenset[int] = frozenset()) -> None:
        """Stop inserting calls of these operations, unless no other is left; replaces the former sets.

        Args:
            operations: the operations.
            outside: those of them that are outside the focus; a mutation does not exchange a call for one of these.
        """
        self.outside = outside
        if operations != self.excluded:
            self.excluded = operations
            self._version = -1
            self._acting.clear()

    def strays(self, statements: Sequence[Statement]) -> bool:
        """Return whether every call of an operation under test is outside the focus."""
        inside = {operation.id for operation in self._tested} - self.outside
        return all(statement.operation not in inside for statement in statements)

    def operation(self, rng: Chance) -> Operation | None:
        """Return an operation under test that is not excluded, weighted by usefulness; None if the subject has none."""
        knowledge = self.calls.knowledge
        if self._version != knowledge.version:
            self._version = knowledge.version
            tested = self._tested
            self._open = [operation for operation in tested if operation.id not in self.excluded]
            self._open = self._open or [operation for operation in tested if operation.under_test]
            self._weights = list(accumulate(knowledge.usefulness(operation.id) for operation in self._open))
        weights = self._weights
        return self._open[bisect_right(weights, rng.random() * weights[-1], 0, len(weights) - 1)] if weights else None

    def extend(self, draft: Draft, rng: Chance) -> None:
        """Append one more call (and the statements it needs), unless there is no room or the call cannot be built."""
        # One number in [0, 1) decides between three cases: an operation under test at the end, an operation on an
        # object after that object, an operation under test anywhere.
        rates, where = self._rates, rng.random()
        if rates.tested_rate <= where < rates.tested_rate + rates.object_rate:
            operation, receiver = self._on_object(draft, len(draft), rng)
            if operation is not None and self.calls.append(operation, draft, rng, receiver=receiver) >= 0:
                return
        if where >= rates.tested_rate + rates.object_rate and self._environment:
            self.calls.append(self._setter_of_environment(rng), draft, rng)
        operation = self._tested_operation(draft, rng)
        if operation is not None:
            self.calls.append(operation, draft, rng)

    def insert(self, statements: Sequence[Statement], rng: Chance, end: int | None = None) -> list[Statement]:
        """Return the test case with one more call and the statements it needs; equal if there is no room or no way.

        Args:
            statements: the test case.
            rng: source of random numbers.
            end: the latest position of the call, for a test case whose statement `end` raises; None for the length.
        """
        end = len(statements) if end is None else end
        if self.setters and rng.random() < self._rates.setter_rate:
            inserted = self._with_setter(statements, end, rng)
            if inserted is not None:
                return inserted
        where = rng.random()
        anywhere = self._rates.tested_rate + self._rates.object_rate
        if self._environment and (where >= anywhere or rng.random() < self._rates.setter_rate):
            before = int(rng.random() * max(1, end))  # after the last call it would change nothing
            inserted = self._inserted(statements, before, self._setter_of_environment(rng), -1, rng)
            if inserted is not None:
                return inserted
        if self._rates.tested_rate <= where < anywhere:
            operation, receiver = self._on_object(statements, end, rng)
            if operation is not None:
                position = receiver + 1 + int(rng.random() * (end - receiver))
                inserted = self._inserted(statements, position, operation, receiver, rng)
                if inserted is not None:
                    return inserted
        operation = self._tested_operation(statements, rng)
        if operation is None:
            return list(statements)
        position = int(rng.random() * (end + 1)) if where >= anywhere else end
        return self._inserted(statements, position, operation, -1, rng) or list(statements)

    def _setter_of_environment(self, rng: Chance) -> Operation:
        setters = self._environment
        return setters[0] if len(setters) == 1 else setters[int(rng.random() * len(setters))]

    def _with_setter(self, statements: Sequence[Statement], end: int, rng: Chance) -> list[Statement] | None:
        """Return the test case with a call that changes what uncovered conditions of a later call depend on.

        None if no call up to `end` has such conditions, or there is no room.
        """
        waiting = [
            place
            for place, statement in enumerate(statements[: end + 1])
            if statement.receiver >= 0 and statement.operation in self.setters
        ]
        if not waiting:
            return None
        place = waiting[int(rng.random() * len(waiting))]
        groups = self.setters[statements[place].operation]
        group = groups[int(rng.random() * len(groups))]
        receiver = statements[place].receiver
        operation = self.calls.subject.operations[group[int(rng.random() * len(group))]]
        if operation not in self.calls.knowledge.results.acting(statements[receiver].operation):
            return None
        return self._inserted(statements, place, operation, receiver, rng)

    def _tested_operation(self, statements: Sequence[Statement], rng: Chance) -> Operation | None:
        operation = self.operation(rng)
        if operation is not None and operation.kind == "constructor":
            for statement in statements:
                if statement.operation == operation.id:
                    return self.operation(rng)  # a second object is rarely needed: draw again
        return operation

    def _on_object(self, statements: Sequence[Statement], end: int, rng: Chance) -> tuple[Operation | None, int]:
        """Return an operation to call on a random object that exists before `end`, and the position of that object."""
        knowledge = self.calls.knowledge
        if self._changes != knowledge.results.changes:
            self._changes = knowledge.results.changes
            self._acting.clear()
        acting = self._acting
        candidates = []
        for index in range(end):
            operations = acting.get(statements[index].operation)
            if operations is None:
                operations = self._acts_on(statements[index].operation)
            if operations:
                candidates.append((index, operations))
        if not candidates:
            return None, -1
        random = rng.random
        receiver, operations = candidates[int(random() * len(candidates))]
        operation = operations[int(random() * len(operations))]
        if random() >= knowledge.usefulness(operation.id):
            operation = operations[int(random() * len(operations))]  # it is rarely informative: draw again
        return operation, receiver

    def _acts_on(self, result_of: int) -> list[Operation]:
        """Return the operations that can be called on the result of an operation and are not excluded."""
        acting = self.calls.knowledge.results.acting(result_of)
        found = self._acting[result_of] = [operation for operation in acting if operation.id not in self.excluded]
        return found

    def _inserted(
        self, statements: Sequence[Statement], position: int, operation: Operation, receiver: int, rng: Chance
    ) -> list[Statement] | None:
        draft = Draft(statements[:position])
        if self.calls.append(operation, draft, rng, receiver=receiver) < 0:
            return None
        if position < len(statements):
            if len(draft) + len(statements) - position > self._rates.max_length:
                return None
            draft.extend_moved(statements[position:], position, len(draft) - position)
        return draft
