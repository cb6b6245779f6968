"""DSG-Sarsa: differential semi-gradient Sarsa with linear features, for continuing tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._features import Features, Linear, Tiles, vector
from fitgym.agents._numbers import finite_reward, non_negative, positive, probability, whole
from fitgym.agents._order import Order
from fitgym.agents.base import Agent
from fitgym.agents.transition import Transition
from fitgym.errors import InputError

__all__ = ["DSGSarsa"]


class DSGSarsa(Agent):
    """Differential semi-gradient Sarsa with a linear value function.

    x(s, a) are the features of a state and an action, w the weights, and Rbar the average reward so far. After every step
    from s by a to s' with reward R:

        q(s, a) = w . x(s, a)
        delta   = R - Rbar + q(s', a') - q(s, a)
        Rbar    = Rbar + beta * delta
        w       = w + alpha * delta * x(s, a)

    a' is the next action. `observe` chooses it as soon as s' is known, and `act` returns it. Actions are epsilon-greedy:
    the allowed action with the largest q, or, with probability epsilon, a random allowed one. First, every action is tried
    once in a random order, which is drawn when the agent is made. The action that comes first in this order wins ties.

    The features are the observation and a constant, with separate weights for each action. With `tiles` they are a tile
    coding of the observation, which can represent non-linear values but needs more steps.

    Rewards are not divided by the number of generations of a step, because all steps of an environment have equally many.

    Args:
        action_space: as for every agent.
        action_names: as for every agent.
        seed: as for every agent.
        alpha: step size of the weights, above 0; with tile coding it is divided by the number of tilings. Linear
            features need alpha * |x|^2 < 2, or else the weights grow without end.
        beta: step size of the average reward, >= 0.
        epsilon: probability of a uniform draw, in [0, 1].
        tiles: intervals for each entry of the observation in tile coding; 0 for linear features.
        tilings: grids laid over each other in tile coding.
        memory: number of weights that the cells of tile coding share.
        normalise: divide rewards by the largest absolute reward so far.
        episodic: the value after a terminal step is 0. By default, learning continues across episodes, with q(s', a') of
            the last observation, because the method is for continuing tasks.

    References:
        Almulla and Gay 2022, Learning How to Search, section 3.2, equations 3 to 6. Equation 5 has the reward R_t instead
        of the average Rbar_t on the right side, which would reset the average at each step. Here the equation is that of
        Sutton and Barto 2018, Reinforcement Learning: An Introduction, 2nd edition, section 10.3, box "Differential
        semi-gradient Sarsa". The paper gives no values of alpha, beta and epsilon, and no form of the features.
        Sutton and Barto 2018, section 9.5.4: tile coding.
    """

    learns: ClassVar[bool] = True

    def __init__(
        self,
        action_space: spaces.Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        alpha: float = 0.05,
        beta: float = 0.05,
        epsilon: float = 0.1,
        tiles: int = 0,
        tilings: int = 8,
        memory: int = 4096,
        normalise: bool = False,
        episodic: bool = False,
    ) -> None:
        super().__init__(action_space, action_names, seed)
        self.alpha = positive(alpha, "the step size alpha")
        self.beta = non_negative(beta, "the step size beta")
        self.epsilon = probability(epsilon, "epsilon")
        self.tiles = whole(tiles, "tiles", 0)
        self.tilings = whole(tilings, "tilings", 1)
        self.memory = whole(memory, "memory", 1)
        self.normalise = normalise
        self.episodic = episodic
        self.order = Order(self.n_actions, self.rng)
        self.tried: NDArray[np.bool_] = np.zeros(self.n_actions, bool)
        self.average = 0.0
        self.largest = 0.0
        self.weights: NDArray[np.float64] = np.zeros(0)
        self._n_seen = -1  # length of an observation; -1 before the first one
        self._features: Features | None = None
        self._next = -1  # the action chosen for the latest observation; -1 for none

    def values(self, observation: Any) -> NDArray[np.float64]:
        """q(s, a) of every action, shape `(n_actions,)`; 0 before the first update.

        Raises:
            InputError: the observation has another length than the first one.
        """
        seen = vector(observation)
        if self._features is None:
            return np.zeros(self.n_actions)
        self._check(seen)
        return self._features.values(self.weights, seen)

    def begin_episode(self, observation: Any, info: Mapping[str, Any]) -> None:
        """Forget the action chosen for the last observation of the episode before."""
        self._next = -1

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """The action that `observe` chose for this observation, or another one if it is masked."""
        allowed = self.allowed(info)
        chosen, self._next = self._next, -1
        return chosen if chosen >= 0 and allowed[chosen] else self._draw(self.values(observation), allowed, self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        """Draw epsilon-greedily; without `rng`, take the action with the largest value."""
        values = self.values(observation)
        return self.order.largest(values, allowed) if rng is None else self._draw(values, allowed, rng)

    def update(self, transition: Transition) -> None:
        """Update the weights and the average reward, and choose the next action."""
        reward = finite_reward(transition.reward)
        seen, after = vector(transition.observation), vector(transition.next_observation)
        features = self._known(seen)
        self._check(after)
        self.largest = max(self.largest, abs(reward))
        if self.normalise and self.largest > 0:
            reward /= self.largest
        action = int(transition.action)
        self.tried[action] = True
        places, x = features.of(seen, action)
        before = float(self.weights[places] @ x)
        following = 0.0
        mask = transition.info.get("action_mask")
        if not (transition.terminated and (self.episodic or (mask is not None and not np.any(mask)))):
            values = features.values(self.weights, after)
            self._next = self._draw(values, self.allowed(transition.info), self.rng)
            following = float(values[self._next])
        delta = reward - self.average + following - before
        self.average += self.beta * delta
        np.add.at(self.weights, places, self.alpha / features.step * delta * x)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The order and progress of the first sweep, the weights, the average reward and the next action."""
        return {
            "order": self.order.actions.copy(),
            "tried": self.tried.copy(),
            "weights": self.weights.copy(),
            "average": np.array(self.average),
            "largest": np.array(self.largest),
            "n_seen": np.array(self._n_seen),
            "next": np.array(self._next),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state from `arrays`."""
        self.order.actions, self.tried = arrays["order"].copy(), arrays["tried"].copy()
        self.average, self.largest = float(arrays["average"]), float(arrays["largest"])
        self._features = None
        if arrays["n_seen"] >= 0:
            self._known(np.zeros(int(arrays["n_seen"])))
        self.weights = arrays["weights"].copy()
        self._next = int(arrays["next"])

    def _draw(self, values: NDArray[np.float64], allowed: NDArray[np.bool_], rng: np.random.Generator) -> int:
        untried = self.order.first(allowed & ~self.tried)
        if untried is not None:
            return untried
        if rng.random() < self.epsilon:
            return int(rng.choice(np.flatnonzero(allowed)))
        return self.order.largest(values, allowed)

    def _known(self, seen: NDArray[np.float64]) -> Features:
        """The features, which are made for the length of the first observation."""
        if self._features is None:
            self._n_seen = len(seen)
            if self.tiles:
                self._features = Tiles(self.n_actions, len(seen), self.tiles, self.tilings, self.memory)
            else:
                self._features = Linear(self.n_actions, len(seen))
            self.weights = np.zeros(self._features.size)
        self._check(seen)
        return self._features

    def _check(self, seen: NDArray[np.float64]) -> None:
        if len(seen) != self._n_seen:
            raise InputError(f"the observation has {len(seen)} entries, this agent has learnt from {self._n_seen}")
