"""SAC: soft actor-critic, which maximises rewards and the entropy of its policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Space
from numpy.typing import NDArray

from fitgym.agents._deep import Deep
from fitgym.agents._network import Network
from fitgym.agents._numbers import positive, whole
from fitgym.agents._space import drawn, middle
from fitgym.agents.transition import Action

__all__ = ["SAC"]

_LEAST, _LARGEST = -20.0, 2.0
"""Bounds of the logarithms of standard deviations, as in the library."""


class SAC(Deep):
    """Soft actor-critic for `Box`, by Stable-Baselines3; see `Deep` for what is common to deep agents.

    The network has two outputs for each number, mean and ln sigma. The policy is

        z ~ Normal(mean, sigma),     action = low + (tanh(z) + 1) / 2 * (high - low)

    The deterministic choice has z = mean. SAC learns from a replay buffer, and adapts the weight of the entropy during
    training. Each call of `learn` starts with an empty buffer and the given weight.

    Args:
        action_space, action_names, seed: as for every agent.
        learning_rate: step size of the optimiser; the library's default.
        gamma: discount of later rewards; the library's default.
        hidden: units in each of the two hidden layers; the library's default is 256, for larger tasks.
        memory: number of steps in the replay buffer.
        learning_starts: steps with uniform actions before the first update; the library's default.
        batch_size: steps in a batch of the optimiser; the library's default is 256.
        entropy: weight of the entropy at the beginning, above 0; the library begins with 1.

    References:
        Haarnoja, Zhou, Abbeel and Levine 2018, Soft Actor-Critic: Off-Policy Maximum Entropy Deep Reinforcement Learning
        with a Stochastic Actor.
        Haarnoja et al. 2018, Soft Actor-Critic Algorithms and Applications: the adapted weight of the entropy.
    """

    algorithm: ClassVar[str] = "stable_baselines3:SAC"
    spaces: ClassVar[tuple[type[Space[Any]], ...]] = (Box,)

    def __init__(
        self,
        action_space: Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        learning_rate: float = 3e-4,
        gamma: float = 0.99,
        hidden: int = 64,
        memory: int = 50_000,
        learning_starts: int = 100,
        batch_size: int = 64,
        entropy: float = 0.1,
    ) -> None:
        super().__init__(action_space, action_names, seed, learning_rate=learning_rate, gamma=gamma, hidden=hidden)
        self.memory = whole(memory, "memory", 1, "steps")
        self.learning_starts = whole(learning_starts, "learning_starts", 0, "steps")
        self.batch_size = whole(batch_size, "batch_size", 2)
        self.entropy = positive(entropy, "the weight of the entropy")

    @property
    def n_scores(self) -> int:
        """The means, then the logarithms of the standard deviations."""
        return 2 * self.n_actions

    def network(self, parameters: Mapping[str, NDArray[np.float32]]) -> Network:
        """The layers of the policy; its two output layers become one."""
        heads = {
            f"heads.{kind}": np.concatenate([parameters[f"actor.{head}.{kind}"] for head in ("mu", "log_std")])
            for kind in ("weight", "bias")
        }
        return Network.of({**parameters, **heads}, ("actor.latent_pi", "heads"), "relu")

    def decide(
        self, scores: NDArray[np.float64], allowed: NDArray[np.bool_], rng: np.random.Generator | None
    ) -> Action:
        """Draw an action from the policy; without `rng`, take the action of the mean."""
        space = self.action_space
        assert isinstance(space, Box), "the agent acts in no other space"
        if not self.ready:
            return middle(space, allowed) if rng is None else drawn(space, allowed, rng)
        z, log_sigma = scores.reshape(2, self.n_actions)
        if rng is not None:
            z = rng.normal(z, np.exp(np.clip(log_sigma, _LEAST, _LARGEST)))
        numbers = space.low + (np.tanh(z) + 1) / 2 * (space.high.astype(np.float64) - space.low)
        return np.clip(numbers.astype(np.float32), space.low, space.high)

    def arguments(self, steps: int, envs: int) -> dict[str, Any]:
        """The hyper-parameters of SAC; the prefix `auto` makes the library adapt the weight of the entropy."""
        return {
            "buffer_size": self.memory,
            "learning_starts": self.learning_starts,
            "batch_size": self.batch_size,
            "ent_coef": f"auto_{self.entropy}",
        }
