"""What bandits have in common: they try every action once, then judge by what actions have paid."""

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
    """An agent that sees nothing of the environment but rewards.

    Every action is tried once first, in a random order drawn when the agent is made, and again whenever nothing is
    remembered of it any more. After that a subclass decides (`pick`). Ties go to the action that comes first in the
    random order.

    Args:
        action_space, action_names, seed: as for every agent.
        discount, window: see `Averages`.
        normalise: the unit of rewards, see `Scale`. With the default a constant factor of all rewards changes no action.

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
        """N(a), how much is remembered of each action, shape `(n_actions,)`."""
        return self.averages.counts

    def means(self) -> NDArray[np.float64]:
        """Q(a), the mean reward of each action, 0 for untried ones; `(n_actions,)`."""
        return self.averages.means()

    @abstractmethod
    def pick(self, allowed: NDArray[np.bool_], rng: np.random.Generator) -> int:
        """An allowed action when something is remembered of all that are allowed."""

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """The next untried action, or what `pick` says."""
        return self._next(self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        """What `act` would do, or, when asked for the deterministic choice, the tried action with the largest mean."""
        if rng is not None:
            return self._next(allowed, rng)
        return self.order.largest(np.where(self.counts > 0, self.means(), -np.inf), allowed)

    def update(self, transition: Transition) -> None:
        """Remember what the action has paid."""
        self.averages.add(int(transition.action), transition.reward)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The order of the first sweep and what is remembered of each action."""
        return {"order": self.order.actions.copy(), **self.averages.arrays()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what `arrays` gave."""
        self.order.actions = arrays["order"].copy()
        self.averages.restore(arrays)

    def _next(self, allowed: NDArray[np.bool_], rng: np.random.Generator) -> int:
        untried = self.order.first(allowed & (self.counts == 0))
        return self.pick(allowed, rng) if untried is None else untried
