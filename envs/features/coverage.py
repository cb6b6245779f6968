"""Coverage: the share of the targets of the active functions that the archive covers."""

from __future__ import annotations

from typing import ClassVar

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View, coverage

__all__ = ["CombinedCoverage"]


class CombinedCoverage(Block):
    """The mean coverage of the active functions."""

    reads_inactive: ClassVar[bool] = False

    def names(self, view: View) -> list[str]:
        return ["coverage"]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        active = engine.active
        return [sum([coverage(engine, name) for name in active]) / len(active)]
