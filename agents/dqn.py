"""DQN: deep Q-learning from a replay buffer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._data import Data
from fitgym.agents._deep import Deep, descend
from fitgym.agents._network import Network
from fitgym.agents._numbers import non_negative, share, whole

__all__ = ["DQN"]


class DQN(Deep):
    """Deep Q-learning, by Stable-Baselines3; see `Deep` for what is common to deep agents.

    It takes the action with the largest value. While it learns, it explores epsilon-greedily. It also learns from recorded
    steps, see `improve`.

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
        conservatism: weight of the penalty on values of actions that the recorded steps lack; for learning from data only.

    References:
        Mnih et al. 2015, Human-level control through deep reinforcement learning.
        Kumar, Zhou, Tucker and Levine 2020, Conservative Q-Learning for Offline Reinforcement Learning.
    """

    algorithm: ClassVar[str] = "stable_baselines3:DQN"
    earlier: ClassVar[Mapping[str, Any]] = {"conservatism": 0.1}

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
        conservatism: float = 0.1,
    ) -> None:
        super().__init__(action_space, action_names, seed, learning_rate=learning_rate, gamma=gamma, hidden=hidden)
        self.memory = whole(memory, "memory", 1, "steps")
        self.learning_starts = whole(learning_starts, "learning_starts", 0, "steps")
        self.target_interval = whole(target_interval, "target_interval", 1, "steps")
        self.exploration = share(exploration, "the share of exploration")
        self.conservatism = non_negative(conservatism, "the conservatism")

    def network(self, parameters: Mapping[str, NDArray[np.float32]]) -> Network:
        """The layers of the value network."""
        return Network.of(parameters, ("q_net.q_net",), "relu")

    def draw(self, scores: NDArray[np.float64], rng: np.random.Generator) -> int:
        """The action with the largest value, with ties broken at random (before training all values are equal)."""
        return int(rng.choice(np.flatnonzero(scores == scores.max())))

    def probabilities(self, observation: Any, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Equal probabilities of the best actions, see `fitgym.agents._behaviour`."""
        scores = np.where(allowed, self.scores(observation), -np.inf)
        best = scores == scores.max()
        return np.asarray(best / best.sum())

    def improve(self, model: Any, batch: Data, number: int) -> None:
        """Conservative Q-learning: double Q-learning with a penalty on the values of actions that were not taken.

        r and a are the recorded reward and action, o and o' the observations before and after the step, Q' the target
        network, and b the best allowed action after the step by Q:

            loss = Huber(Q(o, a) - r - gamma Q'(o', b))  +  conservatism * (ln sum over i of exp Q(o, i)  -  Q(o, a))
        """
        import torch

        taken = torch.as_tensor(batch.actions)[:, None]
        values = model.q_net(torch.as_tensor(batch.observations))
        value = values.gather(1, taken).squeeze(1)
        with torch.no_grad():
            after = torch.as_tensor(batch.following)
            best = model.q_net(after).masked_fill(~torch.as_tensor(batch.allowed), -torch.inf).argmax(1, keepdim=True)
            later = model.q_net_target(after).gather(1, best).squeeze(1)
            target = torch.as_tensor(batch.rewards) + self.gamma * later * torch.as_tensor(~batch.terminated)
        penalty = (values.logsumexp(1) - value).mean()
        descend(model.policy, torch.nn.functional.smooth_l1_loss(value, target) + self.conservatism * penalty)
        if number % self.target_interval == 0:
            model.q_net_target.load_state_dict(model.q_net.state_dict())

    def arguments(self, steps: int, envs: int) -> dict[str, Any]:
        """The hyper-parameters of DQN."""
        return {
            "buffer_size": self.memory,
            "learning_starts": self.learning_starts,
            "target_update_interval": self.target_interval,
            "exploration_fraction": self.exploration,
        }
