"""Dependencies between the statements of a test case."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fitgym.testcase.statement import Statement

__all__ = ["connected", "needed", "without", "without_orphans"]


def connected(statements: Sequence[Statement]) -> list[list[int]]:
    """Return the positions of the statements as connected components of the dependency graph, each in order."""
    part = list(range(len(statements)))
    for position, statement in enumerate(statements):
        joined = {part[position], *(part[used] for used in statement.refs)}
        part = [min(joined) if number in joined else number for number in part]
    return [[position for position, number in enumerate(part) if number == one] for one in sorted(set(part))]


def needed(statements: Sequence[Statement], position: int) -> list[int]:
    """Return the position of a statement and of all statements that it needs directly or indirectly, in order."""
    keep = {position}
    for index in range(position, -1, -1):
        if index in keep:
            keep.update(statements[index].refs)
    return sorted(keep)


def without_orphans(
    before: Sequence[Statement], after: Sequence[Statement], may_go: Callable[[Statement], bool]
) -> list[int]:
    """Return the positions left after a change of arguments.

    A statement goes if its result was used before, is not used by a statement that stays, and `may_go` allows it.
    """
    had_use = {used for statement in before for used in statement.refs}
    has_use: set[int] = set()
    keep = []
    for position in range(len(after) - 1, -1, -1):
        if position not in had_use or position in has_use or not may_go(after[position]):
            has_use.update(after[position].refs)
            keep.append(position)
    return keep[::-1]


def without(statements: Sequence[Statement], position: int) -> list[int]:
    """Return the positions left after removing the statement at `position` and all statements that need it."""
    gone = {position}
    for index in range(position + 1, len(statements)):
        if any(used in gone for used in statements[index].refs):
            gone.add(index)
    return [index for index in range(len(statements)) if index not in gone]
