"""The goal of a suite whose exported test cases differ from each other."""

from __future__ import annotations

from fitgym.engine.queries import Queries
from fitgym.fitness import mean_diversity
from fitgym.goals.base import REWARDS, Goal
from fitgym.goals.diversity import Diversity

__all__ = ["MeanDiversity"]


class MeanDiversity(Goal):
    """Make the test cases of the exported suite as different from each other as possible.

    D(T) is the mean normalised distance of two test cases in a suite T (`fitgym.fitness.mean_diversity`). T is the
    suite as it would be exported: the smallest suite found that covers all covered branches. The value is the largest
    D(T) so far, in [0, 1]. Unlike the value of `diversity`, more or longer test cases do not raise it by themselves.
    The rewards `paper` and `released` are the current D(T).

    This goal distinguishes agents less well than `diversity`, so it is not the default of `SuiteDiversity-v0`. Between
    six agents on four modules, the agent explains 8 % of the variance, and 45 % with `diversity` (`python
    benchmarks/goal_spread.py`).
    """

    fitness = "mean_diversity"
    kept = ("branch",)
    functions = ("mean_diversity", *(name for name in Diversity.functions if name != Diversity.fitness))
    required = ("mean_diversity",)
    catalogue = "paper"
    unit = 0.01
    highest = 1.0
    paper_range = released_range = (0.0, 1.0)

    def __init__(self, reward: str = REWARDS[0]) -> None:
        super().__init__(reward)
        self._greatest = 0.0

    def value(self, engine: Queries) -> float:
        self._greatest = max(self._greatest, self.paper_reward(engine))
        return self._greatest

    def paper_reward(self, engine: Queries) -> float:
        function = engine.function(self.fitness)
        assert isinstance(function, mean_diversity.MeanDiversity)
        return function.diversity(engine.reduced_suite(self.kept), engine.table)

    def begin(self, engine: Queries) -> None:
        self._greatest = 0.0
        super().begin(engine)
