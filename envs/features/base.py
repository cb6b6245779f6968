"""The base class of feature blocks: a block is a list of named numbers that describe a running search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fitgym.engine.queries import Queries
from fitgym.envs.parts import Part
from fitgym.registry import Registry

__all__ = ["Block", "Moment", "View", "blocks", "coverage", "squash"]


@dataclass(frozen=True, slots=True)
class View:
    """The properties of an environment that are known before its first episode.

    Attributes:
        functions: the fitness functions of the goal.
        n_actions: number of actions, or of the components of one action.
        parts: names of the numbers that describe an action, see `fitgym.envs.action.base.Action.describe`. These are
            fitness functions, or the actions themselves if they activate none. If empty, `functions` is used.
        slots: names of the parts of a subject that the search can focus on; empty if it cannot focus.
    """

    functions: tuple[str, ...]
    n_actions: int = 1
    parts: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Moment:
    """The state of an episode that is not in the engine.

    Attributes:
        remaining: the share of the budget that is left, in [0, 1]; 1.0 without a budget.
        value: the current value of the goal.
        unit: the smallest relevant step of the value (`Goal.unit`).
        scale: the value at which the goal's feature is one half (`Goal.scale`).
        gains: the goal's gains in the last steps, newest first.
        stagnation: the number of steps since the goal's value last rose.
        action: the index of the last action; -1 before the first action.
        parts: a number in [0, 1] for each of `View.parts` that describes the last action; empty before the first
            action.
        slots: the progress on each of `View.slots`.
    """

    remaining: float = 1.0
    value: float = 0.0
    scale: float = 1.0
    unit: float = 1.0
    gains: tuple[float, ...] = ()
    stagnation: int = 0
    action: int = -1
    parts: tuple[float, ...] = ()
    slots: tuple[Part, ...] = ()


class Block(ABC):
    """A block of features. Its name is the name of its file.

    A block only queries the engine (`best`, `active`, `weights`, `spent`, `covered`, `measures`, `fitness_of`,
    `coverage`, `population`, `subject`). It changes nothing.

    Class attributes:
        low: the lowest value; smaller values are clipped.
        high: the highest value; larger values are clipped.
        shows_budget: whether it shows how much of the budget is left. With such a block the agent can foresee the end,
            so a spent budget is `terminated`; otherwise it is `truncated`.
        reads_inactive: whether it may read fitness functions that do not guide the search. If no block does and no
            action can activate a function, the search measures the guiding functions only, which is faster.
    """

    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    shows_budget: ClassVar[bool] = False
    reads_inactive: ClassVar[bool] = True

    @abstractmethod
    def names(self, view: View) -> list[str]:
        """Return the names of the numbers, in order."""

    @abstractmethod
    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        """Return the current numbers, one per name; called after at least one generation."""


def blocks() -> Registry[Block]:
    """The registry of feature blocks."""
    return Registry("fitgym.envs.features", Block, "feature block")


def squash(x: float, half: float) -> float:
    """Return x / (x + half): 0 at 0, one half at `half`, always below 1."""
    return x / (x + half)


def coverage(engine: Queries, name: str) -> float:
    """Return the share of a function's targets that the archive covers; 0.0 without targets or measurements."""
    if not engine.measures(name):
        return 0.0
    covered = engine.covered(name)
    return np.count_nonzero(covered) / covered.size if covered.size else 0.0
