"""True fitness: the distance of the result from the targets of each function, active or not."""

from __future__ import annotations

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View

__all__ = ["TrueFitness"]


class TrueFitness(Block):
    """The suite fitness of the archive and the best suite together, for each function, in [0, 1]; 0 is best.

    For a function that reads test cases, such as diversity, only the best suite counts. Functions without measurements
    get 1. The best suite alone would reveal the active function, because the algorithm selects it by that function.
    """

    def names(self, view: View) -> list[str]:
        return [f"true_fitness_{name}" for name in view.functions]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        return [engine.kept_fitness(name) if engine.measures(name) else 1.0 for name in view.functions]
