"""Kept coverage: the share of the targets of each function that the result covers, active or not."""

from __future__ import annotations

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View

__all__ = ["KeptCoverage"]


class KeptCoverage(Block):
    """The share of each function's targets that the archive and the best suite cover together.

    0 for functions without measurements, and for functions without targets, such as diversity.
    """

    def names(self, view: View) -> list[str]:
        return [f"kept_coverage_{name}" for name in view.functions]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        return [engine.kept_coverage(name) if engine.measures(name) else 0.0 for name in view.functions]
