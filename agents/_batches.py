"""Batches: single observations or several, in the form that deep-learning libraries use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["batch_of", "each_of"]


def batch_of(observation: Any, episode_start: ArrayLike | None) -> int | None:
    """The number of observations; None for a single observation without a batch axis."""
    if episode_start is not None and np.ndim(episode_start) == 1:
        return len(np.atleast_1d(episode_start))
    if isinstance(observation, Mapping):
        observation = next(iter(observation.values()))
    return len(observation) if np.ndim(observation) >= 2 else None


def each_of(observation: Any, batch: int) -> list[Any]:
    """The observations of a batch as a list. An observation without a batch axis is repeated `batch` times."""
    if isinstance(observation, Mapping):
        return [{key: values[i] for key, values in observation.items()} for i in range(batch)]
    return list(observation) if np.ndim(observation) and len(observation) == batch else [observation] * batch
