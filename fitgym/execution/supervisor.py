"""The zygote's work after the import: fork children when told to, and report how each one ended."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shutil
import signal
import socket
import time
from typing import NoReturn

from fitgym.execution.protocol import FrameReader, dumps, frame, read_trusted
from fitgym.execution.runner import Runner
from fitgym.execution.sandbox import die_with_parent

__all__ = ["Supervisor", "high"]

_BROKEN = 77  # exit status of a child that can no longer answer; the parent knows the same number
_HIGH = 200  # descriptors of ours stand above those that code under test is likely to meet


class Supervisor:
    """The zygote's loop: forks a child when told to, and reports how each one ended.

    Args:
        control: the socket to the parent; it hears "F" (fork) and "K" (kill the child).
        token: starts every frame.
        runner: what the children will run.
        home: the private folder.
    """

    def __init__(self, control: socket.socket, token: bytes, runner: Runner, home: str) -> None:
        self._control = control
        self._token = token
        self._runner = runner
        self._home = home
        self._kept = frozenset(os.listdir(home))
        self._parent = os.getppid()
        self._child = 0

    def serve(self) -> NoReturn:
        """Until the parent is gone."""
        try:
            while True:
                self._turn()
        finally:
            with self._runner.guard.off():
                self._end_child(report=False)
                self._tidy()
            os._exit(0)

    def _turn(self) -> None:
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        pidfd = _pidfd(self._child) if self._child else -1
        if pidfd >= 0:
            poll.register(pidfd, select.POLLIN)
        try:
            # Without a descriptor for the child, or for the parent's death, look again from time to time.
            ready = dict(poll.poll(20 if self._child and pidfd < 0 else 1000))
        finally:
            if pidfd >= 0:
                os.close(pidfd)
        if os.getppid() != self._parent:
            raise SystemExit
        if self._child and (pidfd in ready or pidfd < 0):
            self._reap()
        if self._control.fileno() in ready:
            command = self._control.recv(1)
            if not command:
                raise SystemExit
            with self._runner.guard.off():
                self._end_child(report=True)
                if command == b"F":
                    self._fork()

    def _fork(self) -> None:
        self._tidy()
        ours, theirs = socket.socketpair()
        try:
            child = os.fork()
        except OSError as error:
            self._control.sendall(frame(self._token, dumps(("refused", str(error)))))
            return
        if child == 0:
            try:
                ours.close()
                self._control.close()
                _live(theirs, self._token, self._runner)
            finally:
                os._exit(_BROKEN)
        self._child = child
        theirs.close()
        socket.send_fds(self._control, [frame(self._token, dumps(("child", child)))], [ours.fileno()])
        ours.close()

    def _reap(self) -> None:
        """Report the child's death if it has died."""
        pid, status = os.waitpid(self._child, os.WNOHANG)
        if pid:
            self._child = 0
            with self._runner.guard.off():
                _kill_orphans()
            self._control.sendall(frame(self._token, dumps(("gone", pid, status))))

    def _end_child(self, report: bool) -> None:
        if self._child:
            os.kill(self._child, signal.SIGKILL)
            pid, status = os.waitpid(self._child, 0)
            self._child = 0
            if report:
                self._control.sendall(frame(self._token, dumps(("gone", pid, status))))
        _kill_orphans()

    def _tidy(self) -> None:
        """Remove what test cases have left in the private folder."""
        for name in os.listdir(self._home):
            if name not in self._kept:
                path = os.path.join(self._home, name)
                if os.path.isdir(path) and not os.path.islink(path):
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    with contextlib.suppress(OSError):
                        os.unlink(path)


def _pidfd(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except (OSError, AttributeError):
        return -1


def _kill_orphans() -> None:
    """Kill what dead children have left running; it has become a child of this process, the subreaper."""
    deadline = time.monotonic() + 2.0
    while time.monotonic() < deadline:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            for child in _children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            time.sleep(0.001)


def _children() -> list[int]:
    """Process ids of the children of this process."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as children:
            return [int(pid) for pid in children.read().split()]
    except OSError:
        pass
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{entry}/stat") as stat:
                if int(stat.read().rpartition(")")[2].split()[1]) == os.getpid():
                    found.append(int(entry))
    return found


def _live(connection: socket.socket, token: bytes, runner: Runner) -> None:
    """Be a child: answer requests until told to stop or until the state is beyond repair."""
    die_with_parent()
    descriptor = high(connection.fileno())
    connection.close()
    reader = FrameReader(token)
    runner.begin()
    read_, write = os.read, os.write
    while True:
        payload = reader.next()
        if payload is None:
            data = read_(descriptor, 1 << 20)
            if not data:
                os._exit(0)
            reader.feed(data)
            continue
        answer, last = runner.answer(read_trusted(payload))
        remaining = memoryview(frame(token, answer))
        while remaining:
            remaining = remaining[write(descriptor, remaining) :]
        if last:
            os._exit(0)


def high(descriptor: int) -> int:
    """The same descriptor under a number that code under test is unlikely to meet."""
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    except OSError:  # so many are not allowed
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
