"""Chance: what code that draws random numbers asks of its source."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Chance"]


class Chance(Protocol):
    """A source of random numbers: a `random.Random`, or a `numpy.random.Generator` (slower for single numbers)."""

    def random(self) -> float:
        """Return a number in [0, 1)."""
        ...
