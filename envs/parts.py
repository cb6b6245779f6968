"""Parts: the groups of a subject that a search can focus on, with the progress of a run on each."""

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
"""The number of parts that are offered at a time."""

_FAR = 1e6  # branch distances from here on count as unreached


@dataclass(frozen=True, slots=True)
class Part:
    """The progress of a run on one part.

    Attributes:
        size: number of branches; 0 for an empty slot.
        covered: share of its branches that the archive covers, in [0, 1].
        distance: distance to its nearest open branch, in [0, 1]: ln(1 + d) / ln(1 + 10^6) for the branch distance d of
            the closest kept test case; 1 if no test case reaches the decision, 0 if no branch is open.
        gain: the rise of `covered` in its last slice.
        approach: the fall of `distance` in its last slice; 1 if that slice covered a branch.
        spent: number of slices spent on it.
        idle: number of slices spent on it since the last slice with a gain or an approach.
        nesting, ahead: properties of its code, see `fitgym.evolution.groups.Group`.
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
        """Whether it has uncovered branches."""
        return self.covered < 1.0

    @property
    def left(self) -> float:
        """The number of its uncovered branches."""
        return self.size * (1.0 - self.covered)


def slots(subject: Subject, n: int) -> tuple[Group | None, ...]:
    """Assign the groups of a subject to n slots, in source order; None marks an empty slot.

    If there are more than n groups, the n - 1 with the most branches get their own slots. The last slot merges all
    others.
    """
    found = groups(subject)
    if len(found) > n:
        largest = sorted(found, key=lambda group: -group.size)[: n - 1]
        rest = [group for group in found if group not in largest]
        found = (*(group for group in found if group in largest), _together(rest))
    return (*found, *([None] * (n - len(found))))


class Parts:
    """Tracks a run part by part. A slice is the generations of one decision.

    Args:
        parts: the content of the slots, see `slots`.
        engine: the engine of the run, after its first generation.

    Attributes:
        seen: the state of each slot, followed by the state of the whole subject.
        last: number of the part of the last slice; `len(parts)` for the whole subject, -1 before the first slice.
        offers: numbers of `OFFERS` open parts with few slices. A part that is offered but not taken moves behind the
            other parts with equally few slices.
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
        self._measured: list[tuple[int, float]] = [(-1, np.inf)] * len(self.seen)  # covered branches, smallest distance
        self._measure(engine)
        self.offers = self._offer()

    def note(self, number: int, engine: Queries) -> None:
        """Record that a slice was spent on a part."""
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
        """The number that stands for the whole subject."""
        return len(self.groups)

    @property
    def open(self) -> list[int]:
        """The numbers of the parts with open branches, without the whole subject."""
        return [number for number, part in enumerate(self.seen[:-1]) if part.open]

    def _offer(self) -> list[int]:
        found = [number for number in self.open if number != self.last] or self.open or [self.whole]
        found.sort(
            key=lambda number: (
                (self.seen[number].spent, self._offered[number], number) if number < self.whole else (0, 0, 0)
            )
        )
        return (found * OFFERS)[:OFFERS]  # repeated if there are fewer parts than offers

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
    """Return the part with `count` covered branches and `distance` to its nearest open branch."""
    covered = count / part.size if part.size else 1.0
    return replace(part, covered=covered, distance=distance if covered < 1.0 else 0.0)


def _scaled(distances: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Rescale normalised branch distances d / (d + 1) to ln(1 + d) / ln(1 + 10^6); 1 for decisions not reached."""
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
