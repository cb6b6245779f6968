"""Behaviour: the probabilities with which an agent chooses among the actions of `Discrete`.

Recorded episodes need these probabilities: they tell how often another agent would have taken the same actions. An
agent that knows them has a method `probabilities(observation, allowed)`. It changes nothing and draws no random number.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Behaviour", "certain"]


@runtime_checkable
class Behaviour(Protocol):
    """An agent that knows the probabilities of its actions."""

    def probabilities(self, observation: Any, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the probability of each action, shape `(n_actions,)`.

        Args:
            observation: a single one.
            allowed: which actions may be taken.
        """
        ...


def certain(action: Any, n: int) -> NDArray[np.float64]:
    """Return probability 1 for one of n actions, and 0 for the others."""
    found = np.zeros(n)
    found[int(action)] = 1.0
    return found
