"""The child as the parent sees it: a forked process that runs batches, and how it can break."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import Any

from fitgym.instrument.trace import Failure
from fitgym.messages.journal import IDLE
from fitgym.messages.protocol import FrameReader, WireStatement, encode_statement
from fitgym.messages.segment import ALONE
from fitgym.messages.watched import Watched
from fitgym.testcase.statement import StatementTable, TestCase

__all__ = ["Broken", "Child", "Writes"]


class Broken(Exception):
    """The child ended without an answer.

    Attributes:
        failure: how it ended, as far as can be told.
        running: index in the batch of the test case that ran, `IDLE` if none did.
        last: index of the test case that was started last.
        position: index of the statement that ran.
        forged: it wrote what no honest child writes, into the journal or as an answer, so nobody knows what ran.
    """

    def __init__(
        self, failure: Failure, running: int = IDLE, last: int = IDLE, position: int = 0, *, forged: bool = False
    ) -> None:
        super().__init__(f"the worker's child ended: {failure}")
        self.failure = failure
        self.running = running
        self.last = last
        self.position = position
        self.forged = forged

    @property
    def unborn(self) -> bool:
        """It ended before its first test case began."""
        return self.last == IDLE and self.failure != "timeout" and not self.forged

    def more(self, care: int) -> int:
        """The care with which to repeat the batch if nobody is known to be guilty."""
        return ALONE if self.forged else min(ALONE, care + 1)

    def guilty(self, n_testcases: int, care: int, *, fresh: bool) -> tuple[int, bool]:
        """Index of the test case that broke the child, `IDLE` if it is not known, and whether that is certain.

        A test case is guilty if it breaks a process in which nothing else has run. One that hung in a running state that
        every comparison found clean is not made to hang again; but what hangs between two test cases may have been left
        by any before.

        Args:
            n_testcases: in the batch.
            care: with which they ran, see `Segment`.
            fresh: nothing had run in the child before.
        """
        hung = self.failure == "timeout"
        guilty = self.running if self.running != IDLE else self.last if care > 1 or hung else IDLE
        if n_testcases == 1 and fresh:
            return 0, True
        if not 0 <= guilty < n_testcases:
            return IDLE, False
        return guilty, (guilty == 0 and fresh) or (hung and self.running != IDLE)


class Writes(Exception):
    """The import of the subject writes beside it, so the worker needs an overlay."""


class Child:
    """A forked process that runs batches.

    Attributes:
        pid: its process id.
        fresh: it has not been asked for anything yet.
        defined: ids of the statements that it knows.
        memory: whatever the executor wants to remember about this child.
        watched: what it compares after each test case.
        exchanged: bytes sent to it and by it, which is what it and `memory` may have grown by.
    """

    def __init__(self, pid: int, connection: socket.socket, token: bytes, watched: Watched) -> None:
        self.pid = pid
        self.connection = connection
        self.reader = FrameReader(token)
        self.fresh = True
        self.defined: set[int] = set()
        self.memory: list[Any] = []
        self.watched = watched
        self.exchanged = 0

    def introduced(self, testcases: Iterable[TestCase], table: StatementTable) -> list[tuple[int, WireStatement]]:
        """The statements of test cases that the child does not know yet; it will."""
        unknown = sorted(set[int]().union(*testcases) - self.defined)
        self.defined.update(unknown)
        return [(identifier, encode_statement(table[identifier])) for identifier in unknown]
