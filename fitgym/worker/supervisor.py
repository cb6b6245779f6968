"""The supervisor: the zygote's loop after the import, which hands out children and reports how they ended."""

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

_HIGH = 200  # descriptors of the worker get numbers above those that the code under test is likely to use


class Supervisor:
    """The zygote's loop: hands out fresh children, and reports how each one ended.

    One standby child always waits. It was forked and prepared while another child worked, so a fresh process costs the
    parent only one message while a processor is idle. The time of its fork makes no difference to its results: the
    zygote changes only the mutants and the imported modules, and a child takes its process snapshot at its first
    request.

    Args:
        control: the socket to the parent, which sends `FORK`, `KILL`, `MUTATE`, `MAKE` and `WARM`.
        token: starts every frame.
        runner: runs the test cases in the children.
        home: the private folder.
        parent: the process id of the process that started the worker; the worker ends with it.
    """

    def __init__(self, control: socket.socket, token: bytes, runner: Runner, home: str, parent: int) -> None:
        self._control = control
        self._token = token
        self._runner = runner
        self._home = home
        self._kept = frozenset(os.listdir(home))
        self._parent = parent
        self._children: dict[int, int] = {}  # pidfd by process id, -1 if the kernel gives none
        self._standby: tuple[int, socket.socket] | None = None
        self._outdated = False  # the standby child was forked before the latest mutants or imports
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)

    def serve(self) -> NoReturn:
        """Serve commands until the parent has ended."""
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
        # Poll more often if some child has no pidfd. Poll at all to notice the death of the parent.
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
                command, pid = COMMAND.unpack(data)  # or the number of a mutant, or a length
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
        """Send the standby child to the parent, and fork a new one."""
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
        """Fork a standby child. Returns the reason if that is impossible, else ""."""
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
                _run_child(theirs, self._token, self._runner)
            finally:
                os._exit(BROKEN)
        theirs.close()
        pidfd = self._children[child] = _pidfd(child)
        if pidfd >= 0:
            self._poll.register(pidfd, select.POLLIN)
        self._standby = (child, ours)
        return ""

    def _reap(self, child: int, options: int = os.WNOHANG) -> None:
        """If the child has ended, kill its remaining processes, remove its files, and report its end."""
        pid, status = os.waitpid(child, options)
        if not pid:
            return
        pidfd = self._children.pop(child)
        if pidfd >= 0:
            self._poll.unregister(pidfd)
            os.close(pidfd)
        if self._standby is not None and self._standby[0] == child:  # the parent was never told about a standby child
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
    """Kill the processes that dead children left running. As the subreaper, this process has adopted them."""
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
    """Return the process ids of the children of this process."""
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


def _run_child(connection: socket.socket, token: bytes, runner: Runner) -> None:
    """Run a child: answer requests until the socket closes or the state cannot be restored."""
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
    """Duplicate a descriptor to a number that the code under test is unlikely to use."""
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    except OSError:  # the limit of descriptors is lower
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
