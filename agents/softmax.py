"""Softmax: action probabilities that grow with mean rewards (Boltzmann exploration)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._bandit import Bandit
from fitgym.agents._draw import draw
from fitgym.agents._numbers import positive

__all__ = ["Softmax"]


class Softmax(Bandit):
    """Draws each action with a probability that grows with its mean reward.

        P(a) = exp(Q(a) / temperature) / sum over allowed b of exp(Q(b) / temperature)

    Like every bandit, it first tries every action once. The deterministic choice is the largest mean.

    Args:
        action_space: as for every agent.
        action_names: as for every agent.
        seed: as for every agent.
        temperature: above 0, in the unit of the rewards. The rule is nearly greedy for small values and nearly uniform for
            large ones. At 0.1, an action with a mean that is 0.1 units larger is taken e times as often.
        normalise: unit of the rewards: `running` (a running standard deviation, see `ucb`), `largest` (the largest absolute
            reward so far) or `none`.
        discount: in (0, 1]; 1 forgets nothing.
        window: only the most recent `window` decisions count; 0 for all.

    References:
        Sutton and Barto 1998, Reinforcement Learning: An Introduction, 1st edition, section 2.3, equation 2.2.
    """

    def __init__(
        self,
        action_space: spaces.Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        temperature: float = 0.1,
        normalise: str | bool = "running",
        discount: float = 1.0,
        window: int = 0,
    ) -> None:
        super().__init__(action_space, action_names, seed, discount=discount, window=window, normalise=normalise)
        self.temperature = positive(temperature, "the temperature")

    def probabilities(self, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """P(a) after the first sweep, 0 where not allowed; shape `(n_actions,)`, sums to 1."""
        means = self.means()
        # Relative to the best allowed one, so that no temperature is too small for the exponential.
        ahead = np.where(allowed, means - means[allowed].max(), -np.inf)
        with np.errstate(over="ignore"):
            weights = np.exp(ahead / self.temperature)
        probabilities: NDArray[np.float64] = weights / weights.sum()
        return probabilities

    def pick(self, allowed: NDArray[np.bool_], rng: np.random.Generator) -> int:
        """Draw an action from `probabilities`."""
        return draw(self.probabilities(allowed), rng)
