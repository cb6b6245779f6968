"""The base class of goals: a goal defines the value of a search result and the reward for progress."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from fitgym.engine.choices import FITNESS
from fitgym.engine.queries import Queries
from fitgym.errors import InputError, UnknownName

__all__ = ["REWARDS", "Goal"]

REWARDS = ("growth", "gain", "paper", "released")
"""The names of the rewards; see `Goal`."""


class Goal(ABC):
    """A testing goal.

    A step that raises the goal's value from v to w gets one of these rewards:

        growth      ln((w + unit) / (v + unit)), the relative growth; its scale is the same for all goals and subjects
        gain        w - v, in the goal's own unit
        paper       as published for the goal
        released    as in the code released with the paper, where it differs

    Once the value is well above one unit, doubling it is worth ln 2 = 0.69 for every goal and subject. Without
    discounting, the growth of an episode sums to ln((last + unit) / (first + unit)). Maximising it therefore maximises
    the final value.

    Class attributes:
        fitness: the goal's own fitness function.
        kept: the fitness functions whose targets the final suite keeps covered.
        tracked: further fitness functions whose targets the search always archives, active or not.
        late: expensive members of `kept` and `functions`. Nothing is recorded for them before an action activates them.
        functions: the fitness functions that an action may combine, the goal's own first.
        required: the functions that every action contains.
        catalogue: the default catalogue of actions, see `fitgym.envs.catalogue`.
        unit: the smallest relevant step of the value; it keeps `growth` finite for a value of 0.
        scale: the value that counts as half way in features, because values may have no upper bound.
        highest: the upper bound of the value.
        paper_range: the lowest and the highest reward "paper".
        released_range: the lowest and the highest reward "released".
        agent: the agent that is used if the user names none.
        search: the search that `fitgym generate` uses if the user names none.
        checking: the final suite has no tests that check nothing, see `fitgym.suite.idle`.

    Args:
        reward: the name of the reward, see above.

    Raises:
        UnknownName: there is no such reward.
    """

    fitness: str
    kept: tuple[str, ...]
    tracked: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    functions: tuple[str, ...]
    required: tuple[str, ...] = ()
    catalogue: str = "pairs"
    unit: ClassVar[float] = 1.0
    scale: ClassVar[float] = 1.0
    highest: ClassVar[float] = math.inf
    paper_range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    released_range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    agent: ClassVar[str] = "ucb"
    search: ClassVar[str] = "whole_suite"
    checking: ClassVar[bool] = False

    def __init__(self, reward: str = REWARDS[0]) -> None:
        if reward not in REWARDS:
            raise UnknownName("reward", reward, REWARDS)
        self.reward_name = reward
        self._last = 0.0

    def combine(self, functions: str | Sequence[str]) -> None:
        """Replace the fitness functions that an action may combine, in this instance only.

        The catalogue becomes "pairs". Required functions remain required if they are among the new ones.

        Args:
            functions: a list, or names joined by commas: exception,branch,loop_twice.

        Raises:
            InputError: no function is named.
            UnknownName: a name is not a fitness function.
        """
        parts = functions.split(",") if isinstance(functions, str) else functions
        names = tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
        if not names:
            raise InputError("functions names no fitness function: name at least one, for example exception,branch")
        for name in names:
            FITNESS.load(name)
        self.functions = names
        self.required = tuple(name for name in self.required if name in names)
        self.catalogue = "pairs"

    @abstractmethod
    def value(self, engine: Queries) -> float:
        """Return the progress towards the goal; larger is better, and it never falls during a run."""

    def paper_reward(self, engine: Queries) -> float:
        """Return the published reward; the value for a goal without a published reward."""
        return self.value(engine)

    def released_reward(self, engine: Queries) -> float:
        """Return the reward of the released code; the paper's reward where they agree."""
        return self.paper_reward(engine)

    def begin(self, engine: Queries) -> None:
        """Start a run: store the value from which gains are measured."""
        self._last = self.value(engine)

    def reward(self, engine: Queries) -> float:
        """Return the reward for the progress since the last call (or since `begin`)."""
        before, value = self._last, self.value(engine)
        self._last = value
        match self.reward_name:
            case "growth":
                return math.log((value + self.unit) / (before + self.unit))
            case "gain":
                return value - before
            case "paper":
                return self.paper_reward(engine)
        return self.released_reward(engine)

    @property
    def reward_range(self) -> tuple[float, float]:
        """The lowest and the highest value of the chosen reward."""
        known = {
            "growth": (0.0, math.log((self.highest + self.unit) / self.unit)),
            "gain": (0.0, self.highest),
            "paper": self.paper_range,
            "released": self.released_range,
        }
        return known[self.reward_name]

    def reached(self, engine: Queries) -> bool:
        """Whether the value cannot rise any more, so that the run may stop."""
        return False
