"""What an observation says about an action, as numbers that a linear function can weigh."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fitgym.errors import InputError

__all__ = ["Features", "Linear", "Tiles", "vector", "with_one"]

Floats = NDArray[np.float64]
Index = NDArray[np.intp]


def vector(observation: Any) -> Floats:
    """An observation as numbers in a row; None, of an environment that shows nothing, is no numbers.

    Raises:
        InputError: it is something else, or a number is not finite.
    """
    if observation is None:
        return np.zeros(0)
    try:
        seen = np.asarray(observation, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise InputError(f"the observation is a {type(observation).__name__}, expected numbers in an array") from None
    # The sum of squares is finite if all of them are; it takes a third of the time to find out, and seldom overflows.
    if not (math.isfinite(seen.dot(seen)) or np.isfinite(seen).all()):
        raise InputError("the observation holds a number that is not finite")
    return seen


def with_one(seen: Floats) -> Floats:
    """The numbers and a 1, so that a weight can be a constant; shape `(len(seen) + 1,)`."""
    longer = np.empty(len(seen) + 1)
    longer[:-1] = seen
    longer[-1] = 1.0
    return longer


class Features(ABC):
    """The feature vectors x(s, a) of all actions, each with few entries that are not 0.

    Attributes:
        size: length of a vector.
        step: what a step size is divided by, so that it means the same for all kinds of features.
    """

    size: int
    step: float

    @abstractmethod
    def of(self, seen: Floats, action: int) -> tuple[Index, Floats]:
        """Places where x(s, a) is not 0, and what is added up there; a place may be named twice. Not to be changed."""

    @abstractmethod
    def values(self, weights: Floats, seen: Floats) -> Floats:
        """q(s, a) = w . x(s, a) of every action; shape `(n_actions,)`."""


class Linear(Features):
    """The observation itself and a constant 1, with weights of its own for each action.

    Args:
        n_actions: how many there are.
        n_seen: length of an observation.
    """

    def __init__(self, n_actions: int, n_seen: int) -> None:
        self.n_actions = n_actions
        self.width = n_seen + 1
        self.size = n_actions * self.width
        self.step = 1.0
        self._places = np.arange(self.size).reshape(n_actions, self.width)

    def of(self, seen: Floats, action: int) -> tuple[Index, Floats]:
        return self._places[action], with_one(seen)

    def values(self, weights: Floats, seen: Floats) -> Floats:
        rows = weights.reshape(self.n_actions, self.width)
        values: Floats = rows[:, :-1] @ seen + rows[:, -1]
        return values


class Tiles(Features):
    """Tile coding: overlapping grids over all entries of the observation, each shifted a little, hashed into a table.

    Grid g of n cuts each entry into intervals of length 1 / tiles and is shifted by g * (2 i + 1) / n intervals along
    entry i. The cells an observation falls into, one of each grid, are 1 and everything else is 0; an action has cells
    of its own. Cells share places in the table by chance, the less the larger `memory` is.

    Args:
        n_actions: how many there are.
        n_seen: length of an observation, whose entries are in [0, 1].
        tiles: intervals in [0, 1].
        tilings: grids.
        memory: places in the table.

    References:
        Sutton and Barto 2018, Reinforcement Learning: An Introduction, 2nd edition, section 9.5.4: the displacement
        vector of the first odd integers, hashing, and the step size divided by the number of tilings.
    """

    def __init__(self, n_actions: int, n_seen: int, tiles: int, tilings: int, memory: int) -> None:
        self.tiles = tiles
        self.size = memory
        self.step = float(tilings)
        shifts = np.arange(tilings)[:, None] * (2 * np.arange(n_seen) + 1) % tilings
        self._shifts: Floats = shifts / tilings
        # Multipliers that are the same in every process, one for each coordinate of a cell: its grid, its intervals and
        # the action. The generator is seeded by nothing but the shape of the table.
        rng = np.random.default_rng((n_seen, tiles, tilings, memory))
        odd = rng.integers(0, 2**63, n_seen + 2, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
        self._places = odd[:n_seen]
        self._grids = np.arange(1, tilings + 1, dtype=np.uint64) * odd[n_seen]
        self._actions = np.arange(1, n_actions + 1, dtype=np.uint64)[:, None] * odd[n_seen + 1]
        self._ones = np.ones(tilings)
        self._last: tuple[bytes | None, Index] = None, np.zeros((0, tilings), np.intp)  # an observation and its places

    def of(self, seen: Floats, action: int) -> tuple[Index, Floats]:
        known, places = self._last
        # What an agent learns about is most often what it was shown last, for which all actions were looked up.
        if known != seen.tobytes():
            places = self._cells(seen, self._actions[action : action + 1])
            action = 0
        return places[action], self._ones

    def values(self, weights: Floats, seen: Floats) -> Floats:
        places = self._cells(seen, self._actions)
        self._last = seen.tobytes(), places
        values: Floats = weights.take(places).sum(axis=1)
        return values

    def _cells(self, seen: Floats, actions: NDArray[np.uint64]) -> Index:
        """The places of the cells, shape `(len(actions), tilings)`."""
        intervals = np.floor(seen * self.tiles + self._shifts).astype(np.int64).view(np.uint64)
        mixed = actions ^ _scatter(intervals @ self._places + self._grids)
        # Numbers this small are the same with a sign, and a view costs nothing.
        places: Index = (_scatter(mixed) % np.uint64(self.size)).view(np.int64)
        return places


_SHIFTS = tuple(np.uint64(bits) for bits in (30, 27, 31))
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def _scatter(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Change numbers to such that look drawn at random, another one for each (the finaliser of SplitMix64)."""
    shifted = numbers >> _SHIFTS[0]
    numbers ^= shifted
    numbers *= _FACTORS[0]
    np.right_shift(numbers, _SHIFTS[1], out=shifted)
    numbers ^= shifted
    numbers *= _FACTORS[1]
    np.right_shift(numbers, _SHIFTS[2], out=shifted)
    numbers ^= shifted
    return numbers
