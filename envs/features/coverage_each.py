"""Coverage of each function."""

from __future__ import annotations

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View, coverage

__all__ = ["CoverageEach"]


class CoverageEach(Block):
    """The share of the targets of each function that the archive covers; 0 for functions never measured."""

    def names(self, view: View) -> list[str]:
        return [f"coverage_{name}" for name in view.functions]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        return [coverage(engine, name) for name in view.functions]
