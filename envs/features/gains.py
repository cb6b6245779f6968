"""Gains: the rise of the goal's value in each of the last three steps."""

from __future__ import annotations

from typing import ClassVar

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View, squash

__all__ = ["Gains"]


class Gains(Block):
    """g / (g + 1) for each gain g of the goal's value, newest first; 0 for a loss."""

    reads_inactive: ClassVar[bool] = False

    def names(self, view: View) -> list[str]:
        return [f"gain_{k}" for k in (1, 2, 3)]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        gains = [*moment.gains, 0.0, 0.0, 0.0][:3]
        return [squash(max(0.0, gain), 1.0) for gain in gains]
