"""The goal of a diverse suite."""

from __future__ import annotations

from fitgym.engine.queries import Queries
from fitgym.fitness import diversity
from fitgym.goals.base import REWARDS, Goal

__all__ = ["Diversity"]


class Diversity(Goal):
    """Make the test cases of a suite as different from each other as possible.

    div(T) is the sum of the Levenshtein distances between the test cases of a suite T (`fitgym.fitness.diversity`). The
    value is the largest div(T) of the best suite, over all evaluations of the value since the run began. The best suite
    is the best under the active functions, so its own div can fall; the value cannot. The rewards are

        paper     f(T) before - f(T) now, with f(T) = 1 / (1 + div(T)) of the best suite: the change of the fitness
                  score, positive for an improvement
        released  div of the best suite itself, as in the code released with the paper

    The paper's reward is below 0.001 as soon as div exceeds 1000, which takes only a few test cases; `growth` and
    `gain` do not shrink.

    The value depends on the size of the suite: every further test case or statement raises it. The value of
    `mean_diversity` does not.

    Diversity has no targets. As published, the final suite therefore keeps the entered operations covered. It is
    minimised for this coverage, so it is much less diverse than the suite that the value measures.

    References:
        Almulla and Gay 2022, Learning How to Search: Generating Effective Test Cases Through Adaptive Fitness Function
        Selection, section 3.4.2: the reward, the eight functions that an action combines, always including diversity,
        and the targets of method coverage.
    Differs from EvoSuite as released with it, whose div is the variant that `fitgym.fitness.diversity` calls
    `last_two`.
    """

    fitness = "diversity"
    kept = ("method",)
    functions = (
        "diversity",
        "exception",
        "branch",
        "direct_branch",
        "method",
        "method_no_exception",
        "output",
        "weak_mutation",
    )
    required = ("diversity",)
    catalogue = "paper-diversity"
    unit = 1_000.0
    scale = 1_000_000.0
    paper_range = (-1.0, 1.0)

    def __init__(self, reward: str = REWARDS[0]) -> None:
        super().__init__(reward)
        self._greatest = 0.0
        self._before = 1.0

    def value(self, engine: Queries) -> float:
        self._greatest = max(self._greatest, float(_div(engine)))
        return self._greatest

    def paper_reward(self, engine: Queries) -> float:
        now = engine.fitness_of(self.fitness, engine.best)
        fall, self._before = self._before - now, now
        return fall

    def released_reward(self, engine: Queries) -> float:
        return float(_div(engine))

    def begin(self, engine: Queries) -> None:
        self._greatest = 0.0
        self._before = engine.fitness_of(self.fitness, engine.best)
        super().begin(engine)


def _div(engine: Queries) -> int:
    """Return div of the best suite: the sum of its distances."""
    function = engine.function(Diversity.fitness)
    assert isinstance(function, diversity.Diversity)
    return function.diversity(engine.best.testcases, engine.table)
