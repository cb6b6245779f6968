"""Launch: starts the worker process of a subject, as a program of its own or by a fork server."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Protocol

from fitgym.messages.protocol import MAX_REQUEST, REPORT, TOKEN_SIZE
from fitgym.sandbox.environment import environment
from fitgym.sandbox.sandbox import same_layout

__all__ = ["ForkServer", "Launch", "Process", "launch"]

_PATIENCE_S = 10.0  # for the first sign of life of a forked worker
_EXIT_S = 2.0  # for a server that was told to end


class Process(Protocol):
    """A started worker; the part of `subprocess.Popen` that its owner uses."""

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its session."""

    def poll(self) -> int | None:
        """Return the exit code, None if the process is running."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process has ended and return the exit code."""


Launch = Callable[[Sequence[int], str, str, str], Process]
"""Starts a worker, given the descriptors of its control socket and of the journal, its private folder, the file for its
errors, and its token in hexadecimal."""


def launch(descriptors: Sequence[int], home: str, errors: str, token: str) -> Process:
    """Start a worker as a program of its own; see `Launch`."""
    with open(errors, "wb") as file, same_layout():
        return subprocess.Popen(
            [sys.executable, "-m", "fitgym.worker.main", *map(str, descriptors)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
            cwd=home,
            env=environment(home, token),
            pass_fds=tuple(descriptors),
            start_new_session=True,
        )


class ForkServer:
    """Starts workers by forking a process that has imported their code, which takes less than half of the time.

    The server starts with the first worker. It ends with this object and with the process that made it; workers that
    are still running end too. In a copy of that process, and on kernels without `pidfd_open`, workers are started as
    programs of their own.

    Workers of one server differ in their memory addresses, so it is meant for code whose behavior does not depend on
    them, such as generated programs.
    """

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._requests: socket.socket | None = None
        self._closer: weakref.finalize[..., ForkServer] | None = None
        self._usable = _has_pidfds()

    def launch(self, descriptors: Sequence[int], home: str, errors: str, token: str) -> Process:
        """Start a worker; see `Launch`."""
        if not self._usable or os.getpid() != self._owner:
            return launch(descriptors, home, errors, token)
        request = json.dumps({"home": home, "environment": environment(home, token)}).encode()
        ours, theirs = socket.socketpair()
        with theirs, open(errors, "wb") as file:
            sent = (*descriptors, file.fileno(), theirs.fileno())
            try:
                if len(request) > MAX_REQUEST:
                    raise OSError("the environment is too large")
                socket.send_fds(self._started(), [request], sent)
                return _Forked(ours.detach())
            except OSError:  # the environment does not fit into a message, or the server was killed
                ours.close()
        self.close()
        self._usable = False
        return launch(descriptors, home, errors, token)

    def close(self) -> None:
        """End the server. The next worker starts another one."""
        self._requests = None
        if self._closer is not None:
            self._closer()
            self._closer = None

    def _started(self) -> socket.socket:
        if self._requests is None:
            self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._requests.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MAX_REQUEST)
            with theirs, same_layout():
                process = subprocess.Popen(
                    [sys.executable, "-m", "fitgym.worker.fork_server", str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=environment("/", "0" * (2 * TOKEN_SIZE)),
                    cwd="/",
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            self._closer = weakref.finalize(self, _end, self._owner, self._requests, process)
        return self._requests


class _Forked:
    """A worker that a fork server has started; see `Process`."""

    def __init__(self, reports: int) -> None:
        self._reports = reports
        self._closer = weakref.finalize(self, os.close, reports)
        self._pid: int | None = None
        self._code: int | None = None

    @property
    def pid(self) -> int:
        if self._pid is None:
            self._pid = self._report(_PATIENCE_S)
            if self._pid is None:
                raise ProcessLookupError("the worker was not started")
        return self._pid

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0.0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        if self._code is None:
            with contextlib.suppress(ProcessLookupError):
                _ = self.pid  # reported first
            found = self._report(timeout)
            self._code = -9 if found is None else found
            self._closer()
        return self._code

    def _report(self, timeout: float | None) -> int | None:
        """Return the next number that is reported, None if there will be none.

        Raises:
            subprocess.TimeoutExpired: none came in time.
        """
        poll = select.poll()
        poll.register(self._reports, select.POLLIN)
        if not poll.poll(None if timeout is None else max(0.0, timeout * 1000)):
            raise subprocess.TimeoutExpired("fitgym.worker.main", timeout or 0.0)
        with contextlib.suppress(OSError):
            data = os.read(self._reports, REPORT.size)
            if len(data) == REPORT.size:
                return int(REPORT.unpack(data)[0])
        return None


def _has_pidfds() -> bool:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (OSError, AttributeError):
        return False
    return True


def _end(owner: int, requests: socket.socket, process: subprocess.Popen[bytes]) -> None:
    requests.close()
    if os.getpid() != owner:  # a fork of the owner leaves the server running
        process.returncode = 0
        return
    try:
        process.wait(_EXIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
