"""Goal: the progress towards the testing goal."""

from __future__ import annotations

from typing import ClassVar

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View, squash

__all__ = ["GoalValue"]


class GoalValue(Block):
    """v / (v + scale) for the value v of the goal and its scale."""

    reads_inactive: ClassVar[bool] = False

    def names(self, view: View) -> list[str]:
        return ["goal"]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        return [squash(moment.value, moment.scale)]
