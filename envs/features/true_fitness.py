"""True fitness: how far the result is from the targets of each function, active or not."""

from __future__ import annotations

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View

__all__ = ["TrueFitness"]


class TrueFitness(Block):
    """The suite fitness of the archive and the best suite together, for each function, in [0, 1]; 0 is best.

    A function that reads test cases, such as diversity, values the best suite. 1 for functions without measurements. The
    best suite alone would tell which function is active: the algorithm picks the best suite by that function.
    """

    def names(self, view: View) -> list[str]:
        return [f"true_fitness_{name}" for name in view.functions]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        return [engine.kept_fitness(name) if engine.measures(name) else 1.0 for name in view.functions]
