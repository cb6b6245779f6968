"""Features: state-action feature vectors for linear value functions."""

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
    """Convert an observation to a vector. None, from an environment without observations, becomes an empty vector.

    Raises:
        InputError: the observation is not numeric, or a number is not finite.
    """
    if observation is None:
        return np.zeros(0)
    try:
        seen = np.asarray(observation, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise InputError(f"the observation is a {type(observation).__name__}, expected numbers in an array") from None
    # The sum of squares is finite if all numbers are. It takes a third of the time of a full check and rarely overflows.
    if not (math.isfinite(seen.dot(seen)) or np.isfinite(seen).all()):
        raise InputError("the observation has an entry that is infinite or not a number, expected finite numbers")
    return seen


def with_one(seen: Floats) -> Floats:
    """Append a 1, whose weight is the constant term; shape `(len(seen) + 1,)`."""
    longer = np.empty(len(seen) + 1)
    longer[:-1] = seen
    longer[-1] = 1.0
    return longer


class Features(ABC):
    """The sparse feature vectors x(s, a) of all actions.

    Attributes:
        size: length of a vector.
        step: divisor of step sizes, which makes them comparable between kinds of features.
    """

    size: int
    step: float

    @abstractmethod
    def of(self, seen: Floats, action: int) -> tuple[Index, Floats]:
        """The indices and values of the non-zero entries of x(s, a). Values of repeated indices add up. Read only."""

    @abstractmethod
    def values(self, weights: Floats, seen: Floats) -> Floats:
        """q(s, a) = w . x(s, a) of every action; shape `(n_actions,)`."""


class Linear(Features):
    """The observation and a constant 1, with separate weights for each action.

    Args:
        n_actions: number of actions.
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
    """Tile coding: overlapping, shifted grids over all entries of the observation, hashed into a table.

    Grid g of n cuts each entry into intervals of length 1 / tiles and is shifted by g * (2 i + 1) / n intervals along
    entry i. An observation is in one cell of each grid; these cells have the value 1 and all others 0. Each action has
    separate cells. Hashing may put two cells at one index; a larger `memory` makes such collisions rarer.

    Args:
        n_actions: number of actions.
        n_seen: length of an observation, whose entries are in [0, 1].
        tiles: number of intervals in [0, 1].
        tilings: number of grids.
        memory: length of the table.

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
        # One multiplier for each coordinate of a cell: its grid, its intervals and the action. The generator is seeded
        # by the shape of the table alone, so the multipliers are the same in every process.
        rng = np.random.default_rng((n_seen, tiles, tilings, memory))
        odd = rng.integers(0, 2**63, n_seen + 2, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
        self._places = odd[:n_seen]
        self._grids = np.arange(1, tilings + 1, dtype=np.uint64) * odd[n_seen]
        self._actions = np.arange(1, n_actions + 1, dtype=np.uint64)[:, None] * odd[n_seen + 1]
        self._ones = np.ones(tilings)
        self._last: tuple[bytes | None, Index] = None, np.zeros((0, tilings), np.intp)  # an observation and its indices

    def of(self, seen: Floats, action: int) -> tuple[Index, Floats]:
        known, places = self._last
        # An update usually follows a decision on the same observation, for which all actions were computed.
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
        """The indices of the cells, shape `(len(actions), tilings)`."""
        intervals = np.floor(seen * self.tiles + self._shifts).astype(np.int64).view(np.uint64)
        mixed = actions ^ _scatter(intervals @ self._places + self._grids)
        # The numbers are small enough to be equal as signed integers, and a view costs nothing.
        places: Index = (_scatter(mixed) % np.uint64(self.size)).view(np.int64)
        return places


_SHIFTS = tuple(np.uint64(bits) for bits in (30, 27, 31))
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def _scatter(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash numbers one to one (the finaliser of SplitMix64)."""
    shifted = numbers >> _SHIFTS[0]
    numbers ^= shifted
    numbers *= _FACTORS[0]
    np.right_shift(numbers, _SHIFTS[1], out=shifted)
    numbers ^= shifted
    numbers *= _FACTORS[1]
    np.right_shift(numbers, _SHIFTS[2], out=shifted)
    numbers ^= shifted
    return numbers
