"""Last choice: a description of the last action."""

from __future__ import annotations

from typing import ClassVar

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View

__all__ = ["LastChoice"]


class LastChoice(Block):
    """A number for each part of an action; all are 0 before the first action.

    If actions activate fitness functions: 1 for each function of the last action, else 0. For other actions of a list:
    1 for the last action, 0 for the others. For rates: (1 + x) / 2 for each number x of the last action.
    """

    reads_inactive: ClassVar[bool] = False

    def names(self, view: View) -> list[str]:
        return [f"last_{part}" for part in view.parts or view.functions]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        return list(moment.parts) or [0.0] * len(view.parts or view.functions)
