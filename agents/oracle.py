"""An oracle: tries every action on a copy of the search first. What looking one step ahead would be worth."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._order import Order
from fitgym.agents.base import Agent
from fitgym.errors import InputError

__all__ = ["Oracle"]


class Oracle(Agent):
    """Takes the allowed action whose next reward is largest, by taking each of them on a fork of the environment (of that
    inside all wrappers: what a wrapper does to rewards is not seen).

    No agent can know that; it is an upper reference for what is gained by choosing well for one step, and no bound on what
    planning further would give. Ties go to the action that comes first in an order drawn when the agent is made.

    A decision costs as much as one step for each action, and the executions of the forks are not charged to the budget
    of the run: with 64 actions a run takes some 65 times as long as any other. Where the environment depends on numbers
    drawn at each step, the fork draws the same ones, so the oracle knows these too.

    With `tries` it looks at so many allowed actions only, drawn anew for each decision: a reference that costs that much
    less and asks less of luck, because the largest of many noisy rewards is large by chance too. Its deterministic choice is
    among the first ones in the order.

    Args:
        action_space, action_names, seed: as for every agent.
        tries: actions that are looked at for a decision, 0 for all.

    Raises:
        InputError: `tries` is negative.
    """

    def __init__(
        self,
        action_space: spaces.Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        tries: int = 0,
    ) -> None:
        super().__init__(action_space, action_names, seed)
        if tries < 0:
            raise InputError(f"tries is {tries}, expected how many actions to look at, 0 for all")
        self.tries = tries
        self.order = Order(self.n_actions, self.rng)
        self._env: gymnasium.Env[Any, Any] | None = None

    def watch(self, env: gymnasium.Env[Any, Any]) -> None:
        """Keep the environment to fork."""
        self._env = env

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """The action that pays most now, of those that are looked at."""
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        """The same. The observation is not looked at: it is of the environment that is watched.

        Raises:
            InputError: no environment is watched.
        """
        if self._env is None:
            raise InputError("the oracle must see the environment that it acts in: call watch(env) first")
        rewards = np.full(self.n_actions, -np.inf)
        for action in self._looked_at(allowed, rng):
            rewards[action] = _reward(self._env.unwrapped, action)
        return self.order.largest(rewards, allowed & np.isfinite(rewards))

    def _looked_at(self, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> list[int]:
        actions = np.flatnonzero(allowed)
        if not 0 < self.tries < actions.size:
            return [int(action) for action in actions]
        if rng is None:
            return [int(action) for action in self.order.actions if allowed[action]][: self.tries]
        return sorted(int(action) for action in rng.choice(actions, self.tries, replace=False))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The order that decides ties."""
        return {"order": self.order.actions.copy()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what `arrays` gave."""
        self.order.actions = arrays["order"].copy()


def _reward(env: Any, action: int) -> float:
    """What the action would pay now."""
    twin = _twin(env)
    return float(twin.step(action)[1])


def _twin(env: Any) -> Any:
    """A copy in the same state, which costs no worker process where the environment has one."""
    if hasattr(env, "executor"):
        return env.fork(share_worker=True)
    return env.fork() if hasattr(env, "fork") else copy.deepcopy(env)
