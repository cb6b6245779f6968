"""A2C: an actor-critic agent that updates every few steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from gymnasium import spaces

from fitgym.agents._actor_critic import ActorCritic
from fitgym.agents._numbers import non_negative, whole

__all__ = ["A2C"]


class A2C(ActorCritic):
    """Advantage actor-critic, by Stable-Baselines3; see `Deep` for what is common to deep agents.

    Args:
        action_space: as for every agent.
        action_names: as for every agent.
        seed: as for every agent.
        learning_rate: step size of the optimiser; the library's default.
        gamma: discount of later rewards; the library's default.
        hidden: units in each of the two hidden layers; the library's default.
        n_steps: steps of each environment between two updates; the library's default.
        entropy: weight of the entropy of the policy.

    References:
        Mnih et al. 2016, Asynchronous Methods for Deep Reinforcement Learning, of which this is the synchronous form.
    """

    algorithm: ClassVar[str] = "stable_baselines3:A2C"

    def __init__(
        self,
        action_space: spaces.Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        learning_rate: float = 7e-4,
        gamma: float = 0.99,
        hidden: int = 64,
        n_steps: int = 5,
        entropy: float = 0.01,
    ) -> None:
        super().__init__(action_space, action_names, seed, learning_rate=learning_rate, gamma=gamma, hidden=hidden)
        self.n_steps = whole(n_steps, "n_steps", 1)
        self.entropy = non_negative(entropy, "the weight of the entropy")

    def arguments(self, steps: int, envs: int) -> dict[str, Any]:
        """The hyper-parameters of A2C."""
        return {"n_steps": self.n_steps, "ent_coef": self.entropy}
