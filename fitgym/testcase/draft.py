"""A draft: a test case under construction, which grows at its end."""

from __future__ import annotations

from collections.abc import Container, Iterable

from fitgym.chance import Chance
from fitgym.testcase.statement import Statement

__all__ = ["Draft", "NoRoom"]


class NoRoom(Exception):
    """A draft has no room for the statements that build an object."""


class Draft(list[Statement]):
    """Statements of a test case that are only appended, so that references point backwards.

    To insert in the middle, draft the first part, append to it, then append the moved rest.
    """

    __slots__ = ()

    def results(self, operations: Container[int]) -> list[int]:
        """Return the positions of the statements that apply one of the `operations`, in order."""
        return [position for position, statement in enumerate(self) if statement.operation in operations]

    def result(self, operations: Container[int], rng: Chance) -> int:
        """Return the position of one of these statements, chosen uniformly; -1 if there is none."""
        positions = self.results(operations)
        return positions[int(rng.random() * len(positions))] if positions else -1

    def extend_moved(self, rest: Iterable[Statement], start: int, shift: int) -> None:
        """Append the rest of the test case whose first part was drafted.

        Args:
            rest: the statements to append.
            start: references to positions from `start` on are shifted; those before stay the same.
            shift: how many positions they move.
        """
        for statement in rest:
            refs = statement.refs
            # An unaffected statement stays the same object, see `StatementTable.descendant`.
            self.append(statement.shifted(start, shift) if shift and refs and max(refs) >= start else statement)
