"""Any allowed action with the same probability: the other baseline, chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fitgym.agents.base import Agent

__all__ = ["Uniform"]


class Uniform(Agent):
    """Draws each action uniformly from the allowed ones, once per step from `rng`.

    Its deterministic choice is the first allowed action, since it judges none better than another.
    """

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """An allowed action, drawn from the agent's own generator."""
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        """An allowed action drawn from `rng`, the first one without it."""
        actions = np.flatnonzero(allowed)
        return int(actions[0] if rng is None else rng.choice(actions))
