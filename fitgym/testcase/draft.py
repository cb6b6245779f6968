"""A draft: a test case while it grows at its end."""

from __future__ import annotations

from collections.abc import Container, Iterable

from fitgym.testcase.statement import Statement

__all__ = ["Draft"]


class Draft:
    """Statements of a test case that can only be appended to, so that a reference can only point backwards.

    To insert in the middle, draft the first part, append to it, then append the moved rest.
    """

    __slots__ = ("statements",)

    def __init__(self, statements: Iterable[Statement] = ()) -> None:
        self.statements = list(statements)

    def __len__(self) -> int:
        return len(self.statements)

    def append(self, statement: Statement) -> int:
        """Add a statement; its position."""
        self.statements.append(statement)
        return len(self.statements) - 1

    def results(self, operations: Container[int]) -> list[int]:
        """Positions of the statements that apply one of the `operations`, first one first."""
        return [position for position, statement in enumerate(self.statements) if statement.operation in operations]

    def extend_moved(self, rest: Iterable[Statement], start: int) -> None:
        """Append the statements that stood from position `start` on in the test case whose first part was drafted.

        References to the part before `start` stay; references into the rest move along with it.
        """
        shift = len(self.statements) - start
        if shift == 0:
            self.statements.extend(rest)
            return
        position = {index: index for index in range(start)}
        for offset, statement in enumerate(rest):
            for reference in statement.refs:
                if reference >= start:
                    statement = statement.moved(position)
                    break
            position[start + offset] = start + offset + shift
            self.statements.append(statement)
