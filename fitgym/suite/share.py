"""The share of a run that finishing may take: as much as the search, within limits."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from fitgym.execution.work import PER_SECOND
from fitgym.suite.deadline import Deadline

__all__ = ["FLOOR_S", "INTERRUPTED_S", "MOST_S", "Share"]

FLOOR_S = 10.0
"""Seconds that finishing has in any case, beside the time for `IMPORTS` imports of the subject."""

INTERRUPTED_S = 15.0
"""Seconds that finishing has after an interruption."""

IMPORTS = 8
"""Imports of the subject that fresh interpreters make until a suite is checked, and some to spare."""

MOST_S = 600.0
"""Seconds that finishing never exceeds."""

SCORING_S = 60.0
"""Seconds that measuring which mutants a finished suite kills has in any case; it may take as long as the search."""

CHECKING = 0.2
"""Share of the time that is kept to see the tests pass, at least `CHECKING_S` and half of the imports."""

CHECKING_S = 4.0

WORKING = 1.0
"""Share of the least seconds that work is counted for, so that the clock strikes on a busy machine only."""


@dataclass(frozen=True, slots=True)
class Share:
    """What finishing may take.

    Attributes:
        deadline: until when it is over.
        units: of work (`fitgym.execution.work`) for budgets that count events, whose suites must not depend on the
            clock. The deadline is their last resort. Infinite for budgets in seconds.
        scoring_s: seconds for measuring which mutants the finished suite kills, where mutants are the goal.
    """

    deadline: Deadline = Deadline()  # noqa: RUF009  (it is immutable)
    units: float = math.inf
    scoring_s: float = math.inf

    @classmethod
    def interrupted(cls) -> Share:
        """What is left to a user who does not want to wait: `INTERRUPTED_S` seconds."""
        now = time.monotonic()
        return cls(Deadline(now + INTERRUPTED_S / 3, now + INTERRUPTED_S))

    @classmethod
    def until(cls, end: float, import_seconds: float) -> Share:
        """What is left until `end`, on the clock `time.monotonic`, and at least `FLOOR_S` with the imports."""
        return cls(Deadline(end, max(end, time.monotonic() + _least_seconds(import_seconds))))

    @classmethod
    def of_search(cls, seconds: float, work: int, import_seconds: float) -> Share:
        """As much as a search took, and at least `FLOOR_S`.

        Args:
            seconds: of wall time that the search took.
            work: of its test cases.
            import_seconds: of wall time that an import of the subject takes.
        """
        least = _least_seconds(import_seconds)
        total = min(MOST_S, max(least, seconds))
        now = time.monotonic()
        scoring = min(MOST_S, max(SCORING_S, seconds))
        checking = max(CHECKING * total, CHECKING_S + IMPORTS / 2 * import_seconds)
        return cls(Deadline(now + total - checking, now + total), max(WORKING * least * PER_SECOND, work), scoring)


def _least_seconds(import_seconds: float) -> float:
    """Seconds that finishing has in any case."""
    return min(MOST_S, FLOOR_S + IMPORTS * import_seconds)
