"""A draft: a test case while it grows at its end."""

from __future__ import annotations

from collections.abc import Container, Iterable

from fitgym.subject.code.patterns import Chance
from fitgym.testcase.statement import Statement

__all__ = ["Draft"]


class Draft(list[Statement]):
    """Statements of a test case that are only appended to, so that a reference can only point backwards.

    To insert in the middle, draft the first part, append to it, then append the moved rest.
    """

    __slots__ = ()

    def results(self, operations: Container[int]) -> list[int]:
        """Positions of the statements that apply one of the `operations`, first one first."""
        return [position for position, statement in enumerate(self) if statement.operation in operations]

    def result(self, operations: Container[int], rng: Chance) -> int:
        """The position of one of these statements, chosen uniformly; -1 if there is none."""
        positions = self.results(operations)
        return positions[int(rng.random() * len(positions))] if positions else -1

    def extend_moved(self, rest: Iterable[Statement], start: int) -> None:
        """Append the statements that stood from position `start` on in the test case whose first part was drafted.

        References to the part before `start` stay; references into the rest move along with it.
        """
        shift = len(self) - start
        for statement in rest:
            refs = statement.refs
            self.append(statement.shifted(start, shift) if shift and refs and max(refs) >= start else statement)
