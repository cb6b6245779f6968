"""Oracle: tries the actions on copies of the environment and takes the best, as a reference for one-step planning."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete, MultiBinary, Space
from numpy.typing import NDArray

from fitgym.agents._behaviour import certain
from fitgym.agents._order import Order
from fitgym.agents._space import allowed_by, drawn, fitted
from fitgym.agents.base import Agent
from fitgym.agents.transition import Action
from fitgym.errors import InputError

__all__ = ["Oracle"]

_TRIES = 16
"""Number of random actions to try for a decision in a space that cannot be enumerated."""


class Oracle(Agent):
    """Tries every allowed action on a fork of the environment and takes the one with the largest reward.

    The fork is of the innermost environment, so the oracle does not see rewards that a wrapper has changed. The oracle is a
    reference for greedy choice with perfect knowledge of the next step. It is not an upper bound: planning several steps
    ahead can be better. Ties go to the action that comes first in an order drawn when the agent is made.

    A decision costs one step for each action. The executions of the forks are not charged to the budget of the run. With
    64 actions, a run takes about 65 times as long as usual. If the environment draws random numbers in a step, the fork
    draws the same numbers, so the oracle foresees them too.

    With `tries`, the oracle tries only that many allowed actions, drawn anew for each decision. This is faster, and it
    selects less by luck: the largest of many noisy rewards is partly large by chance. The deterministic choice tries the
    first actions of the order.

    With `informed`, the oracle asks the environment instead of trying actions: an environment with generated tasks, such
    as `fitgym/Programs-v0`, has a method `informed`, which decides by what no agent can see.

    `MultiBinary` and `Box` have too many actions to try all. There the oracle tries `tries` random actions for each
    decision. The deterministic choice tries as many actions, drawn when the agent is made.

    Args:
        action_space, action_names, seed: as for every agent.
        tries: number of actions to try for a decision. 0 means all actions of `Discrete`, and 16 in other spaces.
        informed: take the action of the environment's method `informed`.

    Raises:
        InputError: `tries` is negative.
    """

    spaces: ClassVar[tuple[type[Space[Any]], ...]] = (Discrete, MultiBinary, Box)
    earlier: ClassVar[Mapping[str, Any]] = {"informed": False}

    def __init__(
        self,
        action_space: Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        tries: int = 0,
        informed: bool = False,
    ) -> None:
        super().__init__(action_space, action_names, seed)
        if tries < 0:
            raise InputError(f"tries is {tries}, expected how many actions to look at, 0 for all")
        self.tries = tries
        self.informed = informed
        self.order = Order(self.n_actions, self.rng)
        self._candidates: list[Action] = []
        if not isinstance(self.action_space, Discrete):
            self._candidates = self._drawn(allowed_by(self.action_space, None), self.rng)
        self._env: gymnasium.Env[Any, Any] | None = None

    def watch(self, env: gymnasium.Env[Any, Any]) -> None:
        """Keep the environment to fork."""
        self._env = env

    def act(self, observation: Any, info: Mapping[str, Any]) -> Action:
        """The tried action with the largest reward."""
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> Action:
        """The tried action with the largest reward. The observation is not used.

        Raises:
            InputError: `watch` was not called, or the environment has no method `informed`.
        """
        if self._env is None:
            raise InputError("the oracle must see the environment that it acts in: call watch(env) first")
        env: Any = self._env.unwrapped
        if self.informed:
            if not hasattr(env, "informed"):
                raise InputError(
                    f"{type(env).__name__} knows no informed action: use the agent oracle without 'informed'"
                )
            return int(env.informed())
        if not isinstance(self.action_space, Discrete):
            tried = self._candidates_for(allowed) if rng is None else self._drawn(allowed, rng)
            return max(tried, key=lambda action: _reward(env, action))  # the first one wins ties
        rewards = np.full(self.n_actions, -np.inf)
        for action in self._looked_at(allowed, rng):
            rewards[action] = _reward(env, action)
        return self.order.largest(rewards, allowed & np.isfinite(rewards))

    def probabilities(self, observation: Any, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Probability 1 of the best action of `Discrete`, see `fitgym.agents._behaviour`.

        Raises:
            InputError: the oracle tries random actions, so the best one among them is not known in advance.
        """
        if self.tries:
            raise InputError("an oracle with 'tries' draws its actions, so it has no probabilities: leave 'tries' out")
        return certain(self.choose(observation, allowed, None), self.n_actions)

    def _drawn(self, allowed: NDArray[np.bool_], rng: np.random.Generator) -> list[Action]:
        return [drawn(self.action_space, allowed, rng) for _ in range(self.tries or _TRIES)]

    def _candidates_for(self, allowed: NDArray[np.bool_]) -> list[Action]:
        """Copies of the actions that were drawn when the agent was made, with masked bits flipped."""
        if isinstance(self.action_space, MultiBinary):
            return [fitted(np.asarray(action), allowed) for action in self._candidates]
        return [np.array(action) for action in self._candidates]

    def _looked_at(self, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> list[int]:
        actions = np.flatnonzero(allowed)
        if not 0 < self.tries < actions.size:
            return [int(action) for action in actions]
        if rng is None:
            return [int(action) for action in self.order.actions if allowed[action]][: self.tries]
        return sorted(int(action) for action in rng.choice(actions, self.tries, replace=False))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The order for ties, and the actions of the deterministic choice."""
        order = {"order": self.order.actions.copy()}
        return order if isinstance(self.action_space, Discrete) else {**order, "candidates": np.array(self._candidates)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state from `arrays`."""
        self.order.actions = arrays["order"].copy()
        self._candidates = list(arrays.get("candidates", np.zeros(0)).copy())


def _reward(env: Any, action: Action) -> float:
    """The reward of the action in the current state."""
    copied = _copied(env)
    return float(copied.step(action)[1])


def _copied(env: Any) -> Any:
    """A copy of the environment in the same state, which shares its worker process if it has one."""
    if hasattr(env, "executor"):
        return env.fork(share_worker=True)
    return env.fork() if hasattr(env, "fork") else copy.deepcopy(env)
