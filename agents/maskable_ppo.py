"""Maskable PPO: PPO that leaves masked actions out of learning."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Discrete, MultiBinary, Space
from numpy.typing import NDArray

from fitgym.agents.ppo import PPO
from fitgym.agents.transition import Action

__all__ = ["MaskablePPO"]


class MaskablePPO(PPO):
    """Proximal policy optimisation with invalid actions masked, by sb3-contrib; arguments as for `ppo`.

    The environment must have `action_masks()`, as fitgym's environments do. Every agent respects masks when it acts. This
    one also gives masked actions probability 0 in the policy that it trains. For `MultiBinary`, the network has two scores
    for each bit, one for 0 and one for 1.

    References:
        Huang and Ontañón 2022, A Closer Look at Invalid Action Masking in Policy Gradient Algorithms.
    """

    algorithm: ClassVar[str] = "sb3_contrib:MaskablePPO"
    spaces: ClassVar[tuple[type[Space[Any]], ...]] = (Discrete, MultiBinary)

    @property
    def n_scores(self) -> int:
        """Two for each bit, one for each action of `Discrete`."""
        return self.n_actions * (2 if isinstance(self.action_space, MultiBinary) else 1)

    def decide(
        self, scores: NDArray[np.float64], allowed: NDArray[np.bool_], rng: np.random.Generator | None
    ) -> Action:
        """Choose as `ppo` does; the logit of a bit is the score of 1 minus the score of 0."""
        logits = scores[1::2] - scores[0::2] if isinstance(self.action_space, MultiBinary) else scores
        return super().decide(logits, allowed, rng)
