"""Action spaces: the form of actions, masks and uniform draws in each kind of space.

| space | action | mask |
|---|---|---|
| `Discrete(n)` | `int` from 0 to n - 1 | `(n,)`, an entry for each action |
| `MultiBinary(n)` | `int8` array of n bits | `(2n,)`, entry 2i allows 0 and entry 2i + 1 allows 1 for bit i, as in sb3-contrib |
| bounded `Box` of shape `(n,)` | `float32` array of n numbers | none: masks are ignored |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiBinary, Space
from numpy.typing import NDArray

from fitgym.agents.transition import Action
from fitgym.errors import InputError

__all__ = [
    "KNOWN",
    "allowed_by",
    "checked",
    "drawn",
    "fitted",
    "middle",
    "n_of",
    "parts",
    "plain",
    "read",
    "stacked",
    "usual",
]

KNOWN = "Discrete(n) starting at 0, MultiBinary(n), or a bounded one-dimensional Box of floating-point numbers"
"""The kinds of spaces that have agents, for messages."""


def usual(space: Space[Any] | int) -> Space[Any] | None:
    """The space in its canonical form; None if no agent acts in it.

    A number n means `Discrete(n)`. A `Box` gets the dtype `float32`; its bounds are rounded inwards.

    Raises:
        InputError: the space has no actions.
    """
    if isinstance(space, int | np.integer):
        if space < 1:
            raise InputError(f"the number of actions is {space}, expected at least 1")
        return Discrete(int(space))
    if isinstance(space, Discrete) and space.start == 0:
        return Discrete(int(space.n))
    if isinstance(space, MultiBinary) and isinstance(space.n, int | np.integer):
        return MultiBinary(int(space.n))
    if isinstance(space, Box) and np.issubdtype(space.dtype, np.floating) and len(space.shape) == 1 and space.shape[0]:
        if not space.is_bounded():
            return None
        low, high = space.low.astype(np.float32), space.high.astype(np.float32)
        low = np.where(low < space.low, np.nextafter(low, np.float32(np.inf)), low)
        high = np.where(high > space.high, np.nextafter(high, np.float32(-np.inf)), high)
        return Box(low, high, dtype=np.float32)
    return None


def n_of(space: Space[Any]) -> int:
    """Number of actions, bits or numbers."""
    return int(space.shape[0]) if isinstance(space, Box) else int(space.n)  # type: ignore[attr-defined]


def parts(space: Space[Any]) -> str:
    """The noun for the things that `n_of` counts."""
    return "bits" if isinstance(space, MultiBinary) else "numbers" if isinstance(space, Box) else "actions"


def allowed_by(space: Space[Any], mask: Any) -> NDArray[np.bool_]:
    """The mask as an array; all true if it is None or if the space is a `Box`.

    Raises:
        InputError: the mask has another shape or allows no action.
    """
    n = n_of(space)
    size = 2 * n if isinstance(space, MultiBinary) else n
    if mask is None or isinstance(space, Box):
        return np.ones(size, bool)
    found = np.asarray(mask, bool)
    if found.shape != (size,):
        raise InputError(f"the action mask has shape {found.shape}, expected ({size},)")
    if not isinstance(space, MultiBinary):
        if not found.any():
            raise InputError(f"the action mask forbids all {n} actions")
    elif not found.reshape(n, 2).any(axis=1).all():
        bit = int(np.argmin(found.reshape(n, 2).any(axis=1)))
        raise InputError(f"the action mask forbids both values of bit {bit}")
    return found


def checked(space: Space[Any], action: Any) -> Action:
    """Return the action in its canonical form.

    Raises:
        InputError: the action is not in the space.
    """
    if isinstance(space, Discrete):
        if not (type(action) is int or np.ndim(action) == 0) or not 0 <= action < space.n:
            raise InputError(f"the action is {action}, expected 0 to {space.n - 1}")
        return int(action)
    found = np.asarray(action)
    if isinstance(space, MultiBinary):
        if found.shape != space.shape or not np.isin(found, (0, 1)).all():
            raise InputError(f"the action is {found.tolist()}, expected {space.n} bits")
        return found.astype(np.int8)
    assert isinstance(space, Box), "agents act in no other space"
    if found.shape != space.shape or not ((found >= space.low) & (found <= space.high)).all():
        raise InputError(f"the action is {found.tolist()}, expected numbers in {space}")
    return found.astype(np.float32)


def stacked(space: Space[Any], actions: Sequence[Action], batch: int | None) -> NDArray[Any]:
    """The actions in one array, with a first axis for the batch unless `batch` is None."""
    inner = () if isinstance(space, Discrete) else (n_of(space),)
    return np.array(actions, space.dtype).reshape(inner if batch is None else (batch, *inner))


def drawn(space: Space[Any], allowed: NDArray[np.bool_], rng: np.random.Generator) -> Action:
    """Draw uniformly from the allowed actions."""
    if isinstance(space, Discrete):
        return int(rng.choice(np.flatnonzero(allowed)))
    if isinstance(space, MultiBinary):
        return fitted(rng.integers(0, 2, n_of(space), np.int8), allowed)
    assert isinstance(space, Box), "agents act in no other space"
    numbers: NDArray[np.float32] = np.clip(
        space.low + (space.high - space.low) * rng.random(n_of(space)), space.low, space.high
    ).astype(np.float32)
    return numbers


def fitted(bits: NDArray[np.int8], allowed: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Flip the bits whose value the mask forbids."""
    zero, one = allowed[0::2], allowed[1::2]
    return np.where(zero & one, bits, one).astype(np.int8)


def middle(space: Space[Any], allowed: NDArray[np.bool_]) -> Action:
    """A neutral action: the first allowed one, bits that are 0 where allowed, or the centre of a box."""
    if isinstance(space, Discrete):
        return int(np.flatnonzero(allowed)[0])
    if isinstance(space, MultiBinary):
        return fitted(np.zeros(n_of(space), np.int8), allowed)
    assert isinstance(space, Box), "agents act in no other space"
    return np.clip(space.low + (space.high - space.low) / 2, space.low, space.high)


def plain(space: Space[Any]) -> dict[str, Any]:
    """The space as JSON."""
    if isinstance(space, Box):
        return {"kind": "Box", "low": space.low.tolist(), "high": space.high.tolist()}
    return {"kind": type(space).__name__, "n": n_of(space)}


def read(description: Mapping[str, Any]) -> Space[Any]:
    """The space of a description by `plain`."""
    if description["kind"] == "Box":
        low, high = (np.array(description[side], np.float32) for side in ("low", "high"))
        return Box(low, high, dtype=np.float32)
    n = int(description["n"])
    return MultiBinary(n) if description["kind"] == "MultiBinary" else Discrete(n)
