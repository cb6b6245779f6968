"""A schedule of actions: the next action starts when the goal's value stops growing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiBinary, Space
from numpy.typing import NDArray

from fitgym.agents._numbers import positive, whole
from fitgym.agents._space import fitted
from fitgym.agents.base import Agent
from fitgym.agents.fixed import named
from fitgym.agents.transition import Action
from fitgym.errors import InputError
from fitgym.registry import parse_options

__all__ = ["InTurn"]


class InTurn(Agent):
    """Takes its first action while the goal's value grows, then the second, and so on. The last one continues to the end.

    Let n be the number of executions when the value last grew. An action ends when the value has not grown for
    `patience` * n executions and for at least `least` executions. For example, with a patience of 0.5 and growth after
    2,000 executions, the action ends 1,000 executions later. This is the simplest schedule, and a baseline for agents
    that choose when to change.

    Executions and value are `info["executions"]` and `info["goal_value"]`. In an environment without them, every action
    lasts for `least` decisions.

    Args:
        action_space, action_names, seed: as for every agent; the agent draws nothing.
        order: the actions, joined by commas, each as for `fixed`: `branch,branch+strong_mutation`. If empty, all actions
            in their order; for `MultiBinary` and `Box`, the actions with a single bit or number set.
        patience: above 0.
        least: at least 1.

    Raises:
        UnknownName: an action of `order` does not exist.
    """

    spaces: ClassVar[tuple[type[Space[Any]], ...]] = (Discrete, MultiBinary, Box)

    def __init__(
        self,
        action_space: Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        order: str = "",
        patience: float = 0.5,
        least: int = 500,
    ) -> None:
        super().__init__(action_space, action_names, seed)
        self.order = order
        self.patience = positive(patience, "patience")
        self.least = whole(least, "least", 1)
        named_ones = [name for name in order.split(",") if name.strip()]
        self.actions = [named(self.action_space, self.action_names, name) for name in named_ones] or self._every()
        self._turn = 0
        self._grown_at = 0  # executions when the value last grew or the action began
        self._value = -np.inf
        self._decisions = 0

    def _every(self) -> list[Action]:
        """All actions; for `MultiBinary` and `Box`, those with a single bit or number set."""
        if isinstance(self.action_space, Discrete):
            return list(range(self.n_actions))
        return [named(self.action_space, list(map(str, range(self.n_actions))), str(i)) for i in range(self.n_actions)]

    @classmethod
    def options(cls, argument: str) -> dict[str, Any]:
        """Parse the actions, followed by optional `patience=` and `least=`."""
        parts = [part.strip() for part in argument.split(",") if part.strip()]
        given = ",".join(part for part in parts if "=" in part)
        found = parse_options(given, ["patience", "least"], "agent 'in_turn'")
        return {"order": ",".join(part for part in parts if "=" not in part), **found}

    def repertoire(self) -> Sequence[Action]:
        return self.actions

    def begin_episode(self, observation: Any, info: Mapping[str, Any]) -> None:
        """Start with the first action."""
        self._turn, self._grown_at, self._value, self._decisions = 0, 0, -np.inf, 0

    def act(self, observation: Any, info: Mapping[str, Any]) -> Action:
        """The current action of the schedule.

        Raises:
            InputError: the environment masks it.
        """
        executions, value = int(info.get("executions", self._decisions)), float(info.get("goal_value", 0.0))
        self._decisions += 1
        if value > self._value:
            self._value, self._grown_at = value, executions
        idle = executions - self._grown_at
        if idle >= max(self.least, self.patience * self._grown_at) and self._turn < len(self.actions) - 1:
            self._turn, self._grown_at = self._turn + 1, executions
        return self.choose(observation, self.allowed(info), None)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> Action:
        """The current action of the schedule.

        Raises:
            InputError: the environment masks it. Another action would falsify the schedule.
        """
        action = self.actions[self._turn]
        if isinstance(action, int):
            if allowed[action]:
                return action
        elif isinstance(self.action_space, Box) or bool((fitted(action, allowed) == action).all()):
            return action.copy()
        raise InputError(f"action {self._turn + 1} of '{self.order}' is not allowed here: the environment masks it")

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The position in the schedule, and its start."""
        return {"state": np.array([self._turn, self._grown_at, self._decisions]), "value": np.array(self._value)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state from `arrays`."""
        self._turn, self._grown_at, self._decisions = map(int, arrays["state"])
        self._value = float(arrays["value"])
