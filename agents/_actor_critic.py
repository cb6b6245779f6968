"""Actor-critic: the common base of PPO and A2C, with a policy network and a value network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiBinary, Space
from numpy.typing import NDArray

from fitgym.agents._data import Data
from fitgym.agents._deep import Deep, descend
from fitgym.agents._draw import draw
from fitgym.agents._network import Network
from fitgym.agents._space import drawn, fitted, middle
from fitgym.agents.transition import Action

__all__ = ["ActorCritic"]


class ActorCritic(Deep):
    """A deep agent with a stochastic policy. The value network is used for learning only, not for decisions.

    | space | policy | scores | deterministic choice |
    |---|---|---|---|
    | `Discrete` | categorical | logarithms of probabilities up to a constant | the most likely action |
    | `MultiBinary` | a Bernoulli distribution for each bit | the logits of 1 | each bit 1 if its logit is above 0 |
    | `Box` | normal, independent numbers | the means | the means, clipped to the box |

    For `Box`, the parameter `log_std` holds the logarithms of the standard deviations; they are the same for all
    observations and start at 0. The policy therefore suits a box from -1 to 1.
    """

    spaces: ClassVar[tuple[type[Space[Any]], ...]] = (Discrete, MultiBinary, Box)

    def network(self, parameters: Mapping[str, NDArray[np.float32]]) -> Network:
        """The layers of the policy network."""
        return Network.of(parameters, ("mlp_extractor.policy_net", "action_net"), "tanh")

    def probabilities(self, observation: Any, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The probability of each action of `Discrete`, see `fitgym.agents._behaviour`."""
        scores = np.where(allowed, self.scores(observation), -np.inf)
        weights = np.exp(scores - scores.max())
        return np.asarray(weights / weights.sum())

    def improve(self, model: Any, batch: Data, number: int) -> None:
        """Behaviour cloning: move the policy towards the probabilities of the recorded agent. Rewards are not used.

        Where random actions replaced those of the agent, it learns what the agent would have done.

        References:
            Laskey, Lee, Fox, Dragan and Goldberg 2017, DART: Noise Injection for Robust Imitation Learning.
        """
        import torch

        logits = model.policy.get_distribution(torch.as_tensor(batch.observations)).distribution.logits
        descend(model.policy, -(torch.as_tensor(batch.intended) * logits.log_softmax(1)).sum(1).mean())

    def draw(self, scores: NDArray[np.float64], rng: np.random.Generator) -> int:
        """Draw an action from the policy; the scores are logarithms of probabilities up to a constant."""
        return draw(np.exp(scores - scores.max()), rng)

    def decide(
        self, scores: NDArray[np.float64], allowed: NDArray[np.bool_], rng: np.random.Generator | None
    ) -> Action:
        """Draw an action from the policy, or take the most likely one. A masked bit takes its other value."""
        space = self.action_space
        if isinstance(space, MultiBinary):
            one = scores > 0 if rng is None else rng.random(self.n_actions) < 0.5 + 0.5 * np.tanh(scores / 2)
            return fitted(one.astype(np.int8), allowed)
        if not isinstance(space, Box):
            return super().decide(scores, allowed, rng)
        if not self.ready:
            return middle(space, allowed) if rng is None else drawn(space, allowed, rng)
        if rng is not None:
            scores = rng.normal(scores, np.exp(self._parameters["log_std"].astype(np.float64)))
        return np.clip(scores.astype(np.float32), space.low, space.high)
