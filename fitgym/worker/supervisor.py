"""The zygote's work after the import: hand out children, and report how each one ended."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import socket
import time
from collections.abc import Collection
from os import getpid, getppid  # the real ones, see `fitgym.determinism.pids`
from typing import NoReturn

from fitgym.messages.protocol import BROKEN, COMMAND, FORK, MAKE, MUTATE, WARM, FrameReader, dumps, frame, read_trusted
from fitgym.sandbox.folder import tidy
from fitgym.sandbox.sandbox import die_with_parent
from fitgym.worker.runner import Runner

__all__ = ["Supervisor", "high"]

_HIGH = 200  # descriptors of ours stand above those that code under test is likely to meet


class Supervisor:
    """The zygote's loop: hands out fresh children, and reports how each one ended.

    One child always stands by: it was forked while another one worked, got ready and waits, so that a fresh process
    costs the parent no more than a message as long as a processor is idle. When it was forked makes no difference to what
    it does: the zygote changes nothing but what mutants need and what was imported, and a child takes note of its
    surroundings when it is asked first.

    Args:
        control: the socket to the parent; it hears `FORK`, `KILL`, `MUTATE`, `MAKE` and `WARM`.
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
        self._parent = getppid()
        self._children: dict[int, int] = {}  # by process id the descriptor of each, -1 where the kernel gives none
        self._standby: tuple[int, socket.socket] | None = None
        self._outdated = False  # the child that stands by lacks mutants
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)

    def serve(self) -> NoReturn:
        """Until the parent is gone."""
        try:
            with self._runner.guard.off():
                self._stand_by()
            while True:
                self._turn()
        finally:
            with self._runner.guard.off():
                for pid in self._children:
                    os.kill(pid, signal.SIGKILL)
                _kill_orphans(())
                tidy(self._home, self._kept)
            os._exit(0)

    def _turn(self) -> None:
        # Without a descriptor for a child, or for the parent's death, look again from time to time.
        ready = dict(self._poll.poll(20 if -1 in self._children.values() else 1000))
        if getppid() != self._parent:
            raise SystemExit
        with self._runner.guard.off():
            for pid, pidfd in list(self._children.items()):
                if pidfd < 0 or pidfd in ready:
                    self._reap(pid)
            if self._control.fileno() in ready:
                data = self._control.recv(COMMAND.size, socket.MSG_WAITALL)
                if len(data) < COMMAND.size:
                    raise SystemExit
                command, pid = COMMAND.unpack(data)  # of a child, or the number of a mutant
                if command == FORK:
                    self._hand_over()
                elif command == MUTATE:
                    self._runner.mutate()
                    self._outdated = True
                elif command == MAKE:
                    self._runner.make(pid)
                    self._outdated = True
                elif command == WARM:
                    names = self._control.recv(pid, socket.MSG_WAITALL).decode(errors="replace").split("\n")
                    warmed = self._runner.warm(names)
                    self._outdated = self._outdated or warmed > 0
                    self._tell("warm", warmed)
                elif pid in self._children:
                    os.kill(pid, signal.SIGKILL)
                    self._reap(pid, 0)

    def _hand_over(self) -> None:
        """Give the parent the child that stands by, and have another one take its place."""
        if self._outdated and self._standby is not None:
            os.kill(self._standby[0], signal.SIGKILL)
            self._reap(self._standby[0], 0)
        self._outdated = False
        if self._standby is not None:
            self._reap(self._standby[0])
        refused = "" if self._standby is not None else self._stand_by()
        if self._standby is None:
            self._tell("refused", refused)
            return
        pid, connection = self._standby
        self._standby = None
        socket.send_fds(self._control, [frame(self._token, dumps(("child", pid)))], [connection.fileno()])
        connection.close()
        self._stand_by()

    def _stand_by(self) -> str:
        """Fork a child that stands by; why that is impossible, "" if it is not."""
        ours, theirs = socket.socketpair()
        try:
            child = os.fork()
        except OSError as error:
            ours.close()
            theirs.close()
            return str(error)
        if child == 0:
            try:
                ours.close()
                self._control.close()
                for pidfd in self._children.values():
                    if pidfd >= 0:
                        os.close(pidfd)
                _live(theirs, self._token, self._runner)
            finally:
                os._exit(BROKEN)
        theirs.close()
        pidfd = self._children[child] = _pidfd(child)
        if pidfd >= 0:
            self._poll.register(pidfd, select.POLLIN)
        self._standby = (child, ours)
        return ""

    def _reap(self, child: int, options: int = os.WNOHANG) -> None:
        """If the child has died, remove what it has left running and lying about, and report its end."""
        pid, status = os.waitpid(child, options)
        if not pid:
            return
        pidfd = self._children.pop(child)
        if pidfd >= 0:
            self._poll.unregister(pidfd)
            os.close(pidfd)
        if self._standby is not None and self._standby[0] == child:  # the parent does not know of it
            self._standby[1].close()
            self._standby = None
            return
        _kill_orphans(self._children)
        tidy(self._home, self._kept)
        if self._runner.guard.overlay is not None:
            self._runner.guard.overlay.restore()
        self._tell("gone", pid, status)

    def _tell(self, *message: object) -> None:
        self._control.sendall(frame(self._token, dumps(message)))


def _pidfd(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except (OSError, AttributeError):
        return -1


def _kill_orphans(spared: Collection[int]) -> None:
    """Kill what dead children have left running; it has become a child of this process, the subreaper."""
    deadline = time.monotonic() + 2.0
    while time.monotonic() < deadline:
        orphans = [pid for pid in _children() if pid not in spared]
        if not orphans:
            return
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.001)


def _children() -> list[int]:
    """Process ids of the children of this process."""
    try:
        with open(f"/proc/self/task/{getpid()}/children") as children:
            return [int(pid) for pid in children.read().split()]
    except OSError:
        pass
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{entry}/stat") as stat:
                if int(stat.read().rpartition(")")[2].split()[1]) == getpid():
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
    asked = False
    while True:
        payload = reader.next()
        if payload is None:
            data = read_(descriptor, 1 << 16)
            if not data:
                os._exit(0)
            reader.feed(data)
            continue
        if not asked:
            asked = True
            runner.wake()
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
