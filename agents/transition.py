"""A transition: one step of an environment, as an agent sees it afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self, SupportsFloat, SupportsInt

__all__ = ["Transition"]


@dataclass(frozen=True, slots=True)
class Transition:
    """One step of an environment, as an agent sees it afterwards.

    Attributes:
        observation: the observation before the action.
        action: the action.
        reward: the reward of the step.
        next_observation: the observation after the step.
        terminated: the episode ended by the rules of the environment.
        truncated: the episode was cut off from outside.
        info: the `info` returned with `next_observation`.
        generations: duration of the step in generations, at least 0 (the duration of a semi-Markov decision).
    """

    observation: Any
    action: int
    reward: float
    next_observation: Any
    terminated: bool = False
    truncated: bool = False
    info: Mapping[str, Any] = field(default_factory=dict)
    generations: int = 1

    @classmethod
    def between(
        cls,
        observation: Any,
        action: SupportsInt,
        reward: SupportsFloat,
        seen: Any,
        terminated: bool,
        truncated: bool,
        info: Mapping[str, Any],
        news: Mapping[str, Any],
    ) -> Self:
        """The step from `info` to `news`. Its duration is the difference of their `generation`, 1 if they have none."""
        took = int(news["generation"]) - int(info.get("generation", 0)) if "generation" in news else 1
        return cls(observation, int(action), float(reward), seen, terminated, truncated, news, took)
