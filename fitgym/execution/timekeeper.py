"""The timekeeper: how long a child may take for a batch, by the parent's own clock.

The journal says which test case runs, and code under test can write into it. It may therefore restart the clock of a test
case only as often as an honest journal does, and never that of the batch.
"""

from __future__ import annotations

import time
from typing import Literal

from fitgym.execution.waiting import waited
from fitgym.messages.journal import IDLE, Journal

__all__ = ["LOOK_S", "Timekeeper"]

LOOK_S = 0.004
"""Seconds between two looks at a child that has not answered yet; most batches are answered before the first."""

_GLANCE_S = 0.001  # the same while its time seems to be over, but for what it has waited for a processor
_BATCH_S = 0.2  # a child starts no further test case after so long, see `fitgym.worker.runner`
_MOST_MOVES = 6  # of the journal for a test case: it starts and ends, is buried, is compared
_MOST_WAITED = 10.0  # a child that is late waits for a processor for so many times its time, at most


class Timekeeper:
    """Watches one batch; made when the request is sent.

    Args:
        journal: of the worker; not trusted.
        pid: process id of the child.
        limit: seconds for one test case.
        n_items: test cases in the batch.
    """

    def __init__(self, journal: Journal, pid: int, limit: float, n_items: int) -> None:
        self._journal = journal
        self._pid = pid
        self._limit = limit
        self._first = self._count = journal.count
        self._moves = _MOST_MOVES * n_items
        # Between test cases a child compares state and packs results, which takes milliseconds; code of the subject
        # runs only where objects die.
        self._between = 2 * limit + 2
        self._most = _BATCH_S + limit + self._between
        self._start = self._since = self._noted = time.monotonic()
        self._waited_then = self._waited_first = waited(pid)

    def look(self, now: float) -> tuple[Literal["", "timeout", "forged"], float]:
        """What is wrong with the child, and the seconds until the next look.

        Args:
            now: of `time.monotonic`.

        Returns:
            "timeout": the running test case has taken too long. "forged": the journal moved more often than an honest
            one, or the batch has taken too long although no test case has; so the journal cannot say which.
        """
        journal, limit = self._journal, self._limit
        if journal.count != self._count:
            self._count, self._since = journal.count, now
            if not 0 <= self._count - self._first <= self._moves:
                return "forged", 0.0
            if now - self._noted > limit / 10:
                self._noted, self._waited_then = now, waited(self._pid)
        left = self._since + (limit if journal.running != IDLE else self._between) - now
        if left <= 0.0 and self._late(left, self._waited_then):
            return "timeout", 0.0
        all_left = self._start + self._most - now
        if all_left <= 0.0 and self._late(all_left, self._waited_first):
            return "forged", 0.0
        return "", min(LOOK_S, max(_GLANCE_S, left))

    def _late(self, left: float, waited_then: float) -> bool:
        """The time is over, even without what the child has waited for a processor since."""
        return left + min(waited(self._pid) - waited_then, _MOST_WAITED * self._most) <= 0.0
