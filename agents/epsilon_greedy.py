"""Epsilon-greedy: the action with the best mean reward, and sometimes a random one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._bandit import Bandit
from fitgym.agents._numbers import probability

__all__ = ["EpsilonGreedy"]


class EpsilonGreedy(Bandit):
    """Takes the allowed action with the largest mean reward, or a random allowed one with probability epsilon.

    Like every bandit, it first tries every action once. The action that comes first in the random order of this sweep
    wins ties.

    Args:
        action_space: as for every agent.
        action_names: as for every agent.
        seed: as for every agent.
        epsilon: probability of a uniform draw, in [0, 1]; 0.1 is the book's choice for its ten-armed testbed.
        normalise: unit of the rewards, see `ucb`. Here it matters only for outliers, which `running` clips.
        discount: in (0, 1]; below 1, the weight of a reward decreases with every later decision. With the book's constant
            step size 1 - discount, it decreases only with decisions for the same action.
        window: only the most recent `window` decisions count; 0 for all.

    References:
        Sutton and Barto 2018, Reinforcement Learning: An Introduction, 2nd edition, sections 2.2 to 2.5. Garivier and
        Moulines 2011, On Upper-Confidence Bound Policies for Switching Bandit Problems: the discounted and windowed means.
    """

    earlier: ClassVar[Mapping[str, Any]] = {"normalise": "none"}

    def __init__(
        self,
        action_space: spaces.Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        epsilon: float = 0.1,
        normalise: str | bool = "running",
        discount: float = 1.0,
        window: int = 0,
    ) -> None:
        super().__init__(action_space, action_names, seed, discount=discount, window=window, normalise=normalise)
        self.epsilon = probability(epsilon, "epsilon")

    def pick(self, allowed: NDArray[np.bool_], rng: np.random.Generator) -> int:
        """Choose the best allowed action, or a random one with probability epsilon."""
        if rng.random() < self.epsilon:
            return int(rng.choice(np.flatnonzero(allowed)))
        return self.order.largest(self.means(), allowed)
