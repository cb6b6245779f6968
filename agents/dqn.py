"""DQN: deep Q-learning from a replay buffer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._deep import Deep
from fitgym.agents._network import Network
from fitgym.agents._numbers import share, whole

__all__ = ["DQN"]


class DQN(Deep):
    """Deep Q-learning, by Stable-Baselines3; see `Deep` for what is common to deep agents.

    It takes the action with the largest value. While it learns, it explores epsilon-greedily.

    Args:
        action_space: as for every agent.
        action_names: as for every agent.
        seed: as for every agent.
        learning_rate: step size of the optimiser; five times the library's default, for networks and tasks this small.
        gamma: discount of later rewards; the library's default.
        hidden: units in each of the two hidden layers; the library's default.
        memory: number of steps in the replay buffer.
        learning_starts: steps before the first update; the library's default.
        target_interval: steps between two updates of the target network. With the library's 10,000, the target network
            would keep its random initial weights for most of a training.
        exploration: share of the training in which the probability of a random action falls from 1 to 0.05.

    References:
        Mnih et al. 2015, Human-level control through deep reinforcement learning.
    """

    algorithm: ClassVar[str] = "stable_baselines3:DQN"

    def __init__(
        self,
        action_space: spaces.Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        learning_rate: float = 5e-4,
        gamma: float = 0.99,
        hidden: int = 64,
        memory: int = 50_000,
        learning_starts: int = 100,
        target_interval: int = 500,
        exploration: float = 0.3,
    ) -> None:
        super().__init__(action_space, action_names, seed, learning_rate=learning_rate, gamma=gamma, hidden=hidden)
        self.memory = whole(memory, "memory", 1, "steps")
        self.learning_starts = whole(learning_starts, "learning_starts", 0, "steps")
        self.target_interval = whole(target_interval, "target_interval", 1, "steps")
        self.exploration = share(exploration, "the share of exploration")

    def network(self, parameters: Mapping[str, NDArray[np.float32]]) -> Network:
        """The layers of the value network."""
        return Network.of(parameters, ("q_net.q_net",), "relu")

    def draw(self, scores: NDArray[np.float64], rng: np.random.Generator) -> int:
        """The action with the largest value, with ties broken at random (before training all values are equal)."""
        return int(rng.choice(np.flatnonzero(scores == scores.max())))

    def arguments(self, steps: int, envs: int) -> dict[str, Any]:
        """The hyper-parameters of DQN."""
        return {
            "buffer_size": self.memory,
            "learning_starts": self.learning_starts,
            "target_update_interval": self.target_interval,
            "exploration_fraction": self.exploration,
        }
