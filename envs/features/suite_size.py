"""Suite size: the number of test cases in the best suite."""

from __future__ import annotations

from typing import ClassVar

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View, squash

__all__ = ["SuiteSize"]


class SuiteSize(Block):
    """n / (n + 20) for a best suite of n test cases."""

    reads_inactive: ClassVar[bool] = False

    def names(self, view: View) -> list[str]:
        return ["suite_size"]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        return [squash(len(engine.best), 20.0)]
