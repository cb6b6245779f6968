"""Knobs: what generated programs are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from fitgym.errors import InputError
from fitgym.programs.locks import LOCKS

__all__ = ["EASY", "HARD", "Knobs"]


@dataclass(frozen=True, kw_only=True)
class Knobs:
    """The distribution that programs are drawn from. A pair holds the smallest and the largest value, both included.

    Attributes:
        parts: functions and classes of a program.
        locks: how often each kind of lock is drawn, see `fitgym.programs.locks`; they need not sum to 1.
        depth: levels of a lock. Each narrows what is let through to about a third.
        scale: how far the solution of a lock can be from 0; the larger, the longer a search needs.
        treasure: decisions behind a lock, whose branches are easy to cover once it is open.
        decoys: decisions with an outcome that is impossible, ahead of a dead lock; ahead of others there are at most as
            many as the smaller number. They take the attention of a search that pursues everything.
        raises: share of the treasures with a further branch that raises an exception.
        telling: probability that a lock looks like its kind, in [0, 1]; with 0.5 looks tell nothing.
        open_rate: share of the parts that have no lock.
    """

    parts: tuple[int, int] = (12, 12)
    locks: Mapping[str, float] = field(
        default_factory=lambda: MappingProxyType({"slope": 3.0, "plateau": 1.0, "dead": 8.0})
    )
    depth: tuple[int, int] = (2, 4)
    scale: int = 250
    treasure: tuple[int, int] = (2, 8)
    decoys: tuple[int, int] = (0, 8)
    raises: float = 0.3
    telling: float = 0.8
    open_rate: float = 0.05

    def __post_init__(self) -> None:
        for name in ("parts", "depth", "treasure"):
            low, high = getattr(self, name)
            if not 1 <= low <= high:
                raise InputError(f"{name} is {(low, high)}, expected two whole numbers with 1 <= first <= second")
        for name in ("raises", "telling", "open_rate"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InputError(f"{name} is {getattr(self, name)}, expected a share from 0 to 1")
        if self.scale < 100:
            raise InputError(f"scale is {self.scale}, expected at least 100")
        if unknown := self.locks.keys() - LOCKS.keys():
            raise InputError(f"there is no lock '{min(unknown)}': expected {', '.join(LOCKS)}")
        if not self.locks or min(self.locks.values()) < 0.0 or sum(self.locks.values()) <= 0.0:
            raise InputError(f"locks is {dict(self.locks)}, expected a number of at least 0 each, and not 0 for all")


HARD: Final = Knobs()
"""Twelve parts, most of them with a lock that nothing opens; looks tell with probability 0.8."""

EASY: Final = Knobs(parts=(8, 8), locks=MappingProxyType({"slope": 1.0, "dead": 2.0}), telling=1.0)
"""Eight parts with slopes and dead locks only, which their looks tell apart: for first experiments."""
