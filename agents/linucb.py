"""LinUCB: an upper confidence bound that depends on what is seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._features import vector, with_one
from fitgym.agents._numbers import finite_reward, non_negative, positive
from fitgym.agents._order import Order
from fitgym.agents.base import Agent
from fitgym.agents.transition import Transition
from fitgym.errors import InputError

__all__ = ["LinUCB"]


class LinUCB(Agent):
    """A contextual bandit: ridge regression of the reward on the observation, one for each action, and its uncertainty.

    With x the observation and a constant 1, d entries, and for each action a

        A(a) = ridge * I + sum of x x^T        b(a) = sum of R x        theta(a) = A(a)^-1 b(a)

    over its steps,

        A_t = argmax over a of  theta(a) . x + alpha * sqrt(x . A(a)^-1 x)

    Every action is tried once first, in a random order drawn when the agent is made; ties go to the action that comes
    first in it. The deterministic choice leaves the uncertainty out.

    Args:
        action_space: as for every agent.
        action_names: as for every agent.
        seed: as for every agent.
        alpha: weight of the uncertainty, >= 0; the source derives 1 + sqrt(ln(2 / delta) / 2) for rewards in [0, 1] and
            bounds that hold with probability 1 - delta, and finds smaller ones better.
        ridge: above 0, 1 in the source; the larger, the longer an action is believed to pay nothing.
        normalise: measure rewards by the largest absolute one so far.

    References:
        Li, Chu, Langford and Schapire 2010, A Contextual-Bandit Approach to Personalized News Article Recommendation,
        algorithm 1: disjoint linear models. The source has no first sweep. The inverse and theta are kept up to date, the
        inverse by the formula of Sherman and Morrison, instead of being computed anew.
    """

    learns: ClassVar[bool] = True

    def __init__(
        self,
        action_space: spaces.Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        alpha: float = 1.0,
        ridge: float = 1.0,
        normalise: bool = True,
    ) -> None:
        super().__init__(action_space, action_names, seed)
        self.alpha = non_negative(alpha, "the weight alpha of the uncertainty")
        self.ridge = positive(ridge, "ridge")
        self.normalise = normalise
        self.order = Order(self.n_actions, self.rng)
        self.tried: NDArray[np.bool_] = np.zeros(self.n_actions, bool)
        self.largest = 0.0
        self._begin(np.zeros((self.n_actions, 0, 0)), np.zeros((self.n_actions, 0)))

    def bounds(self, observation: Any, alpha: float | None = None) -> NDArray[np.float64]:
        """The upper confidence bound of each action; shape `(n_actions,)`.

        Args:
            observation: what is seen.
            alpha: weight of the uncertainty, the agent's own by default.

        Raises:
            InputError: the observation has another length than the first one that was learnt from.
        """
        if not self.tried.any():
            return np.zeros(self.n_actions)
        x = self._context(observation)
        scale = self.largest if self.normalise and self.largest > 0 else 1.0
        means = self._thetas @ x / scale
        # Rounding can leave a variance a hair below 0.
        variances = np.maximum(self._halves @ (x.take(self._rows) * x.take(self._columns)), 0.0)
        bounds: NDArray[np.float64] = means + (self.alpha if alpha is None else alpha) * np.sqrt(variances)
        return bounds

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """The next untried action, or the one with the largest bound."""
        return self._next(observation, self.allowed(info))

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        """What `act` would do, or the tried action with the largest expected reward."""
        if rng is not None:
            return self._next(observation, allowed)
        return self.order.largest(np.where(self.tried, self.bounds(observation, 0.0), -np.inf), allowed)

    def update(self, transition: Transition) -> None:
        """Add what was seen and paid to the regression of the action."""
        reward = finite_reward(transition.reward)
        x = self._context(transition.observation)
        action = int(transition.action)
        inverse = self.inverses[action]
        ahead = inverse.dot(x)
        ahead /= math.sqrt(1.0 + x.dot(ahead))
        inverse -= np.multiply.outer(ahead, ahead)
        self.sums[action] += reward * x
        self._derive(action)
        self.largest = max(self.largest, abs(reward))
        self.tried[action] = True

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The order of the first sweep and how far it got, and the regressions."""
        return {
            "order": self.order.actions.copy(),
            "tried": self.tried.copy(),
            "largest": np.array(self.largest),
            "inverses": self.inverses.copy(),
            "sums": self.sums.copy(),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what `arrays` gave."""
        self.order.actions, self.tried = arrays["order"].copy(), arrays["tried"].copy()
        self.largest = float(arrays["largest"])
        self._begin(arrays["inverses"].copy(), arrays["sums"].copy())

    def _next(self, observation: Any, allowed: NDArray[np.bool_]) -> int:
        untried = self.order.first(allowed & ~self.tried)
        return self.order.largest(self.bounds(observation), allowed) if untried is None else untried

    def _begin(self, inverses: NDArray[np.float64], sums: NDArray[np.float64]) -> None:
        """Take the regressions as they are, and derive from them what `bounds` reads."""
        d = sums.shape[1]
        self.inverses = inverses  # A(a)^-1
        self.sums = sums  # b(a)
        self._thetas: NDArray[np.float64] = np.zeros_like(sums)
        # x . M x of a symmetric M is one product with half of the matrix, in which what is off the diagonal counts twice.
        self._rows, self._columns = np.triu_indices(d)
        self._half = self._rows * d + self._columns
        self._counts = np.where(self._rows == self._columns, 1.0, 2.0)
        self._halves: NDArray[np.float64] = np.zeros((self.n_actions, len(self._half)))
        for action in range(self.n_actions):
            self._derive(action)

    def _derive(self, action: int) -> None:
        """theta(a), and the half of A(a)^-1."""
        self._thetas[action] = self.inverses[action].dot(self.sums[action])
        self._halves[action] = self.inverses[action].take(self._half) * self._counts

    def _context(self, observation: Any) -> NDArray[np.float64]:
        x = with_one(vector(observation))
        if not self.sums.shape[1]:
            inverses = np.repeat(np.eye(len(x))[None] / self.ridge, self.n_actions, axis=0)
            self._begin(inverses, np.zeros((self.n_actions, len(x))))
        if len(x) != self.sums.shape[1]:
            known = self.sums.shape[1] - 1
            raise InputError(f"the observation has {len(x) - 1} entries, this agent has learnt from {known}")
        return x
