"""Several goals at once: fitness selection with a reward for each goal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from fitgym.envs.base import GOALS
from fitgym.envs.fitness_selection import FitnessSelection, Observation
from fitgym.errors import InputError
from fitgym.goals._several import Several
from fitgym.goals.base import Goal
from fitgym.run.setting import FitnessOptions

__all__ = ["MultiGoal", "MultiGoalOptions", "MultiGoalVector"]


@dataclass(frozen=True, kw_only=True)
class MultiGoalOptions(FitnessOptions):
    """The options of `MultiGoal`.

    Attributes:
        goals: at least two goals; the fitness function of the first guides the first population.
        weights: weights of the goals' rewards in their sum; None for a reward vector.
    """

    without: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"goal": "there are several goals here, name them in goals"}
    )
    goals: tuple[str, ...] = ("exceptions", "coverage")
    weights: tuple[float, ...] | None = None


class MultiGoal(FitnessSelection):
    """## Description
    Fitness selection for several goals in one search. The goals may conflict: an action that serves one goal may cost
    another.

    ## Action Space
    As in `fitgym.envs.fitness_selection`, over the fitness functions of all goals; "pairs" by default.

    ## Observation Space, Starting State, Episode End
    As in `fitgym.envs.base`. An episode ends early when all goals are reached.

    ## Rewards
    Without `weights`, a vector with the reward of each goal, as in MO-Gymnasium: `float32` of shape `(n_goals,)`.
    `env.unwrapped.reward_space` holds its bounds and `env.unwrapped.reward_dim` its length. With `weights`, the reward
    is the weighted sum, for libraries without reward vectors. `info["rewards"]` holds the vector in either case.

    `gymnasium.make_vec` gives rewards of shape `(num_envs, n_goals)`. Its modes "sync" and "async" support scalar
    rewards only: set `weights` for them, or use `MOSyncVectorEnv` and `MOAsyncVectorEnv` of MO-Gymnasium.

    ## Arguments
    * `goals`: names of at least two goals; the fitness function of the first guides the first population.
    * `weights`: a number for each goal, or None.
    * `subject` and all others of `fitgym.envs.fitness_selection`, without `goal`.

    ## References
    Felten, Alegre, Nowé et al. 2023, A Toolkit for Reliable Benchmarking and Research in Multi-Objective Reinforcement
    Learning: the convention of MO-Gymnasium.

    ## Version History
    * v0: initial version.
    """

    Options: ClassVar[type[MultiGoalOptions]] = MultiGoalOptions
    options: MultiGoalOptions

    def __init__(self, subject: str = "", **options: Any) -> None:
        super().__init__(subject, **options)
        assert isinstance(self.goal, Several)
        low, high = np.array(self.goal.reward_ranges, np.float32).T
        self.reward_space = spaces.Box(low, high, dtype=np.float32)
        self.reward_dim = len(self.options.goals)

    def step(self, action: Any) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Step as `FitnessSelection` does; the reward is a vector unless there are weights."""
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward if self.options.weights else info["rewards"], terminated, truncated, info

    @classmethod
    def for_agents(cls, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options, with weight 1 for each goal unless there are weights."""
        goals = options.get("goals", cls.Options().goals)
        return options if options.get("weights") is not None else {**options, "weights": (1.0,) * len(goals)}

    @property
    def pursued(self) -> str:
        """The goals, joined by +."""
        return "+".join(self.options.goals)

    def _goal(self) -> Goal:
        goals, weights = self.options.goals, self.options.weights
        if len(goals) < 2 or len(set(goals)) < len(goals):
            raise InputError(f"the goals are {list(goals)}, expected at least two and each of them once")
        if weights is not None and (len(weights) != len(goals) or not all(map(math.isfinite, weights))):
            raise InputError(
                f"the weights are {list(weights)}, expected a finite number for each of {len(goals)} goals"
            )
        return Several([GOALS.load(name)(self.options.reward) for name in goals], weights)

    def _info(self) -> dict[str, Any]:
        assert isinstance(self.goal, Several)
        return {**super()._info(), "rewards": self.goal.rewards.astype(np.float32)}


class MultiGoalVector(SyncVectorEnv):
    """Several episodes of `MultiGoal` in one process, for `gymnasium.make_vec`.

    Args:
        num_envs: number of episodes.
        autoreset_mode: when an episode that has ended restarts.
        options: the options of `MultiGoal`.

    Attributes:
        reward_space: the bounds of one reward vector.
    """

    def __init__(
        self, num_envs: int, *, autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP, **options: Any
    ) -> None:
        super().__init__([lambda: MultiGoal(**options)] * num_envs, autoreset_mode=autoreset_mode)
        single = self.envs[0].unwrapped
        assert isinstance(single, MultiGoal)
        self.reward_space = single.reward_space
        if single.options.weights is None:
            self._rewards = np.zeros((num_envs, single.reward_dim), dtype=np.float32)
