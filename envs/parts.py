"""Parts: the groups of a subject that a search can be focused on, and what a run has made of each so far."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from fitgym.engine.queries import Queries
from fitgym.evolution.groups import Group, groups
from fitgym.subject.subject import Subject

__all__ = ["OFFERS", "Part", "Parts", "slots"]

OFFERS: Final = 3
"""How many parts are offered at a time."""

_FAR = 1e6  # a branch distance that counts as infinitely far


@dataclass(frozen=True, slots=True)
class Part:
    """What a run has made of one part so far.

    Attributes:
        size: number of branches; 0 for a slot without a part.
        covered: share of its branches that the archive covers, in [0, 1].
        distance: how far the nearest of its open branches is, in [0, 1]: ln(1 + d) / ln(1 + 10^6) for the branch distance
            d of the nearest kept test case, 1 if none reaches the decision, 0 if no branch is open.
        gain: by how much `covered` rose in its last slice.
        approach: by how much `distance` fell in its last slice; a branch that was covered in it counts as 1.
        spent: slices that were spent on it.
        idle: slices spent on it since the last one that brought a gain or came nearer.
        nesting, ahead: what its code looks like, see `fitgym.evolution.groups.Group`.
    """

    size: int = 0
    covered: float = 1.0
    distance: float = 0.0
    gain: float = 0.0
    approach: float = 0.0
    spent: int = 0
    idle: int = 0
    nesting: int = 0
    ahead: int = 0

    @property
    def open(self) -> bool:
        """It has branches that are not covered."""
        return self.covered < 1.0

    @property
    def left(self) -> float:
        """The number of its open branches."""
        return self.size * (1.0 - self.covered)


def slots(subject: Subject, n: int) -> tuple[Group | None, ...]:
    """The groups of a subject in n slots, in the order of the source; None for a slot that is left over.

    Of more groups the n - 1 with the most branches have a slot of their own, and the last slot has all others together.
    """
    found = groups(subject)
    if len(found) > n:
        largest = sorted(found, key=lambda group: -group.size)[: n - 1]
        rest = [group for group in found if group not in largest]
        found = (*(group for group in found if group in largest), _together(rest))
    return (*found, *([None] * (n - len(found))))


class Parts:
    """Follows a run part by part. A slice is the generations of one decision.

    Args:
        parts: what the slots hold, see `slots`.
        engine: of the run, after its first generation.

    Attributes:
        seen: the state of each slot, then that of the whole subject.
        last: number of the part of the last slice, `len(parts)` for the whole subject, -1 before the first.
        offers: parts with few slices that may be worth a try, `OFFERS` numbers. One that is offered and not taken goes to
            the end of those with as few.
    """

    def __init__(self, parts: Sequence[Group | None], engine: Queries) -> None:
        self.groups = tuple(parts)
        self.last = -1
        whole = np.ones(len(engine.subject.branches), dtype=bool)
        nothing = np.zeros_like(whole)
        self._masks = np.array([*(nothing if part is None else part.branches for part in parts), whole])
        self._sizes = self._masks.sum(axis=1).tolist()
        shapes = [(0, 0) if part is None else (part.nesting, part.ahead) for part in (*parts, None)]
        self.seen = [
            Part(size=size, nesting=nesting, ahead=ahead)
            for size, (nesting, ahead) in zip(self._sizes, shapes, strict=True)
        ]
        self._offered = [0] * len(parts)
        self._measured: list[tuple[int, float]] = [(-1, np.inf)] * len(self.seen)  # covered branches, least distance
        self._measure(engine)
        self.offers = self._offer()

    def note(self, number: int, engine: Queries) -> None:
        """A slice has been spent on a part."""
        before = self.seen
        self._measure(engine)
        old, new = before[number], self.seen[number]
        gain = new.covered - old.covered
        approach = 1.0 if gain > 0.0 else max(0.0, old.distance - new.distance)
        idle = 0 if gain > 0.0 or approach > 0.0 else old.idle + 1
        self.seen[number] = replace(new, gain=gain, approach=approach, spent=old.spent + 1, idle=idle)
        self.last = number
        for other in self.offers:
            if other not in (number, self.whole):
                self._offered[other] += 1
        self.offers = self._offer()

    @property
    def whole(self) -> int:
        """The number of the whole subject."""
        return len(self.groups)

    @property
    def open(self) -> list[int]:
        """The numbers of the parts with open branches, that of the whole subject left out."""
        return [number for number, part in enumerate(self.seen[:-1]) if part.open]

    def _offer(self) -> list[int]:
        found = [number for number in self.open if number != self.last] or self.open or [self.whole]
        found.sort(
            key=lambda number: (
                (self.seen[number].spent, self._offered[number], number) if number < self.whole else (0, 0, 0)
            )
        )
        return (found * OFFERS)[:OFFERS]

    def _measure(self, engine: Queries) -> None:
        covered = engine.covered("branch")
        distances = np.where(covered, np.inf, _scaled(engine.least_distances("branch")))
        counts = self._masks @ covered.astype(np.int64)
        least = np.where(self._masks, distances, np.inf).min(axis=1, initial=np.inf)
        measured = list(zip(counts.tolist(), least.tolist(), strict=True))
        self.seen = [
            part if now == before else _measured(part, *now)
            for part, now, before in zip(self.seen, measured, self._measured, strict=True)
        ]
        self._measured = measured


def _measured(part: Part, count: int, distance: float) -> Part:
    """The part with so many covered branches, of which the nearest open one is so far."""
    covered = count / part.size if part.size else 1.0
    return replace(part, covered=covered, distance=distance if covered < 1.0 else 0.0)


def _scaled(distances: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Normalised branch distances d / (d + 1) as ln(1 + d) / ln(1 + 10^6), at most 1; 1 where the decision is not reached."""
    within = np.minimum(distances, 1.0 - 1.0 / (1.0 + _FAR))
    return np.where(distances >= 1.0, 1.0, -np.log1p(-within) / math.log1p(_FAR))


def _together(parts: Sequence[Group]) -> Group:
    return Group(
        "others",
        frozenset().union(*(part.operations for part in parts)),
        frozenset().union(*(part.functions for part in parts)),
        np.logical_or.reduce([part.branches for part in parts]),
        max(part.nesting for part in parts),
        max(part.ahead for part in parts),
    )
