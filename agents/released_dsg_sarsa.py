"""What the released EvoSuiteFIT code does where its paper says DSG-Sarsa: for ablation, not for use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._order import Order
from fitgym.agents.base import Agent
from fitgym.agents.transition import Transition
from fitgym.errors import InputError

__all__ = ["ReleasedDSGSarsa"]


class ReleasedDSGSarsa(Agent):
    """The behaviour of the released variant with softmax, which learns nothing; `dsg_sarsa` does.

    One vector of weights is shared by all actions, and the only feature that was to tell actions apart, the number of the
    action divided by 100, is a division of whole numbers and therefore 0. All actions have the same value at any time,
    whatever the weights are. What remains is the schedule:

        the first n decisions go through the shuffled list of the n actions
        later decision t is greedy if t is a multiple of `step`, and greedy means action 0, the first of equal ones
        every other decision is a softmax draw among equal values, that is a uniform one
        `step` is 30 at first and falls by 1 with each greedy decision, down to 2

    so that action 0 is taken far more often than any other; it is the goal's own function alone for exceptions and for
    strong mutation.

    Args:
        action_space: as for every agent.
        action_names: as for every agent.
        seed: as for every agent.
        first_step: of the schedule; 10 in an earlier version.
        last_step: where the schedule ends; 4 in the variant called epsilon-greedy.

    References:
        Almulla and Gay 2022, Learning How to Search, section 3.2, for the rule that was meant, and the code released
        with it. The variant called epsilon-greedy has the same schedule and weights for each action, but reads numbers
        that are not scaled and updates them out of line with what it reads; it is not reproduced. A masked action, which
        the code does not know, gives way to the first allowed one of the list. The code also gives every action a
        population of its own: environments do with `populations="per-action"`.
    """

    learns: ClassVar[bool] = False

    def __init__(
        self,
        action_space: spaces.Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        first_step: int = 30,
        last_step: int = 2,
    ) -> None:
        super().__init__(action_space, action_names, seed)
        if not 1 <= last_step <= first_step:
            raise InputError(f"the schedule goes from {first_step} to {last_step}, expected to fall to 1 or more")
        self.first_step = first_step
        self.last_step = last_step
        self.order = Order(self.n_actions, self.rng)
        self.step = first_step

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """What the schedule says."""
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        """The same; the deterministic choice is the greedy one after the first sweep."""
        if self.n_updates < self.n_actions:
            action = int(self.order.actions[self.n_updates])
        elif rng is None or self._is_greedy:
            action = 0
        else:
            action = int(rng.integers(self.n_actions))
        if not allowed[action]:
            action = next(a for a in self.order.actions.tolist() if allowed[a])
        return action

    @property
    def _is_greedy(self) -> bool:
        return self.n_updates >= self.n_actions and self.n_updates % self.step == 0

    def update(self, transition: Transition) -> None:
        """Nothing but the schedule goes on."""
        if self._is_greedy:
            self.step = max(self.last_step, self.step - 1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The list and the schedule."""
        return {"order": self.order.actions.copy(), "step": np.array(self.step)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what `arrays` gave."""
        self.order.actions = arrays["order"].copy()
        self.step = int(arrays["step"])
