"""Several goals in one search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from fitgym.engine.queries import Queries
from fitgym.goals.base import Goal

__all__ = ["Several"]


class Several(Goal):
    """Several goals pursued together, with the targets and functions of all goals and a reward for each.

    Values of different goals have different units, so the combined value is the mean over the goals of v / (v + scale),
    in [0, 1). The reward is the sum of the goals' rewards, weighted by `weights`.

    Args:
        goals: at least one goal, each with its own kind of reward.
        weights: weights of the rewards in the sum; 1 for each by default.
    """

    def __init__(self, goals: Sequence[Goal], weights: Sequence[float] | None = None) -> None:
        super().__init__(goals[0].reward_name)
        self.goals = tuple(goals)
        self.weights = np.ones(len(goals)) if weights is None else np.array(weights, np.float64)
        self.fitness = goals[0].fitness
        self.kept = _union(goal.kept for goal in goals)
        self.tracked = _union((goal.fitness, *goal.kept, *goal.tracked) for goal in goals)
        self.functions = _union(goal.functions for goal in goals)
        self.rewards: NDArray[np.float64] = np.zeros(len(goals))

    def value(self, engine: Queries) -> float:
        values = [(goal.value(engine), goal.scale) for goal in self.goals]
        return float(np.mean([value / (value + scale) for value, scale in values]))

    def begin(self, engine: Queries) -> None:
        for goal in self.goals:
            goal.begin(engine)
        self.rewards = np.zeros(len(self.goals))

    def reward(self, engine: Queries) -> float:
        """Return the weighted sum of the rewards; `rewards` holds the reward of each goal."""
        self.rewards = np.array([goal.reward(engine) for goal in self.goals])
        return float(self.rewards @ self.weights)

    @property
    def reward_ranges(self) -> list[tuple[float, float]]:
        """The lowest and highest reward of each goal."""
        return [goal.reward_range for goal in self.goals]

    @property
    def reward_range(self) -> tuple[float, float]:
        weighted = zip(self.reward_ranges, self.weights.tolist(), strict=True)
        ends = [sorted((low * weight, high * weight)) for (low, high), weight in weighted if weight]
        return sum(low for low, _ in ends), sum(high for _, high in ends)

    def reached(self, engine: Queries) -> bool:
        return all(goal.reached(engine) for goal in self.goals)


def _union(parts: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for part in parts for name in part))
