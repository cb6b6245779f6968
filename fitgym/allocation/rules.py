"""Rules of budget allocation: each chooses the module of the next slice.

A rule takes the standings of all modules and returns the index of one with open branches. Ties go to the module with
fewer slices, then to the first. If no module has open branches, every rule returns the first one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from fitgym.allocation.standing import Standing

__all__ = ["RULES", "Rule"]

Rule = Callable[[Sequence[Standing]], int]
"""Chooses the module of the next slice."""


def in_turn(standings: Sequence[Standing]) -> int:
    """Choose the module with the fewest slices: equal shares."""
    return _best(standings, [-one.slices for one in standings])


def by_size(standings: Sequence[Standing]) -> int:
    """Give shares in proportion to the number of branches.

    The next slice goes to the largest quotient size / (2 slices + 1), as the Sainte-Laguë method allocates seats.
    """
    return _best(standings, [one.total / (2 * one.slices + 1) for one in standings])


def by_root_size(standings: Sequence[Standing]) -> int:
    """Give shares in proportion to the square root of the number of branches."""
    return _best(standings, [math.sqrt(one.total) / (2 * one.slices + 1) for one in standings])


def by_open(standings: Sequence[Standing]) -> int:
    """Give shares in proportion to the currently open branches."""
    return _best(standings, [one.open / (2 * one.slices + 1) for one in standings])


def by_root_open(standings: Sequence[Standing]) -> int:
    """Give shares in proportion to the square root of the currently open branches."""
    return _best(standings, [math.sqrt(one.open) / (2 * one.slices + 1) for one in standings])


def last_gain(standings: Sequence[Standing]) -> int:
    """Choose the module whose last slice covered the most new branches."""
    return _best(standings, [one.rate(1) if one.slices else math.inf for one in standings])


def recent_gain(standings: Sequence[Standing]) -> int:
    """Choose the module with the most new branches per slice in the second half of its slices, with optimism.

    The rate of a module with one slice is half of its open branches, so that each module gets a second slice early.
    Later rates get a bonus of `1 / slices`: a search without gain in ten slices is tried again before one without gain
    in twenty.
    """
    return _best(standings, [_recent(one) for one in standings])


def ucb(standings: Sequence[Standing]) -> int:
    """Choose by the upper confidence bound of the newly covered branches per slice, without the first slice.

    The gains are divided by the largest rate, because UCB1 expects rewards in [0, 1].

    References:
        Auer, Cesa-Bianchi and Fischer 2002, Finite-time Analysis of the Multiarmed Bandit Problem: UCB1.
    """
    played = [max(one.slices - 1, 0) for one in standings]
    rates = [one.rate(n) if n else 0.0 for one, n in zip(standings, played, strict=True)]
    scale = max(rates, default=0.0) or 1.0
    logarithm = math.log(max(sum(played), 1))
    return _best(
        standings,
        [rate / scale + math.sqrt(2 * logarithm / n) if n else math.inf for rate, n in zip(rates, played, strict=True)],
    )


RULES: Final[Mapping[str, Rule]] = {
    rule.__name__: rule for rule in (in_turn, by_size, by_root_size, by_open, by_root_open, last_gain, recent_gain, ucb)
}
"""The rules by name."""


def _recent(one: Standing) -> float:
    if one.slices == 0:
        return math.inf
    if one.slices == 1:
        return one.open / 2
    return one.rate(one.slices // 2) + 1 / one.slices


def _best(standings: Sequence[Standing], values: Sequence[float]) -> int:
    """Return the index of the module with open branches and the largest value."""
    found = [place for place, one in enumerate(standings) if one.open]
    return min(found, key=lambda place: (-values[place], standings[place].slices, place), default=0)
