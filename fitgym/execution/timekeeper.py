"""The timekeeper: limits how long a child may take for a batch, by the parent's own clock.

The journal says which test case is running, but the code under test can write into it. So the journal may restart the
clock of a test case only as often as a correct child would, and never the clock of the batch.
"""

from __future__ import annotations

import time
from typing import Literal

from fitgym.execution.waiting import waited
from fitgym.messages.journal import IDLE, Journal

__all__ = ["LOOK_S", "Timekeeper"]

LOOK_S = 0.004
"""Seconds between two checks of a child that has not answered yet. Most batches are answered before the first check."""

_GLANCE_S = 0.001  # the same after its time is over, while the parent subtracts the time spent waiting for a processor
_BATCH_S = 0.2  # a child starts no further test case after this many seconds, see `fitgym.worker.runner`
_MOST_MOVES = 6  # journal entries per test case: start, end, destruction of its objects, comparison
_MOST_WAITED = 10.0  # credit for waiting for a processor, as a multiple of the time of the batch


class Timekeeper:
    """Watches one batch. Created when the request is sent.

    Args:
        journal: the journal of the worker; it is not trusted.
        pid: process id of the child.
        limit: seconds for one test case.
        n_items: number of test cases in the batch.
    """

    def __init__(self, journal: Journal, pid: int, limit: float, n_items: int) -> None:
        self._journal = journal
        self._pid = pid
        self._limit = limit
        self._first = self._count = journal.count
        self._moves = _MOST_MOVES * n_items
        # Between test cases a child compares state and packs results, which takes milliseconds. The subject's code
        # runs there only in finalizers.
        self._between = 2 * limit + 2
        self._most = _BATCH_S + limit + self._between
        self._start = self._since = self._noted = time.monotonic()
        self._waited_then = self._waited_first = waited(pid)

    def look(self, now: float) -> tuple[Literal["", "timeout", "forged"], float]:
        """Return the child's fault ("" for none) and the seconds until the next check.

        Args:
            now: current value of `time.monotonic`.

        Returns:
            "timeout": the running test case has taken too long. "forged": the journal changed more often than a correct
            child changes it, or the batch has taken too long although no test case has; so the journal is not reliable.
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
        """Return True if the time is over even after subtracting the child's waiting time for a processor."""
        return left + min(waited(self._pid) - waited_then, _MOST_WAITED * self._most) <= 0.0
