"""Relative gains: the rise of the goal in each of the last three steps, relative to its value."""

from __future__ import annotations

import math
from typing import ClassVar

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View, squash

__all__ = ["RelativeGains"]


class RelativeGains(Block):
    """r / (r + 0.01) for each of the last three gains, newest first; 0 for a loss.

    r = ln((v + unit) / (u + unit)), where the goal's value rose from u to v; this is the reward "growth". A rise by 1 %
    of u + unit gives one half, for a count as well as for a share or a sum of distances.
    """

    reads_inactive: ClassVar[bool] = False

    def names(self, view: View) -> list[str]:
        return [f"relative_gain_{k}" for k in (1, 2, 3)]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        found, value = [], moment.value + moment.unit
        for gain in [*moment.gains, 0.0, 0.0, 0.0][:3]:
            before = value - gain
            ratio = math.log(value / before) if gain > 0 and before > 0 else 0.0
            found.append(squash(ratio, 0.01))
            value = before
        return found
