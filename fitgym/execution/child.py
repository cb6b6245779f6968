"""The child as the parent sees it: a forked process that runs batches, and how it can break."""

from __future__ import annotations

import socket
from typing import Any

from fitgym.execution.journal import IDLE
from fitgym.execution.protocol import FrameReader
from fitgym.execution.watched import Watched
from fitgym.instrument.trace import Failure

__all__ = ["Broken", "Child"]


class Broken(Exception):
    """The child ended without an answer.

    Attributes:
        failure: how it ended, as far as can be told.
        running: index in the batch of the test case that ran, `IDLE` if none did.
        last: index of the test case that was started last.
        position: index of the statement that ran.
    """

    def __init__(self, failure: Failure, running: int = IDLE, last: int = IDLE, position: int = 0) -> None:
        super().__init__(f"the worker's child ended: {failure}")
        self.failure = failure
        self.running = running
        self.last = last
        self.position = position


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
