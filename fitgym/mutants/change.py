"""A change: a candidate mutant, before `generation` selects the mutants to keep."""

from __future__ import annotations

from dataclasses import dataclass

from fitgym.mutants.mutant import Mutant

__all__ = ["Change"]


@dataclass(frozen=True, slots=True)
class Change:
    """A mutant and its position among the changes of a source.

    Attributes:
        mutant: the mutant.
        order: the sort key in source order: line, column, position of the operator in `PRECEDENCE`, order of the walk.
        rank: 0 for the first replacement of its operator at its place, 1 for the second, and so on.
    """

    mutant: Mutant
    order: tuple[int, int, int, int]
    rank: int
