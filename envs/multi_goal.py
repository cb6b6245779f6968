"""Several goals at once: fitness selection with a reward for each goal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from fitgym.envs.fitness_selection import GOALS, FitnessSelection, Observation
from fitgym.errors import InputError
from fitgym.goals._several import Several
from fitgym.goals.base import Goal

__all__ = ["MultiGoal"]


class MultiGoal(FitnessSelection):
    """## Description
    Fitness selection for several goals that are pursued in one search: what helps one may harm another.

    ## Action Space
    As in `fitgym.envs.fitness_selection`, over the fitness functions of all goals; by default "pairs" of them.

    ## Observation Space, Starting State, Episode End
    As in `fitgym.envs.fitness_selection`. It ends early when all goals are reached.

    ## Rewards
    Without `weights` a vector with the reward of each goal, as MO-Gymnasium has it: `float32` of shape `(n_goals,)`,
    with the bounds `env.unwrapped.reward_space` and its length `env.unwrapped.reward_dim`. With `weights` their weighted
    sum, for libraries that know no other; the vector is in `info["rewards"]` in either case.

    ## Arguments
    * `goals`: names of at least two goals; the fitness function of the first guides the first population.
    * `weights`: a number for each goal, or None.
    * `subject` and all others of `FitnessSelection`, but for `goal`.

    ## References
    Felten, Alegre, Nowé et al. 2023, A Toolkit for Reliable Benchmarking and Research in Multi-Objective Reinforcement
    Learning: the convention of MO-Gymnasium.

    ## Version History
    * v0: initial version.
    """

    def __init__(
        self,
        subject: str,
        *,
        goals: Sequence[str] = ("exceptions", "coverage"),
        weights: Sequence[float] | None = None,
        **options: Any,
    ) -> None:
        if "goal" in options:
            raise InputError("there are several goals here: use `goals`")
        if len(goals) < 2 or len(set(goals)) < len(goals):
            raise InputError(f"the goals are {list(goals)}, expected at least two and each of them once")
        if weights is not None and (len(weights) != len(goals) or not all(map(math.isfinite, weights))):
            raise InputError(
                f"the weights are {list(weights)}, expected a finite number for each of {len(goals)} goals"
            )
        self.goals = tuple(goals)
        self.weights = None if weights is None else tuple(map(float, weights))
        super().__init__(subject, **options)
        assert isinstance(self.goal, Several)
        low, high = np.array(self.goal.reward_ranges, np.float32).T
        self.reward_space = spaces.Box(low, high, dtype=np.float32)
        self.reward_dim = len(goals)

    def step(self, action: Any) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """As of `FitnessSelection`, with a vector for a reward unless there are weights."""
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward if self.weights else info["rewards"], terminated, truncated, info

    def record(self) -> dict[str, Any]:
        """As of `FitnessSelection`, with the goals in the place of one; rewards are the weighted sums."""
        return {**super().record(), "goal": list(self.goals), "weights": self.weights and list(self.weights)}

    def _goal(self, goal: str, reward: str) -> Goal:
        return Several([GOALS.load(name)(reward) for name in self.goals], self.weights)

    def _pursued(self) -> str:
        return "+".join(self.goals)

    def _info(self) -> dict[str, Any]:
        assert isinstance(self.goal, Several)
        return {**super()._info(), "rewards": self.goal.rewards.astype(np.float32)}
