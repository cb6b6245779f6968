"""A fork: run a function in a copy of this process, receive its messages, and kill all processes that it started."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from fitgym.messages.protocol import FrameReader, ProtocolError, dumps, frame, read_untrusted
from fitgym.sandbox.sandbox import die_with_parent

__all__ = ["Forked", "forked"]

Send = Callable[[Any], None]

_TOKEN = b"fitgym's message"
_POLL_S = 0.25


@dataclass(frozen=True, slots=True)
class Forked:
    """The result of a fork.

    Attributes:
        messages: messages that it sent, in order.
        end: "done" if the work was completed, "late" if it exceeded the time limit, "died" if the fork ended early.
    """

    messages: tuple[Any, ...]
    end: Literal["done", "late", "died"]


def forked(work: Callable[[Send], None], limit_s: float, heard: Send = lambda _: None) -> Forked:
    """Run a function in a fork of this process, and wait for it.

    Args:
        work: called in the fork with a function that sends built-in values.
        limit_s: seconds after which the fork is killed.
        heard: called in this process with each message.
    """
    reading, writing = os.pipe()
    parent = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of a fork with threads, which tests may have started
        pid = os.fork()
    if pid == 0:
        os.close(reading)
        _run_fork(work, writing, parent)
    os.close(writing)
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)  # in both processes: it is random which one runs first
    try:
        return _receive(pid, reading, time.monotonic() + limit_s, heard)
    finally:
        os.close(reading)
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.waitpid(pid, 0)


def _run_fork(work: Callable[[Send], None], writing: int, parent: int) -> NoReturn:
    """Run `work` in the fork, and exit without the cleanup of the original process."""
    code = 1
    try:
        # A process group of its own, so that `killpg` reaches every process that the fork has started.
        os.setpgid(0, 0)
        die_with_parent(parent)

        me = os.getpid()

        def send(*message: Any) -> None:
            # A fork of this fork must not write to the pipe.
            data = frame(_TOKEN, dumps(message)) if os.getpid() == me else b""
            while data:
                data = data[os.write(writing, data) :]

        work(send)
        # An empty message marks the end of the work.
        send()
        code = 0
    finally:
        # Skip the exit handlers and buffered output that were copied from the parent.
        os._exit(code)


def _receive(pid: int, reading: int, end: float, heard: Send) -> Forked:
    reader = FrameReader(_TOKEN)
    messages: list[Any] = []
    while (left := end - time.monotonic()) > 0:
        ready, _, _ = select.select([reading], [], [], min(left, _POLL_S))
        data = os.read(reading, 1 << 16) if ready else b""
        if not data:
            # Processes started by the fork may keep the pipe open after the fork has died.
            if ready or os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return Forked(tuple(messages), "died")
            continue
        try:
            reader.feed(data)
            while (payload := reader.next()) is not None:
                message = read_untrusted(payload)
                if not message:
                    return Forked(tuple(messages), "done")
                messages.append(message[0])
                heard(message[0])
        except ProtocolError:
            return Forked(tuple(messages), "died")
    return Forked(tuple(messages), "late")
