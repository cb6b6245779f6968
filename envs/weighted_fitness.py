"""Weighted fitness: at every step an agent weighs the fitness functions that guide the search."""

from __future__ import annotations

from typing import ClassVar

from fitgym.envs.action.activate import Weights
from fitgym.envs.action.base import ActionSpace
from fitgym.envs.base import SearchEnv
from fitgym.run.setting import SearchOptions

__all__ = ["WeightedFitness"]


class WeightedFitness(SearchEnv):
    """## Description
    A genetic algorithm evolves a test suite for a Python module. Every few generations the agent weighs the fitness
    functions of the goal. It is rewarded for progress towards the goal.

    ## Action Space
    `Box(-1, 1, (n,))`, a number for each fitness function, `env.unwrapped.action_names`. Entry x gives a function the
    weight (1 + x) / 2 in the sum that guides the search. A function is inactive at -1. If every entry is -1, nothing
    changes.

    ## Observation Space, Rewards, Starting State, Episode End, Arguments
    As in `fitgym.envs.base`.

    ## Version History
    * v0: initial version.
    """

    Options: ClassVar[type[SearchOptions]] = SearchOptions

    def _actions(self) -> ActionSpace:
        whose = self.pursued if self.options.functions is None else ", ".join(self.goal.functions)
        return Weights(self.goal.functions, f"weights of {whose}")
