"""The goal of going round loops."""

from __future__ import annotations

from fitgym.engine.queries import Queries
from fitgym.goals.base import Goal


class Looping(Goal):
    """Run the body of every loop ten times; the value is the share of the bodies for which a test case does."""

    fitness = "again"
    kept = ("again", "line")
    functions = ("again", "branch", "line", "exception")
    catalogue = "pairs"

    def value(self, engine: Queries) -> float:
        """In [0, 1]."""
        covered = engine.covered(self.fitness)
        return float(covered.mean()) if covered.size else 1.0
