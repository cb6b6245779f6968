"""Deadlines of finishing: one for improvements, and one for required work."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

__all__ = ["Deadline"]


@dataclass(frozen=True, slots=True)
class Deadline:
    """Two points in time on the clock `time.monotonic`.

    Attributes:
        soft: until then the suite is improved: shorter tests, simpler arguments, more runs.
        hard: until then only the work required for an export is done: each test is observed, and the file is run once
            in its order and once in reverse, as often as that fails. Tests that have not passed by then are dropped.
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
        """Return the time at which `share` of the time until `soft` will have passed, None without a limit."""
        return None if math.isinf(self.soft) else time.monotonic() + share * max(0.0, self.left)
