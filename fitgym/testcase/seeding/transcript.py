"""A transcript: the statements translated so far, and the classes of their results."""

from __future__ import annotations

from collections.abc import Sequence

from fitgym.subject.subject import Operation
from fitgym.testcase.expression import Expression, Ref
from fitgym.testcase.knowledge import parameter_of
from fitgym.testcase.seeding.glossary import Glossary
from fitgym.testcase.statement import Statement

__all__ = ["Transcript"]


class Transcript:
    """Statements in order, each valid for the signature of its operation.

    Args:
        glossary: of the subject.

    Attributes:
        statements: without those that raise on purpose.
        raising: for each of these, the statements up to and including it.
    """

    def __init__(self, glossary: Glossary) -> None:
        self._glossary = glossary
        self._owners: list[str] = []  # class of the result of each statement
        self.statements: list[Statement] = []
        self.raising: list[list[Statement]] = []

    def __len__(self) -> int:
        return len(self.statements)

    def set_aside(self, before: int) -> bool:
        """Remove the statements added after the first `before`, because they raise. Returns whether there were any."""
        if len(self.statements) == before:
            return False
        self.raising.append(list(self.statements))
        del self.statements[before:], self._owners[before:]
        return True

    def owner(self, receiver: Ref) -> str:
        """Return the class of the result of a statement, "" if it is unknown."""
        return self._owners[receiver.position]

    def apply(self, special: str, receiver: object, arguments: Sequence[Expression]) -> Ref | None:
        """Append a special method of an object, if its class is known and has it."""
        if not isinstance(receiver, Ref) or not self.owner(receiver):
            return None
        return self.member(("operator",), special, receiver, tuple(arguments), ())

    def member(
        self,
        kinds: tuple[str, ...],
        name: str,
        receiver: Ref,
        args: tuple[Expression, ...],
        kwargs: tuple[tuple[str, Expression], ...],
    ) -> Ref | None:
        """Append a use of a member of an object, if the glossary finds an operation for it."""
        operation = self._glossary.member(kinds, name, self.owner(receiver))
        return None if operation is None else self.append(operation, receiver.position, args, kwargs)

    def append(
        self,
        operation: Operation,
        receiver: int,
        args: tuple[Expression, ...],
        kwargs: tuple[tuple[str, Expression], ...],
    ) -> Ref | None:
        """Append a call, unless it does not fit the signature."""
        places: list[int | str] = [*range(len(args)), *(name for name, _ in kwargs)]
        bound = [parameter_of(operation, place) for place in places]
        names = [one.name for one in bound if one is not None and not one.kind.startswith("var")]
        required = {
            one.name
            for one in operation.parameters
            if one.required and one.kind not in ("var_positional", "var_keyword")
        }
        # Variable parameters of helpers are not described: a search never uses them, but an example may.
        if (None in bound and operation.is_entry_point) or len(set(names)) < len(names) or not required <= set(names):
            return None
        self.statements.append(Statement(operation.id, receiver, args, kwargs))
        self._owners.append(self._glossary.returned(operation))
        return Ref(len(self.statements) - 1)
