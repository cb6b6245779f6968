"""An episode of a training, as it is reported and saved."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Episode"]


@dataclass(frozen=True, slots=True)
class Episode:
    """A finished episode of the training.

    Attributes:
        step: number of decisions so far, over all environments.
        subject: the subject of the episode.
        value: the final value of the goal.
        rewards: the sum of the rewards.
        length: number of decisions in the episode.
    """

    step: int
    subject: str
    value: float
    rewards: float
    length: int
