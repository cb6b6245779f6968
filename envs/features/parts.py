"""Parts: the progress on each part of the subject that the search can focus on."""

from __future__ import annotations

from typing import ClassVar

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View, squash

__all__ = ["Parts"]


class Parts(Block):
    """Nine numbers for each part and for the whole subject; see `fitgym.envs.parts.Part`.

    | feature | meaning |
    |---|---|
    | covered | share of its branches that the archive covers |
    | distance | distance to its nearest open branch, on a logarithmic scale |
    | gain | rise of `covered` in its last slice, x / (x + 0.1) |
    | approach | fall of `distance` in its last slice, x / (x + 0.05) |
    | spent | slices spent on it, x / (x + 2) |
    | idle | slices spent on it since its last progress, x / (x + 1) |
    | size | number of branches, x / (x + 20); 0 for an empty slot |
    | nesting | nesting depth of decisions in its code, x / (x + 4) |
    | ahead | statements before the first decision of a function, minus one, x / (x + 1) |

    Only environments with a focus have parts; in others the block is empty.
    """

    reads_inactive: ClassVar[bool] = False

    def names(self, view: View) -> list[str]:
        what = ("covered", "distance", "gain", "approach", "spent", "idle", "size", "nesting", "ahead")
        return [f"{name}_{part}" for part in view.slots for name in what]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        return [
            number
            for part in moment.slots
            for number in (
                part.covered,
                part.distance,
                squash(part.gain, 0.1),
                squash(part.approach, 0.05),
                squash(part.spent, 2.0),
                squash(part.idle, 1.0),
                squash(part.size, 20.0),
                squash(part.nesting, 4.0),
                squash(max(0, part.ahead - 1), 1.0),
            )
        ]
