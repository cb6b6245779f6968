"""Fitness: how far the best suite is from the targets of the active functions."""

from __future__ import annotations

from typing import ClassVar

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View

__all__ = ["CombinedFitness"]


class CombinedFitness(Block):
    """The best suite's fitness, averaged over the active functions; 0 is best."""

    reads_inactive: ClassVar[bool] = False

    def names(self, view: View) -> list[str]:
        return ["fitness"]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        best, active = engine.best, engine.active
        return [sum([engine.fitness_of(name, best) for name in active]) / len(active)]
