"""A feature set: the blocks of an observation, in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View, blocks
from fitgym.errors import FitgymError, InputError, UnknownName

__all__ = ["FEATURE_SETS", "FeatureSet"]

_PAPER: Final = ("active", "fitness", "suite_size", "coverage")

FEATURE_SETS: Final[Mapping[str, tuple[str, ...]]] = {
    # Almulla and Gay 2022, section on DSG-Sarsa: the active fitness functions, their fitness value, the size of the
    # suite and the coverage of the sub-goals of the active functions.
    "paper-v1": _PAPER,
    "full-v1": (
        *_PAPER,
        *("fitness_each", "coverage_each", "goal", "gains", "stagnation", "remaining_budget", "last_action"),
    ),
    # The true fitness of each function, active or not, statistics of the search, and a profile of the program.
    "full-v2": (
        *("active", "true_fitness", "kept_coverage", "goal", "relative_gains", "last_choice"),
        *("remaining_budget", "stagnation", "population", "program"),
    ),
}
"""The versioned sets. A set never changes, because trained policies depend on it; a changed set gets a new version."""


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """The blocks of an observation.

    Attributes:
        name: the text given to `load`, for example "paper-v1" or "full-v1+my_block".
        blocks: the blocks in order.
    """

    name: str
    blocks: tuple[Block, ...]

    def names(self, view: View) -> list[str]:
        """Return the names of all numbers.

        Raises:
            InputError: two numbers have the same name.
        """
        found = [name for block in self.blocks for name in block.names(view)]
        for name in found:
            if found.count(name) > 1:
                raise InputError(f"features '{self.name}' have '{name}' twice: leave out one of the two blocks")
        return found

    @property
    def shows_budget(self) -> bool:
        """Whether a block shows how much of the budget is left."""
        return any(block.shows_budget for block in self.blocks)

    @property
    def reads_inactive(self) -> bool:
        """Whether a block reads fitness functions that may not be active."""
        return any(block.reads_inactive for block in self.blocks)

    def space(self, view: View) -> spaces.Box:
        """Return the space of the observations: `Box(0, 1, (n,), float32)` unless a block has other bounds."""
        low, high = self._bounds(self._sizes(view))
        return spaces.Box(low, high, dtype=np.float32)

    def observe(self, engine: Queries, view: View, moment: Moment) -> NDArray[np.float32]:
        """Return a new observation vector, with every entry clipped to the bounds of its block."""
        values: list[float] = []
        sizes = self._sizes(view)
        for block, n in zip(self.blocks, sizes, strict=True):
            found = block.values(engine, view, moment)
            if len(found) != n:
                raise FitgymError(f"feature block {type(block).__name__} has {n} names and {len(found)} values")
            values += found
        low, high = self._bounds(sizes)
        return np.clip(np.array(values, dtype=np.float32), low, high)

    def _sizes(self, view: View) -> list[int]:
        """The number of values in each block."""
        return [len(block.names(view)) for block in self.blocks]

    def _bounds(self, sizes: list[int]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        low, high = ([getattr(block, end) for block in self.blocks] for end in ("low", "high"))
        return np.repeat(np.array(low, np.float32), sizes), np.repeat(np.array(high, np.float32), sizes)

    @staticmethod
    def load(text: str) -> FeatureSet:
        """Parse the name of a set: a versioned set, a block, or several of these joined by +.

        Raises:
            UnknownName: a part is neither a set nor a block.
            InputError: a block is named twice.
        """
        known = blocks()
        parts = [part.strip() for part in text.split("+")]
        names: list[str] = []
        for part in parts:
            if part not in FEATURE_SETS and part not in known.names():
                noun = "feature set" if len(parts) == 1 else "feature block"
                raise UnknownName(noun, part, [*FEATURE_SETS, *known.names()])
            names += FEATURE_SETS.get(part, (part,))
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"features '{text}' have the block '{name}' twice: name it once")
        return FeatureSet(text, tuple(known.load(name)() for name in names))
