"""The work and the time that finishing may take: as much work as the search, within limits of time."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from fitgym.execution.work import PER_SECOND
from fitgym.suite.deadline import Deadline

__all__ = ["FLOOR_S", "INTERRUPTED_S", "MOST_S", "Share"]

FLOOR_S = 10.0
"""Minimal time of finishing in seconds, in addition to the time of `IMPORTS` imports of the subject."""

INTERRUPTED_S = 15.0
"""Time of finishing after an interruption, in seconds."""

IMPORTS = 8
"""Imports of the subject in fresh interpreters until a suite is checked, with a reserve."""

MOST_S = 600.0
"""Maximal time of finishing, in seconds."""

SCORING_S = 60.0
"""Minimal time for running the mutants on a finished suite, in seconds; the limit is the time of the search."""

CHECKING = 0.2
"""Share of the time that is reserved for checking the tests, at least `CHECKING_S` and half of the imports."""

CHECKING_S = 4.0

WORKING = 1.0
"""Share of the minimal seconds that is converted to units of work.

With counted work, the deadline only ends finishing on a busy machine.
"""

SPARE = 3.0
"""How many times as long as the search finishing may take if its work is counted.

The same work takes longer in finishing, because a batch has fewer test cases, and another program may take the processor.
"""


@dataclass(frozen=True, slots=True)
class Share:
    """Limits of finishing.

    Attributes:
        deadline: the limit of time.
        units: the limit of work (`fitgym.execution.work`) for budgets that count events, whose suites must not depend
            on the clock. The deadline then is a last resort. Infinite for budgets in seconds.
        scoring_s: seconds for running the mutants on the finished suite, if mutants are the goal.
    """

    deadline: Deadline = Deadline()  # noqa: RUF009  (it is immutable)
    units: float = math.inf
    scoring_s: float = math.inf

    @classmethod
    def interrupted(cls) -> Share:
        """Return the limits after an interruption: `INTERRUPTED_S` seconds."""
        now = time.monotonic()
        return cls(Deadline(now + INTERRUPTED_S / 3, now + INTERRUPTED_S))

    @classmethod
    def until(cls, end: float, import_seconds: float) -> Share:
        """Return the limits for the time until `end` on the clock `time.monotonic`.

        The hard deadline is at least `FLOOR_S` plus the imports from now.
        """
        return cls(Deadline(end, max(end, time.monotonic() + _least_seconds(import_seconds))))

    @classmethod
    def of_search(cls, seconds: float, work: int, import_seconds: float) -> Share:
        """Return limits for as much work as that of the search, or what takes `FLOOR_S` plus the imports if that is more.

        The deadline leaves `SPARE` times as much time, at most `MOST_S`: the same seed is to give the same suite.

        Args:
            seconds: wall time of the search.
            work: units of work of its test cases.
            import_seconds: wall time of one import of the subject.
        """
        least = _least_seconds(import_seconds)
        total = min(MOST_S, SPARE * max(least, seconds))
        now = time.monotonic()
        scoring = min(MOST_S, max(SCORING_S, seconds))
        checking = max(CHECKING * total, CHECKING_S + IMPORTS / 2 * import_seconds)
        return cls(Deadline(now + total - checking, now + total), max(WORKING * least * PER_SECOND, work), scoring)


def _least_seconds(import_seconds: float) -> float:
    """Return the minimal time of finishing in seconds."""
    return min(MOST_S, FLOOR_S + IMPORTS * import_seconds)
