"""Fitness functions of actions as bits: the action `exception+branch` combines two."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["function_bits", "functions_of"]


def functions_of(name: str) -> tuple[str, ...]:
    """The distinct functions that an action combines."""
    return tuple(dict.fromkeys(part.strip() for part in name.split("+") if part.strip()))


def function_bits(names: Sequence[str]) -> NDArray[np.int8]:
    """The matrix of actions and the functions that they combine.

    Functions that all actions share are left out, because they do not distinguish actions.

    Args:
        names: of the actions.

    Returns:
        Bits of shape `(len(names), m)`, with m functions in the order of first appearance. The identity matrix if no
        action combines several functions, or if all actions combine the same ones.
    """
    combinations = [functions_of(name) for name in names]
    known = dict.fromkeys(function for combination in combinations for function in combination)
    telling = [function for function in known if not all(function in combination for combination in combinations)]
    if not telling or all(len(combination) < 2 for combination in combinations):
        return np.eye(len(names), dtype=np.int8)
    return np.array([[function in combination for function in telling] for combination in combinations], np.int8)
