"""Stagnation: the number of steps without a rise of the goal's value."""

from __future__ import annotations

from typing import ClassVar

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View, squash

__all__ = ["Stagnation"]


class Stagnation(Block):
    """s / (s + 10) for s steps since the goal's value last rose."""

    reads_inactive: ClassVar[bool] = False

    def names(self, view: View) -> list[str]:
        return ["stagnation"]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        return [squash(float(moment.stagnation), 10.0)]
