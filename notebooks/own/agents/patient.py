"""Stay with an action while it pays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fitgym.agents.base import Agent, Transition


class Patient(Agent):
    """Keeps its action until it has paid nothing for `patience` steps, then takes the next one."""

    learns = True

    def __init__(
        self, action_space: Any, action_names: Any = None, seed: int = 0, *, patience: int = 2
    ) -> None:
        super().__init__(action_space, action_names, seed)
        self.patience = patience
        self.current = self.unpaid = 0

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(
        self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None
    ) -> int:
        turn = np.roll(np.arange(self.n_actions), -self.current)
        return int(turn[allowed[turn]][0])

    def update(self, transition: Transition) -> None:
        self.unpaid = 0 if transition.reward > 0 else self.unpaid + 1
        if self.unpaid >= self.patience:
            self.current, self.unpaid = (transition.action + 1) % self.n_actions, 0

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"state": np.array([self.current, self.unpaid])}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.current, self.unpaid = arrays["state"].tolist()
