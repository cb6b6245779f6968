"""Thompson sampling: draw a mean for each action from its posterior, and take the largest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._bandit import Bandit
from fitgym.agents._numbers import non_negative

__all__ = ["Thompson"]


class Thompson(Bandit):
    """Draws a mean for each action from its posterior and takes the action whose draw is largest.

        theta(a) ~ Normal(S(a) / (N(a) + 1), sigma^2 / (N(a) + 1))        A_t = argmax over a of theta(a)

    S(a) is the sum of the N(a) rewards of action a. This is the posterior of a normal mean with the prior
    Normal(0, sigma^2) and known standard deviation sigma. Like every bandit, it first tries every action once. The
    deterministic choice is the largest mean reward.

    Args:
        action_space: as for every agent.
        action_names: as for every agent.
        seed: as for every agent.
        sigma: standard deviation of a reward around its mean, >= 0. The source has 1 and rewards in [0, 1]. The default
            is smaller, because the rewards of one action deviate less than those of all actions.
        normalise: unit of the rewards: `running` (a running standard deviation, see `ucb`), `largest` (the largest absolute
            reward so far) or `none`.
        discount: in (0, 1]; 1 forgets nothing. Below 1, the posterior of an action widens while it is not taken.
        window: only the most recent `window` decisions count; 0 for all.

    References:
        Agrawal and Goyal 2013, Further Optimal Regret Bounds for Thompson Sampling, algorithm 2: Gaussian priors. It has
        no first sweep; ours follows Almulla and Gay 2022, Learning How to Search, section 3.4.
    """

    def __init__(
        self,
        action_space: spaces.Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        sigma: float = 0.3,
        normalise: str | bool = "running",
        discount: float = 1.0,
        window: int = 0,
    ) -> None:
        super().__init__(action_space, action_names, seed, discount=discount, window=window, normalise=normalise)
        self.sigma = non_negative(sigma, "the deviation sigma")

    def posterior(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and standard deviation of the posterior of each action; both of shape `(n_actions,)`."""
        n = self.counts
        return self.means() * n / (n + 1), self.sigma / np.sqrt(n + 1)

    def pick(self, allowed: NDArray[np.bool_], rng: np.random.Generator) -> int:
        """The allowed action with the largest draw."""
        mean, deviation = self.posterior()
        return self.order.largest(rng.normal(mean, deviation), allowed)
