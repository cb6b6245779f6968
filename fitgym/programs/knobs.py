"""Knobs: the parameters of generated programs."""

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
    """The distribution of generated programs. A pair is the smallest and the largest value, both included.

    Attributes:
        parts: functions and classes of a program.
        locks: weight of each kind of lock, see `fitgym.programs.locks`; the weights need not sum to 1.
        depth: levels of a lock. Each level narrows the accepted range to about a third.
        scale: maximum distance of a lock's solution from 0; a larger scale makes the search longer.
        treasure: decisions behind a lock, whose branches are easy to cover once it is open.
        decoys: decisions with an impossible outcome, before a dead lock. Before other locks there are at most as many
            as the smaller number. They distract a search that pursues every target.
        raises: share of the treasures with a further branch that raises an exception.
        telling: probability that a lock looks like its kind, in [0, 1]; at 0.5 the appearance gives no information.
        open_rate: share of the parts without a lock.
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
            raise InputError(f"no lock named '{min(unknown)}': expected one of {', '.join(LOCKS)}")
        if not self.locks or min(self.locks.values()) < 0.0 or sum(self.locks.values()) <= 0.0:
            raise InputError(f"locks is {dict(self.locks)}, expected weights of at least 0, one of them above 0")


HARD: Final = Knobs()
"""Twelve parts, most of them with a dead lock; a lock looks like its kind with probability 0.8."""

EASY: Final = Knobs(parts=(8, 8), locks=MappingProxyType({"slope": 1.0, "dead": 2.0}), telling=1.0)
"""Eight parts with slopes and dead locks only, which their appearance distinguishes: for first experiments."""
