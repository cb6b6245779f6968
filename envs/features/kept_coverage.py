"""Kept coverage: how many targets of each function the result covers, active or not."""

from __future__ import annotations

from fitgym.engine.choices import FITNESS
from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View, squash

__all__ = ["KeptCoverage"]


class KeptCoverage(Block):
    """How many targets of each function the archive and the best suite cover together.

    The share of the function's targets; for a function that finds its targets during the search, such as exception,
    c / (c + 10) for c covered targets, because it knows no others. 0 for functions without measurements. Functions that
    read test cases, such as diversity, have no targets and are left out.
    """

    def names(self, view: View) -> list[str]:
        return [f"kept_coverage_{name}" for name in _with_targets(view)]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        return [_kept(engine, name) if engine.measures(name) else 0.0 for name in _with_targets(view)]


def _with_targets(view: View) -> list[str]:
    return [name for name in view.functions if not FITNESS.load(name).reads_tests]


def _kept(engine: Queries, name: str) -> float:
    share, function = engine.kept_coverage(name), engine.function(name)
    return squash(share * len(function.targets), 10.0) if function.dynamic else share
