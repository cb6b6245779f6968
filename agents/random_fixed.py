"""One combination for the whole run, drawn at its start: what choosing at random once is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._order import Order
from fitgym.agents.base import Agent

__all__ = ["RandomFixed"]


class RandomFixed(Agent):
    """Draws an order of all actions for each episode and always takes the first one that is allowed.

    Without masks that is one uniformly drawn action for the whole run.

    Args:
        action_space, action_names, seed: as for every agent.
    """

    def __init__(
        self, action_space: spaces.Space[Any] | int, action_names: Sequence[str] | None = None, seed: int = 0
    ) -> None:
        super().__init__(action_space, action_names, seed)
        self.order = Order(self.n_actions, self.rng)
        self._fresh = True

    def begin_episode(self, observation: Any, info: Mapping[str, Any]) -> None:
        """Draw anew, unless nothing was done yet with what was drawn."""
        if not self._fresh:
            self.order = Order(self.n_actions, self.rng)

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """The first allowed action of the episode's order."""
        self._fresh = False
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        """The same, whoever asks."""
        first = self.order.first(allowed)
        assert first is not None, "a mask that allows nothing was refused before"
        return first

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The order, and whether it was used."""
        return {"order": self.order.actions.copy(), "fresh": np.array(self._fresh)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what `arrays` gave."""
        self.order.actions = arrays["order"].copy()
        self._fresh = bool(arrays["fresh"])
