"""Deadline: until when a suite should be finished, and until when at the latest."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

__all__ = ["Deadline"]


@dataclass(frozen=True, slots=True)
class Deadline:
    """Two moments of `time.monotonic`.

    Attributes:
        soft: until then everything is done that makes the suite better: shorter tests, plainer arguments, more runs.
        hard: until then only what an export cannot do without: each test observed, and the file run once in its order
            and once in reverse, as often as that fails. What has not passed by then is dropped.
    """

    soft: float = math.inf
    hard: float = math.inf

    @property
    def left(self) -> float:
        """Seconds until `soft`, negative when it has passed."""
        return self.soft - time.monotonic()

    @property
    def rest(self) -> float:
        """Seconds until `hard`, negative when it has passed."""
        return self.hard - time.monotonic()

    def until(self, share: float) -> float | None:
        """The moment when that share of the time until `soft` will have passed, None if there is no limit."""
        return None if math.isinf(self.soft) else time.monotonic() + share * max(0.0, self.left)
