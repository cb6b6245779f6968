"""The parent's view of a child: a forked process that runs batches, and the ways in which it can break."""

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
        failure: how the child ended, as far as the parent can tell.
        running: index in the batch of the test case that was running, `IDLE` if there was none.
        last: index of the test case that was started last.
        position: index of the statement that was running.
        forged: the journal or the answer holds data that a correct child never writes, so `running`, `last` and
            `position` cannot be trusted.
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
    def ended_before_start(self) -> bool:
        """The child ended before its first test case began."""
        return self.last == IDLE and self.failure != "timeout" and not self.forged

    def more(self, care: int) -> int:
        """Return the care level for repeating the batch when the guilty test case is unknown."""
        return ALONE if self.forged else min(ALONE, care + 1)

    def guilty(self, n_testcases: int, care: int, *, fresh: bool) -> tuple[int, bool]:
        """Return the index of the test case that broke the child (`IDLE` if unknown), and whether it is certain.

        A test case is certainly guilty if it was the first to run in a fresh process. It is also certainly guilty if it
        was running when the child timed out: it is not made to hang a second time. If the child hung between two test
        cases, any earlier test case may be the cause.

        Args:
            n_testcases: size of the batch.
            care: care level of the batch, see `Segment`.
            fresh: nothing had run in the child before this batch.
        """
        hung = self.failure == "timeout"
        guilty = self.running if self.running != IDLE else self.last if care > 1 or hung else IDLE
        if n_testcases == 1 and fresh:
            return 0, True
        if not 0 <= guilty < n_testcases:
            return IDLE, False
        return guilty, (guilty == 0 and fresh) or (hung and self.running != IDLE)


class Writes(Exception):
    """The import of the subject writes files next to the subject, so the worker needs an overlay."""


class Child:
    """A forked process that runs batches.

    Attributes:
        pid: process id.
        fresh: the child has not received a request yet.
        defined: ids of the statements that were sent to the child.
        memory: traces that the child has sent; later answers refer to them by index.
        watched: state that the child compares after each test case.
        exchanged: bytes sent to the child and received from it; a bound on how much the child and `memory` have grown.
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
        """Return the statements that the child has not received yet, and mark them as defined."""
        unknown = sorted(set[int]().union(*testcases) - self.defined)
        self.defined.update(unknown)
        return [(identifier, encode_statement(table[identifier])) for identifier in unknown]
