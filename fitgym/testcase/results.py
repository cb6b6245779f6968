"""Results: the result types of a subject's operations, and the operations that provide a wanted type."""

from __future__ import annotations

from fitgym.subject.subject import Operation, Subject
from fitgym.subject.types.hints import ANY, Hint, choices
from fitgym.testcase.subtyping import fits, simple_kind

__all__ = ["Providers", "Results"]

_OF_PRIVATE_CLASSES = ("constructor", "class_method", "static_method")
"""Private operations that build objects; private functions and methods are only called to test them."""


class Providers:
    """The operations whose result fits one hint; `Results` keeps the object up to date.

    Attributes:
        ids: their ids.
        operations: the operations, by id.
    """

    __slots__ = ("ids", "operations")

    def __init__(self, operations: list[Operation]) -> None:
        self.operations = operations
        self.ids = {operation.id for operation in operations}

    def build_alone(self) -> bool:
        """Return whether one of the operations needs no other object."""
        return any(not operation.needs_receiver and not _needs_object(operation) for operation in self.operations)


class Results:
    """The result type of every operation: declared, otherwise observed, otherwise anything.

    Comparing types is slow, so every answer is computed once and cached. A new observation about one operation
    immediately updates the answers that depend on it, so cached answers are never stale.

    Args:
        subject: whose operations.

    Attributes:
        hints: the result type of each operation, by operation id.
        kinds: the simple kind of each of these (`subtyping.simple_kind`).
        iterators: ids of operations that return an iterator although their signature does not declare it; it is
            drained.
        changes: number of new observations.
        unstable: ids of operations whose results are never used: a hash may come from an address, which differs between
            processes.
    """

    def __init__(self, subject: Subject) -> None:
        self._operations = subject.operations
        self._classes = subject.classes
        self.hints = [operation.returns for operation in subject.operations]
        self.kinds = [simple_kind(hint) for hint in self.hints]
        self.iterators: dict[int, None] = {}
        self.changes = 0
        self.unstable = frozenset(one.id for one in subject.operations if one.operator == "__hash__")
        self._members: dict[str, list[Operation]] = {}
        for operation in subject.operations:
            if operation.needs_receiver and not operation.unsearched:
                self._members.setdefault(operation.owner, []).append(operation)
        self._providers: dict[Hint, Providers] = {}
        self._acting: dict[int, tuple[Operation, ...]] = {}
        self._alike: dict[int, frozenset[int]] = {}
        self._others: dict[int, tuple[int, ...]] = {}

    def drain(self, operation: int) -> bool:
        """Record that an operation returns an iterator. Returns whether that is new."""
        if operation in self.iterators or self._operations[operation].drive:
            return False
        self.iterators[operation] = None
        self._set(operation, Hint("list", args=(ANY,)))
        return True

    def observe(self, operation: int, hint: Hint) -> bool:
        """Record the observed result type of an operation. Returns whether that is new."""
        if operation in self.iterators:
            ignored = hint.kind in ("iterator", "class", "any")
        else:
            ignored = hint.kind == "any" or self._operations[operation].returns.kind != "any"
        if ignored or self.hints[operation] == hint:
            return False
        self._set(operation, hint)
        return True

    def providers(self, hint: Hint) -> Providers:
        """Return the operations whose result fits `hint`; one object per hint, kept up to date."""
        found = self._providers.get(hint)
        if found is None:
            provides = [one for one in self._operations if self._provides(one, hint)]
            found = self._providers[hint] = Providers(provides)
        return found

    def acting(self, operation: int) -> tuple[Operation, ...]:
        """Return the operations that can be called on the result of an operation, by id."""
        found = self._acting.get(operation)
        if found is None:
            found = self._acting[operation] = self._acting_on(self.hints[operation])
        return found

    def alike(self, operation: int) -> frozenset[int]:
        """Return the ids of operations whose results can replace the result of `operation`, itself included."""
        found = self._alike.get(operation)
        if found is None:
            hint, same = self.hints[operation], frozenset((operation,))
            unknown = hint.kind in ("any", "none", "literal", "protocol")
            found = self._alike[operation] = same if unknown else same | self.providers(hint).ids
        return found

    def others(self, operation: int) -> tuple[int, ...]:
        """Return the ids of other operations whose results can replace the result of `operation`, in order."""
        found = self._others.get(operation)
        if found is None:
            found = self._others[operation] = tuple(sorted(self.alike(operation) - {operation}))
        return found

    def _set(self, operation: int, hint: Hint) -> None:
        self.changes += 1
        self.hints[operation] = hint
        self.kinds[operation] = simple_kind(hint)
        for wanted, providers in self._providers.items():
            if (operation in providers.ids) != self._provides(self._operations[operation], wanted):
                providers.ids ^= {operation}
                providers.operations = [self._operations[identifier] for identifier in sorted(providers.ids)]
        self._acting.pop(operation, None)
        self._alike.clear()
        self._others.clear()

    def _provides(self, operation: Operation, wanted: Hint) -> bool:
        return (
            operation.kind != "setter"
            and not operation.unsearched
            and (operation.entry_kind != "private" or operation.kind in _OF_PRIVATE_CLASSES)
            and operation.id not in self.unstable
            and fits(self.hints[operation.id], wanted, self._classes)
        )

    def _acting_on(self, hint: Hint) -> tuple[Operation, ...]:
        if hint.kind in ("any", "none"):
            return ()
        fitting = [
            member
            for owner, members in self._members.items()
            if fits(hint, Hint("class", owner), self._classes)
            for member in members
        ]
        return tuple(sorted(fitting, key=lambda operation: operation.id))


def _needs_object(operation: Operation) -> bool:
    """Return whether a required parameter accepts objects only."""
    required = [parameter.hint for parameter in operation.parameters if parameter.required]
    return any(all(simple_kind(part) in ("class", "protocol") for part in choices(hint)) for hint in required)
