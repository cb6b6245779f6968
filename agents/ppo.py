"""PPO: proximal policy optimisation, a policy gradient with small, clipped updates."""

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
        n_steps: steps of each environment between two updates.
        batch_size: steps in a batch of the optimiser.
        n_epochs: number of passes over the steps of an update.
        entropy: weight of the entropy of the policy, which prevents early convergence.
        trace: lambda of generalised advantage estimation, in [0, 1]; smaller values reduce the variance from later rewards.

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
        """The hyper-parameters of PPO, with shorter rollouts (at least 2 steps) if the training is shorter than one."""
        n_steps = max(2, min(self.n_steps, steps // envs))
        return {
            "n_steps": n_steps,
            "batch_size": whole_batches(max(2, min(self.batch_size, n_steps * envs)), n_steps * envs),
            "n_epochs": self.n_epochs,
            "ent_coef": self.entropy,
            "gae_lambda": self.trace,
        }
