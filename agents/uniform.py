"""Uniform: a random allowed action, the baseline of chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiBinary, Space
from numpy.typing import NDArray

from fitgym.agents._space import drawn, middle
from fitgym.agents.base import Agent
from fitgym.agents.transition import Action

__all__ = ["Uniform"]


class Uniform(Agent):
    """Draws each action uniformly from the allowed ones, once per step from `rng`.

    Its deterministic choice is fixed, since it prefers no action: the first allowed action of `Discrete`, all bits 0
    where allowed for `MultiBinary`, the centre of a `Box`.
    """

    spaces: ClassVar[tuple[type[Space[Any]], ...]] = (Discrete, MultiBinary, Box)

    def act(self, observation: Any, info: Mapping[str, Any]) -> Action:
        """Draw an allowed action with the agent's own generator."""
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> Action:
        """Draw an allowed action from `rng`; without it, take the fixed one."""
        return middle(self.action_space, allowed) if rng is None else drawn(self.action_space, allowed, rng)

    def probabilities(self, observation: Any, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Equal probabilities of the allowed actions, see `fitgym.agents._behaviour`."""
        return np.asarray(allowed / allowed.sum())
