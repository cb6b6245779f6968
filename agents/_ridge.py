"""Online ridge regression, with optional forgetting."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ridge"]

Floats = NDArray[np.float64]


class Ridge:
    """k regressions of rewards on d numbers each. w(s) is the weight of step s:

        A(i) = ridge * I + sum of w(s) x(s) x(s)^T        b(i) = sum of w(s) R(s) x(s)        theta(i) = A(i)^-1 b(i)

    Each sum is over the steps of regression i. The weights are those of `Averages`. Without forgetting, the formula of
    Sherman and Morrison updates the inverse; with a discount or a window it is recomputed after each step.

    Args:
        k: number of regressions.
        d: length of x.
        ridge: above 0.
        discount: in (0, 1]; 1 forgets nothing.
        window: number of recent steps that count; 0 for all.

    Attributes:
        inverses: A(i)^-1, shape `(k, d, d)`.
        sums: b(i), shape `(k, d)`.
        thetas: theta(i), shape `(k, d)`.
    """

    def __init__(self, k: int, d: int, ridge: float, discount: float = 1.0, window: int = 0) -> None:
        self.ridge = ridge
        self.discount = discount
        self.window = window
        self.inverses: Floats = np.repeat(np.eye(d)[None] / ridge, k, axis=0)
        self.sums: Floats = np.zeros((k, d))
        self.thetas: Floats = np.zeros((k, d))
        self._grams: Floats = np.zeros((k, d, d) if discount < 1 else (0, d, d))  # the sums in A
        self._recent: deque[tuple[int, Floats, float]] = deque()

    def add(self, i: int, x: Floats, reward: float) -> None:
        """Add a step to regression i."""
        if self.window:
            self._recent.append((i, x, reward))
            changed = {i}
            if len(self._recent) > self.window:
                changed.add(self._recent.popleft()[0])
            for each in sorted(changed):
                self._fit(each)
        elif self.discount < 1:
            self._grams *= self.discount
            self.sums *= self.discount
            self._grams[i] += np.outer(x, x)
            self.sums[i] += reward * x
            self.inverses[:] = np.linalg.inv(self._grams + self.ridge * np.eye(len(x)))
            self.thetas = np.einsum("kij,kj->ki", self.inverses, self.sums)
        else:
            inverse = self.inverses[i]
            ahead = inverse @ x
            ahead /= math.sqrt(1.0 + x @ ahead)
            inverse -= np.multiply.outer(ahead, ahead)
            self.sums[i] += reward * x
            self.thetas[i] = inverse @ self.sums[i]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The state as arrays, for saving."""
        d = self.sums.shape[1]
        return {
            "inverses": self.inverses.copy(),
            "sums": self.sums.copy(),
            "grams": self._grams.copy(),
            "recent_actions": np.array([i for i, _, _ in self._recent], np.int64),
            "recent_features": np.array([x for _, x, _ in self._recent], np.float64).reshape(-1, d),
            "recent_rewards": np.array([reward for _, _, reward in self._recent], np.float64),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state from `arrays`."""
        self.inverses, self.sums = arrays["inverses"].copy(), arrays["sums"].copy()
        self.thetas = np.einsum("kij,kj->ki", self.inverses, self.sums)
        if "grams" in arrays:
            self._grams = arrays["grams"].copy()
            rows = zip(arrays["recent_actions"], arrays["recent_features"], arrays["recent_rewards"], strict=True)
            self._recent = deque((int(i), x.copy(), float(reward)) for i, x, reward in rows)

    def _fit(self, i: int) -> None:
        """Recompute regression i from the remembered steps."""
        own = [(x, reward) for j, x, reward in self._recent if j == i]
        d = self.sums.shape[1]
        x = np.array([x for x, _ in own]).reshape(-1, d)
        self.inverses[i] = np.linalg.inv(x.T @ x + self.ridge * np.eye(d))
        self.sums[i] = x.T @ np.array([reward for _, reward in own])
        self.thetas[i] = self.inverses[i] @ self.sums[i]
