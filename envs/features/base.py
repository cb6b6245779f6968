"""What a feature block is: some named numbers that describe a running search."""

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
    """What is known about an environment before its first episode.

    Attributes:
        functions: the fitness functions of the goal.
        n_actions: number of actions, or of the components of one.
        parts: names of the numbers that describe an action, see `fitgym.envs.action.base.Action.describe`: fitness
            functions, or the actions themselves where they activate none. The functions if empty.
        slots: names of the parts of a subject that the search can be focused on; empty where it cannot.
    """

    functions: tuple[str, ...]
    n_actions: int = 1
    parts: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Moment:
    """What an environment knows beside the engine when it observes.

    Attributes:
        remaining: share of the budget that is left, in [0, 1]; 1.0 without a budget.
        value: of the goal now.
        unit: the smallest step of the value that matters (`Goal.unit`).
        scale: the value at which its feature is one half (`Goal.scale`).
        gains: of the goal over the last steps, newest first.
        stagnation: steps since the goal's value last rose.
        action: index of the last action, -1 before the first.
        parts: a number in [0, 1] for each of `View.parts`, which describes the last action; empty before the first.
        slots: what was made of each of `View.slots`.
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

    A block reads the engine by its queries (`best`, `active`, `weights`, `spent`, `covered`, `measures`, `fitness_of`,
    `coverage`, `population`, `subject`) and changes nothing.

    Class attributes:
        low: the lowest value; smaller values are clipped.
        high: the highest value; larger values are clipped.
        shows_budget: it shows how much of the budget is left. With such a block a spent budget is `terminated`, because
            an agent can see it coming; otherwise it is `truncated`.
        reads_inactive: it may read fitness functions that do not guide the search. If no block does and no action can
            activate a function, the search measures the guiding functions only, which is faster.
    """

    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    shows_budget: ClassVar[bool] = False
    reads_inactive: ClassVar[bool] = True

    @abstractmethod
    def names(self, view: View) -> list[str]:
        """The names of the numbers, in order."""

    @abstractmethod
    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        """The numbers now, one for each name, after at least one generation."""


def blocks() -> Registry[Block]:
    """Every feature block by name."""
    return Registry("fitgym.envs.features", Block, "feature block")


def squash(x: float, half: float) -> float:
    """x / (x + half): 0 at 0, one half at `half`, always below 1."""
    return x / (x + half)


def coverage(engine: Queries, name: str) -> float:
    """The share of a function's targets that the archive covers; 0.0 without targets or measurements."""
    if not engine.measures(name):
        return 0.0
    covered = engine.covered(name)
    return np.count_nonzero(covered) / covered.size if covered.size else 0.0
