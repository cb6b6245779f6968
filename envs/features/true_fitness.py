"""True fitness: how far the best suite is from the targets of each function, active or not."""

from __future__ import annotations

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View

__all__ = ["TrueFitness"]


class TrueFitness(Block):
    """The best suite's fitness for each function, in [0, 1]; 0 is best. 1 for functions without measurements."""

    def names(self, view: View) -> list[str]:
        return [f"true_fitness_{name}" for name in view.functions]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        best = engine.best
        return [engine.fitness_of(name, best) if engine.measures(name) else 1.0 for name in view.functions]
