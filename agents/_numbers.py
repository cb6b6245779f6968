"""Numbers that agents are given: each kind is checked in one place, and refused in one sentence."""

from __future__ import annotations

import math
from typing import Any

from fitgym.errors import InputError

__all__ = ["finite_reward", "non_negative", "positive", "probability"]


def non_negative(value: Any, what: str) -> float:
    """The value, if it is a finite number of at least 0.

    Raises:
        InputError: it is not.
    """
    if not (isinstance(value, int | float) and math.isfinite(value) and value >= 0):
        raise InputError(f"{what} is {value}, expected a number of at least 0")
    return value


def positive(value: Any, what: str) -> float:
    """The value, if it is a finite number above 0.

    Raises:
        InputError: it is not.
    """
    if not (isinstance(value, int | float) and math.isfinite(value) and value > 0):
        raise InputError(f"{what} is {value}, expected a number above 0")
    return value


def probability(value: Any, what: str) -> float:
    """The value, if it is in [0, 1].

    Raises:
        InputError: it is not.
    """
    if not (isinstance(value, int | float) and 0 <= value <= 1):
        raise InputError(f"{what} is {value}, expected a probability between 0 and 1")
    return value


def finite_reward(reward: float) -> float:
    """The reward, if it is a finite number.

    Raises:
        InputError: it is not.
    """
    if not math.isfinite(reward):
        raise InputError(f"the reward is {reward}, expected a finite number")
    return reward
