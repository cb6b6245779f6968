"""The goal of discovering exceptions."""

from __future__ import annotations

from fitgym.engine.queries import Queries
from fitgym.goals.base import Goal

__all__ = ["Exceptions"]


class Exceptions(Goal):
    """Discover as many distinct exceptions as possible.

    The value is the number of distinct exceptions that the run has found. An exception is identified by its class and
    the function of the subject that it leaves (`fitgym.fitness.exception`). The rewards `paper` and `released` are

        exceptions discovered in the whole run + exceptions thrown by the current best suite

    This is a level that seldom falls, so late actions look better than early ones. `growth` and `gain` credit an action
    only with the exceptions that it found.

    References:
        Almulla and Gay 2022, Learning How to Search: Generating Effective Test Cases Through Adaptive Fitness Function
        Selection: the reward, and the eight functions that an action combines, always including exception count.
    """

    fitness = "exception"
    kept = ("exception",)
    functions = (
        "exception",
        "branch",
        "direct_branch",
        "line",
        "method",
        "method_no_exception",
        "output",
        "weak_mutation",
    )
    required = ("exception",)
    catalogue = "paper"
    scale = 10.0

    def value(self, engine: Queries) -> float:
        return float(engine.covered(self.fitness).sum())

    def paper_reward(self, engine: Queries) -> float:
        thrown = engine.covers(self.fitness, engine.best.testcases)
        return self.value(engine) + float(thrown.any(axis=0).sum())
