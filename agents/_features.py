"""What an observation says about an action, as numbers that a linear function can weigh."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fitgym.errors import InputError

__all__ = ["Features", "Linear", "Tiles", "vector"]

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
    if not np.isfinite(seen).all():
        raise InputError("the observation holds a number that is not finite")
    return seen


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
        """Places where x(s, a) is not 0, and what is added up there; a place may be named twice."""

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

    def of(self, seen: Floats, action: int) -> tuple[Index, Floats]:
        first = action * self.width
        return np.arange(first, first + self.width), np.append(seen, 1.0)

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
        self._actions = np.arange(1, n_actions + 1, dtype=np.uint64) * odd[n_seen + 1]

    def of(self, seen: Floats, action: int) -> tuple[Index, Floats]:
        places = self._cells(seen, self._actions[action : action + 1])[0]
        return places, np.ones(len(places))

    def values(self, weights: Floats, seen: Floats) -> Floats:
        values: Floats = weights[self._cells(seen, self._actions)].sum(axis=1)
        return values

    def _cells(self, seen: Floats, actions: NDArray[np.uint64]) -> Index:
        """The places of the cells, shape `(len(actions), tilings)`."""
        intervals = np.floor(seen * self.tiles + self._shifts).astype(np.int64).astype(np.uint64)
        mixed = (intervals * self._places).sum(axis=1, dtype=np.uint64) + self._grids
        mixed = _scatter(actions[:, None] ^ _scatter(mixed)[None, :])
        return (mixed % np.uint64(self.size)).astype(np.intp)


def _scatter(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers that look drawn at random, another one for each (the finaliser of SplitMix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
