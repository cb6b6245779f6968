"""Always the same fitness functions: what a tester does today, and the baseline of every comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents.base import Agent
from fitgym.errors import InputError, UnknownName

__all__ = ["Fixed"]


class Fixed(Agent):
    """Takes one named action at every step.

    Args:
        action_space: as for every agent.
        action_names: the catalogue of combinations, each a list of fitness functions joined by `+`.
        seed: as for every agent; not used.
        combination: the action to take, for example `exception+branch`. The order of the fitness functions does not
            matter. Without one the first action is taken.

    Raises:
        UnknownName: no action of the catalogue has these fitness functions.
    """

    def __init__(
        self,
        action_space: spaces.Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        combination: str = "",
    ) -> None:
        super().__init__(action_space, action_names, seed)
        self.combination = combination or self.action_names[0]
        wanted = _parts(self.combination)
        actions = [i for i, name in enumerate(self.action_names) if _parts(name) == wanted]
        if not actions:
            raise UnknownName("action", self.combination, self.action_names)
        self.action = actions[0]

    @classmethod
    def options(cls, argument: str) -> dict[str, Any]:
        """The whole argument is the combination."""
        return {"combination": argument}

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """The named action.

        Raises:
            InputError: the environment does not allow it here.
        """
        return self.choose(observation, self.allowed(info), None)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        """The named action; choosing another one silently would falsify the baseline."""
        if not allowed[self.action]:
            raise InputError(f"action '{self.combination}' is not allowed here: the environment masks it")
        return self.action


def _parts(name: str) -> frozenset[str]:
    return frozenset(part.strip() for part in name.split("+"))
