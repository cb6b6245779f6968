"""Last action: the index of the agent's last action."""

from __future__ import annotations

from typing import ClassVar

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View

__all__ = ["LastAction"]


class LastAction(Block):
    """(i + 1) / n for action i of n, counted from 0; 0 before the first action."""

    reads_inactive: ClassVar[bool] = False

    def names(self, view: View) -> list[str]:
        return ["last_action"]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        return [(moment.action + 1) / view.n_actions]
