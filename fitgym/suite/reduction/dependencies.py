"""Dependencies: which statements of a test case use the results of which others."""

from __future__ import annotations

from collections.abc import Sequence

from fitgym.testcase.statement import Statement

__all__ = ["connected", "needed", "without"]


def connected(statements: Sequence[Statement]) -> list[list[int]]:
    """Positions of the statements in parts of which none uses a result of another, each in order."""
    part = list(range(len(statements)))
    for position, statement in enumerate(statements):
        joined = {part[position], *(part[used] for used in statement.refs)}
        part = [min(joined) if number in joined else number for number in part]
    return [[position for position, number in enumerate(part) if number == one] for one in sorted(set(part))]


def needed(statements: Sequence[Statement], position: int) -> list[int]:
    """Positions of the statement at `position` and of all it needs directly or indirectly, in order."""
    keep = {position}
    for index in range(position, -1, -1):
        if index in keep:
            keep.update(statements[index].refs)
    return sorted(keep)


def without(statements: Sequence[Statement], position: int) -> list[int]:
    """Positions that are left when the statement at `position` goes and takes along all that need it."""
    gone = {position}
    for index in range(position + 1, len(statements)):
        if any(used in gone for used in statements[index].refs):
            gone.add(index)
    return [index for index in range(len(statements)) if index not in gone]
