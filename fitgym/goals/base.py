"""What a goal is: what the tester wants in the end, and the reward for getting nearer."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from fitgym.engine.choices import FITNESS
from fitgym.engine.queries import Queries
from fitgym.errors import InputError, UnknownName

__all__ = ["Goal"]


class Goal(ABC):
    """A testing goal.

    Class attributes:
        fitness: the goal's own fitness function.
        kept: the fitness functions whose targets the final suite keeps covered.
        tracked: further fitness functions whose targets the search archives, whatever is active.
        functions: the fitness functions that an action may combine, the goal's own first.
        required: those of them that every action contains.
        catalogue: the combinations that an action chooses from unless the user says otherwise, see
            `fitgym.envs.catalogue`.
        scale: the value that counts as half way in features, because values may have no upper bound.
        ranges: the lowest and the highest reward that there can be, by the reward's name.
        agent: the agent that pursues the goal when the user names none.

    Args:
        reward: "paper", as published, or "gain", the change of `value` over the step.

    Raises:
        UnknownName: another reward.
    """

    fitness: str
    kept: tuple[str, ...]
    tracked: tuple[str, ...] = ()
    functions: tuple[str, ...]
    required: tuple[str, ...] = ()
    catalogue: str = "pairs"
    scale: ClassVar[float] = 1.0
    ranges: ClassVar[Mapping[str, tuple[float, float]]] = MappingProxyType(
        {"paper": (0.0, math.inf), "gain": (0.0, math.inf)}
    )
    agent: ClassVar[str] = "ucb"

    def __init__(self, reward: str = "paper") -> None:
        if reward not in ("paper", "gain"):
            raise UnknownName("reward", reward, ("paper", "gain"))
        self.reward_name = reward
        self._last = 0.0

    def combine(self, functions: str | Sequence[str]) -> None:
        """Replace the fitness functions that an action may combine, in this instance.

        The catalogue becomes "pairs"; functions that every action contained remain required if they are named.

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
        """How far the goal is reached, larger is better; never falls during a run."""

    def paper_reward(self, engine: Queries) -> float:
        """The reward as published; a goal without one of its own uses the value."""
        return self.value(engine)

    def begin(self, engine: Queries) -> None:
        """Start a run: remember the value to measure gains from."""
        self._last = self.value(engine)

    def reward(self, engine: Queries) -> float:
        """The reward for what has happened since the last call (or since `begin`)."""
        value = self.value(engine)
        gain, self._last = value - self._last, value
        return gain if self.reward_name == "gain" else self.paper_reward(engine)

    @property
    def reward_range(self) -> tuple[float, float]:
        """The lowest and the highest value of the reward that was asked for."""
        return self.ranges[self.reward_name]

    def reached(self, engine: Queries) -> bool:
        """Nothing is left to gain, so the run may stop."""
        return False
