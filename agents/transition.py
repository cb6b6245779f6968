"""A transition: one step of an environment, as an agent sees it afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self, SupportsFloat

import numpy as np
from numpy.typing import NDArray

__all__ = ["Action", "Transition"]

Action = int | NDArray[Any]
"""An action: an `int` of `Discrete`, an `int8` array of `MultiBinary`, a `float32` array of `Box`."""


@dataclass(frozen=True, slots=True)
class Transition:
    """One step of an environment, as an agent sees it afterwards.

    Attributes:
        observation: the observation before the action.
        action: the action: an `int` for `Discrete`, an array of shape `(n,)` for `MultiBinary` (`int8`) and `Box`
            (`float32`).
        reward: the reward of the step.
        next_observation: the observation after the step.
        terminated: the episode ended by the rules of the environment.
        truncated: the episode was cut off from outside.
        info: the `info` returned with `next_observation`.
        generations: duration of the step in generations, at least 0 (the duration of a semi-Markov decision).
    """

    observation: Any
    action: Action
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
        action: Any,
        reward: SupportsFloat,
        seen: Any,
        terminated: bool,
        truncated: bool,
        info: Mapping[str, Any],
        news: Mapping[str, Any],
    ) -> Self:
        """The step from `info` to `news`. Its duration is the difference of their `generation`, 1 if they have none.

        An action that is an array is copied: bits and whole numbers become `int8`, other numbers `float32`.
        """
        took = int(news["generation"]) - int(info.get("generation", 0)) if "generation" in news else 1
        return cls(observation, _copied(action), float(reward), seen, terminated, truncated, news, took)


def _copied(action: Any) -> Action:
    given = np.asarray(action)
    if given.ndim == 0:
        return int(given)
    return np.array(given, np.int8 if given.dtype.kind in "biu" else np.float32)
