"""Checks of numeric options of agents.

Numbers of numpy are accepted and converted to Python's, which JSON can store.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from fitgym.errors import InputError

__all__ = ["finite_reward", "non_negative", "number", "positive", "probability", "share", "whole"]


def number(value: Any) -> float | None:
    """The value as a Python number; None if it is not a finite number."""
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, Integral) else float(value)


def non_negative(value: Any, what: str) -> float:
    """Return the value if it is a finite number of at least 0.

    Raises:
        InputError: it is not.
    """
    found = number(value)
    if found is None or found < 0:
        raise InputError(f"{what} is {value}, expected a number of at least 0")
    return found


def positive(value: Any, what: str) -> float:
    """Return the value if it is a finite number above 0.

    Raises:
        InputError: it is not.
    """
    found = number(value)
    if found is None or found <= 0:
        raise InputError(f"{what} is {value}, expected a number above 0")
    return found


def probability(value: Any, what: str) -> float:
    """Return the value if it is a probability, in [0, 1].

    Raises:
        InputError: it is not.
    """
    return share(value, what, "probability")


def share(value: Any, what: str, kind: str = "number") -> float:
    """Return the value if it is in [0, 1]; `kind` is its noun in the message.

    Raises:
        InputError: it is not in [0, 1].
    """
    found = number(value)
    if found is None or not 0 <= found <= 1:
        raise InputError(f"{what} is {value}, expected a {kind} between 0 and 1")
    return found


def whole(value: Any, what: str, least: int, of: str = "") -> int:
    """Return the value if it is a whole number of at least `least`.

    Args:
        value: to check.
        what: its name in the message.
        least: the smallest valid value.
        of: the things that it counts, for the message.

    Raises:
        InputError: it is not.
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        counted = f" of {of}, at least {least}" if of else f" of at least {least}"
        raise InputError(f"{what} is {value}, expected a whole number{counted}")
    return int(value)


def finite_reward(reward: float) -> float:
    """Return the reward if it is a finite number.

    Raises:
        InputError: it is not.
    """
    if not math.isfinite(reward):
        raise InputError(f"the reward is {reward}, expected a finite number")
    return reward
