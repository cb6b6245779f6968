"""Remaining budget: the share of the budget that is left."""

from __future__ import annotations

from typing import ClassVar

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View

__all__ = ["RemainingBudget"]


class RemainingBudget(Block):
    """The share of the budget that is left; 1 without a budget."""

    shows_budget: ClassVar[bool] = True
    reads_inactive: ClassVar[bool] = False

    def names(self, view: View) -> list[str]:
        return ["remaining_budget"]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        return [moment.remaining]
