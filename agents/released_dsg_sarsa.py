"""The released EvoSuiteFIT code's version of DSG-Sarsa, for ablations only."""

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
    """The behaviour of the released softmax variant, which does not learn. Use `dsg_sarsa` to learn.

    All actions share one vector of weights. The only feature that could distinguish actions is the action's number divided
    by 100; this is an integer division, so it is 0. Therefore all actions always have the same value, and only the schedule
    matters:

        the first n decisions go through the shuffled list of the n actions
        a later decision t is greedy if t is a multiple of `step`; the greedy action is action 0, the first of equal ones
        every other decision is a softmax draw among equal values, that is, a uniform draw
        `step` starts at 30 and decreases by 1 with each greedy decision, down to 2

    Action 0 is therefore taken far more often than the others. For the goals exceptions and strong mutation, it is the
    goal's own function alone.

    Args:
        action_space: as for every agent.
        action_names: as for every agent.
        seed: as for every agent.
        first_step: of the schedule; 10 in an earlier version.
        last_step: of the schedule; 4 in the variant called epsilon-greedy.

    References:
        Almulla and Gay 2022, Learning How to Search, section 3.2, for the intended rule, and the code released with it.
        The variant called epsilon-greedy is not reproduced. It has the same schedule and separate weights for each action,
        but unscaled features, and it updates other entries than it reads. The code has no masks; here the first allowed
        action of the list replaces a masked one. In the code each action has a separate population, as environments have
        with `populations="per-action"`.
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
        """The action of the schedule."""
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        """The action of the schedule; without `rng`, the greedy action after the first sweep."""
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
        """Advance the schedule; rewards are ignored."""
        if self._is_greedy:
            self.step = max(self.last_step, self.step - 1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The list and the schedule."""
        return {"order": self.order.actions.copy(), "step": np.array(self.step)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the list and the schedule from `arrays`."""
        self.order.actions = arrays["order"].copy()
        self.step = int(arrays["step"])
