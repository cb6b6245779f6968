"""PPO: a policy that is improved a little at a time, from many steps of several searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from gymnasium import spaces

from fitgym.agents._actor_critic import ActorCritic
from fitgym.agents._deep import whole_batches
from fitgym.agents._numbers import non_negative, share, whole

__all__ = ["PPO"]


class PPO(ActorCritic):
    """Proximal policy optimisation, by Stable-Baselines3; see `Deep` for what is common to deep agents.

    Args:
        action_space: as for every agent.
        action_names: as for every agent.
        seed: as for every agent.
        learning_rate: step size of the optimiser; 0.0003 is the library's default.
        gamma: discount of later rewards; the library's default.
        hidden: units in each of the two hidden layers; the library's default.
        n_steps: of each environment between two improvements.
        batch_size: steps in a batch of the optimiser.
        n_epochs: how often each step is used.
        entropy: weight of the entropy of the policy, which keeps it from settling too early.
        trace: lambda of generalised advantage estimation, in [0, 1]; less of it hears less of the noise of later rewards.

    References:
        Schulman, Wolski, Dhariwal, Radford and Klimov 2017, Proximal Policy Optimization Algorithms.
        Raffin, Hill, Gleave, Kanervisto, Ernestus and Dormann 2021, Stable-Baselines3: Reliable Reinforcement Learning
        Implementations.
    """

    algorithm: ClassVar[str] = "stable_baselines3:PPO"

    def __init__(
        self,
        action_space: spaces.Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        learning_rate: float = 3e-4,
        gamma: float = 0.99,
        hidden: int = 64,
        n_steps: int = 256,
        batch_size: int = 64,
        n_epochs: int = 10,
        entropy: float = 0.01,
        trace: float = 0.95,
    ) -> None:
        super().__init__(action_space, action_names, seed, learning_rate=learning_rate, gamma=gamma, hidden=hidden)
        self.n_steps = whole(n_steps, "n_steps", 2)
        self.batch_size = whole(batch_size, "batch_size", 2)
        self.n_epochs = whole(n_epochs, "n_epochs", 1)
        self.entropy = non_negative(entropy, "the weight of the entropy")
        self.trace = share(trace, "the trace")

    def arguments(self, steps: int, envs: int) -> dict[str, Any]:
        """As given, with fewer steps between improvements where there will not be as many (2 at least)."""
        n_steps = max(2, min(self.n_steps, steps // envs))
        return {
            "n_steps": n_steps,
            "batch_size": whole_batches(max(2, min(self.batch_size, n_steps * envs)), n_steps * envs),
            "n_epochs": self.n_epochs,
            "ent_coef": self.entropy,
            "gae_lambda": self.trace,
        }
