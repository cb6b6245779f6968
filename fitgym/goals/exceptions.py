"""The goal of discovering exceptions."""

from __future__ import annotations

from fitgym.engine.queries import Queries
from fitgym.goals.base import Goal

__all__ = ["Exceptions"]


class Exceptions(Goal):
    """Discover as many distinct exceptions as possible.

    The value is the number of distinct exceptions that the run has seen so far, an exception being a class and the
    function of the subject that it comes out of (`fitgym.fitness.exception`). Of the rewards, `paper` and `released` are

        exceptions discovered in the whole run + exceptions thrown by the current best suite

    This is a level: it seldom falls, so that late actions look better than early ones. `growth` and `gain` credit an
    action with what it found.

    References:
        Almulla and Gay 2022, Learning How to Search: Generating Effective Test Cases Through Adaptive Fitness Function
        Selection: the reward, and the eight functions that an action combines, exception count always among them.
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
