"""Active: which fitness functions guide the search."""

from __future__ import annotations

from typing import ClassVar

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View

__all__ = ["Active"]


class Active(Block):
    """1 for each active function, 0 for the others."""

    reads_inactive: ClassVar[bool] = False

    def names(self, view: View) -> list[str]:
        return [f"active_{name}" for name in view.functions]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        active = engine.active
        return [1.0 if name in active else 0.0 for name in view.functions]
