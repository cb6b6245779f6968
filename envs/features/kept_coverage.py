"""Kept coverage: the targets of each function that the result covers, whether the function is active or not."""

from __future__ import annotations

from fitgym.engine.choices import FITNESS
from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View, squash

__all__ = ["KeptCoverage"]


class KeptCoverage(Block):
    """The targets of each function that the archive and the best suite cover together, as a share.

    Some functions, such as exception, find their targets during the search, so a share is not possible. Their number is
    c / (c + 10) for c covered targets. Functions without measurements get 0. Functions that read test cases, such as
    diversity, have no targets and are left out.
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
