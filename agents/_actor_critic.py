"""What PPO and A2C have in common: a network that gives logarithms of probabilities, and one that values states."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from fitgym.agents._deep import Deep
from fitgym.agents._draw import draw
from fitgym.agents._network import Network

__all__ = ["ActorCritic"]


class ActorCritic(Deep):
    """A deep agent whose policy is a network of its own; only that one decides."""

    def network(self, parameters: Mapping[str, NDArray[np.float32]]) -> Network:
        """The layers of the policy, without those of the value."""
        return Network.of(parameters, ("mlp_extractor.policy_net", "action_net"), "tanh")

    def draw(self, scores: NDArray[np.float64], rng: np.random.Generator) -> int:
        """From the policy: the scores are logarithms of probabilities up to a constant."""
        return draw(np.exp(scores - scores.max()), rng)
