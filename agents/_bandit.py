"""Bandit: the common base of agents that try every action once and then compare rewards."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._averages import Averages
from fitgym.agents._order import Order
from fitgym.agents.base import Agent
from fitgym.agents.transition import Transition

__all__ = ["Bandit"]


class Bandit(Agent):
    """An agent that uses rewards and ignores observations.

    It first tries every action once, in a random order that is drawn when the agent is made. An action whose decisions
    are all forgotten is tried again. After the first sweep, the subclass decides in `pick`. The action that comes first
    in the random order wins ties.

    Args:
        action_space, action_names, seed: as for every agent.
        discount, window: see `Averages`.
        normalise: the unit of rewards, see `Scale`. With the default, multiplying all rewards by a constant changes no
            decision.

    References:
        Almulla and Gay 2022, Learning How to Search, section 3.4: all actions once in a random order first.
    """

    learns: ClassVar[bool] = True

    def __init__(
        self,
        action_space: spaces.Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        discount: float = 1.0,
        window: int = 0,
        normalise: str | bool = "running",
    ) -> None:
        super().__init__(action_space, action_names, seed)
        self.averages = Averages(self.n_actions, discount, window, normalise=normalise)
        self.discount, self.window = self.averages.discount, self.averages.window
        self.normalise = self.averages.scale.normalise
        self.order = Order(self.n_actions, self.rng)

    @property
    def counts(self) -> NDArray[np.float64]:
        """N(a), the remembered (or discounted) number of decisions for each action, shape `(n_actions,)`."""
        return self.averages.counts

    def means(self) -> NDArray[np.float64]:
        """Q(a), the mean reward of each action, 0 for untried ones; `(n_actions,)`."""
        return self.averages.means()

    @abstractmethod
    def pick(self, allowed: NDArray[np.bool_], rng: np.random.Generator) -> int:
        """Choose an allowed action; every allowed action has at least one remembered decision."""

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Choose the next untried action, or the result of `pick`."""
        return self._next(self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        """Choose as `act` does; without `rng`, choose the tried action with the largest mean."""
        if rng is not None:
            return self._next(allowed, rng)
        return self.order.largest(np.where(self.counts > 0, self.means(), -np.inf), allowed)

    def update(self, transition: Transition) -> None:
        """Add the reward of the transition."""
        self.averages.add(int(transition.action), transition.reward)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The order of the first sweep, and the counts and sums of the actions."""
        return {"order": self.order.actions.copy(), **self.averages.arrays()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state from `arrays`."""
        self.order.actions = arrays["order"].copy()
        self.averages.restore(arrays)

    def _next(self, allowed: NDArray[np.bool_], rng: np.random.Generator) -> int:
        untried = self.order.first(allowed & (self.counts == 0))
        return self.pick(allowed, rng) if untried is None else untried
