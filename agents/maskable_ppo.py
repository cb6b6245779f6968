"""PPO that knows while it learns which actions are allowed."""

from __future__ import annotations

from typing import ClassVar

from fitgym.agents.ppo import PPO

__all__ = ["MaskablePPO"]


class MaskablePPO(PPO):
    """Proximal policy optimisation with invalid actions masked, by sb3-contrib; arguments as for `ppo`.

    The environment must have `action_masks()`, as those of fitgym have. Every agent honours masks when it acts; this one
    also leaves masked actions out of what it learns, which the others find out by trying.

    References:
        Huang and Ontañón 2022, A Closer Look at Invalid Action Masking in Policy Gradient Algorithms.
    """

    algorithm: ClassVar[str] = "sb3_contrib:MaskablePPO"
