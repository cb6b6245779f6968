"""Batches: one observation or several, as the libraries hand them over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["batch_of", "each_of"]


def batch_of(observation: Any, episode_start: ArrayLike | None) -> int | None:
    """How many observations there are, None for a single one that is not in a batch."""
    if episode_start is not None and np.ndim(episode_start) == 1:
        return len(np.atleast_1d(episode_start))
    if isinstance(observation, Mapping):
        observation = next(iter(observation.values()))
    return len(observation) if np.ndim(observation) >= 2 else None


def each_of(observation: Any, batch: int) -> list[Any]:
    """The observations of a batch one by one; the same for all where there is no batch to take apart."""
    if isinstance(observation, Mapping):
        return [{key: values[i] for key, values in observation.items()} for i in range(batch)]
    return list(observation) if np.ndim(observation) and len(observation) == batch else [observation] * batch
