"""One action for the whole run, drawn at its start: the value of a single random choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiBinary, Space
from numpy.typing import NDArray

from fitgym.agents._order import Order
from fitgym.agents._space import allowed_by, drawn, fitted
from fitgym.agents.base import Agent
from fitgym.agents.transition import Action

__all__ = ["RandomFixed"]


class RandomFixed(Agent):
    """Takes the same random action at every step of an episode.

    For `Discrete` it draws an order of all actions for each episode and takes the first allowed one. For `MultiBinary` and
    `Box` it draws one action uniformly; a bit whose value is masked takes the other value.

    Args:
        action_space, action_names, seed: as for every agent.
    """

    spaces: ClassVar[tuple[type[Space[Any]], ...]] = (Discrete, MultiBinary, Box)

    def __init__(
        self, action_space: Space[Any] | int, action_names: Sequence[str] | None = None, seed: int = 0
    ) -> None:
        super().__init__(action_space, action_names, seed)
        self.action: NDArray[Any] = np.zeros(0)
        self._draw()
        self._fresh = True

    def begin_episode(self, observation: Any, info: Mapping[str, Any]) -> None:
        """Draw again, unless the last draw is still unused."""
        if not self._fresh:
            self._draw()

    def act(self, observation: Any, info: Mapping[str, Any]) -> Action:
        """The action of the episode."""
        self._fresh = False
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> Action:
        """The action of the episode."""
        if isinstance(self.action_space, Discrete):
            first = self.order.first(allowed)
            assert first is not None, "a mask that allows nothing was refused before"
            return first
        if isinstance(self.action_space, MultiBinary):
            return fitted(self.action.astype(np.int8), allowed)
        return self.action.copy()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The order or the action of the episode, and whether it was used."""
        fresh = np.array(self._fresh)
        if isinstance(self.action_space, Discrete):
            return {"order": self.order.actions.copy(), "fresh": fresh}
        return {"action": self.action.copy(), "fresh": fresh}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state from `arrays`."""
        if isinstance(self.action_space, Discrete):
            self.order.actions = arrays["order"].copy()
        else:
            self.action = arrays["action"].copy()
        self._fresh = bool(arrays["fresh"])

    def _draw(self) -> None:
        if isinstance(self.action_space, Discrete):
            self.order = Order(self.n_actions, self.rng)
        else:
            everything = allowed_by(self.action_space, None)
            self.action = np.asarray(drawn(self.action_space, everything, self.rng))
