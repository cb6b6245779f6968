"""Fitness of each function."""

from __future__ import annotations

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View

__all__ = ["FitnessEach"]


class FitnessEach(Block):
    """The best suite's fitness for each active function; 1 for inactive functions, whose probes may be off."""

    def names(self, view: View) -> list[str]:
        return [f"fitness_{name}" for name in view.functions]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        best, active = engine.best, engine.active
        return [engine.fitness_of(name, best) if name in active else 1.0 for name in view.functions]
