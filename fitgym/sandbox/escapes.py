"""Escapes: attempts by which code under test could get out of the sandbox, tried on this machine.

Run as `python -m fitgym.sandbox.escapes FOLDER` with an empty folder. It prints a JSON object with the level of the
sandbox and the names of the escapes that succeed. All targets are created here: files, listeners and a process. The
attempts run without the audit hook, because C code bypasses it.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fitgym.sandbox.confinement import confined
from fitgym.sandbox.kernel import libc, syscall
from fitgym.sandbox.level import Level
from fitgym.sandbox.sandbox import die_with_parent

__all__ = ["ESCAPES", "Targets", "succeeds", "targets"]

_PTRACE_ATTACH, _NEW_USER, _IO_URING_SETUP = 16, 0x10000000, 425


@dataclass(frozen=True, slots=True)
class Targets:
    """The targets of the escapes.

    Attributes:
        inside: the folder of the sandbox.
        file: a file outside the sandbox.
        process: id of a process outside the sandbox.
        listeners: sockets outside the sandbox, by "tcp", "udp", "stream" and "datagram"; the last two have paths.
    """

    inside: str
    file: Path
    process: int
    listeners: dict[str, socket.socket]


@contextlib.contextmanager
def targets(folder: str) -> Iterator[Targets]:
    """Create the targets in an empty folder. Sockets and process are closed after the block."""
    inside, file = os.path.join(os.path.realpath(folder), "inside"), Path(folder, "file")
    os.mkdir(inside)
    file.write_text("precious")
    with contextlib.ExitStack() as stack:
        listeners = {}
        for name, family, kind in (
            ("tcp", socket.AF_INET, socket.SOCK_STREAM),
            ("udp", socket.AF_INET, socket.SOCK_DGRAM),
            ("stream", socket.AF_UNIX, socket.SOCK_STREAM),
            ("datagram", socket.AF_UNIX, socket.SOCK_DGRAM),
        ):
            listener = listeners[name] = stack.enter_context(socket.socket(family, kind))
            listener.bind(("127.0.0.1", 0) if family == socket.AF_INET else os.path.join(folder, name))
            listener.setblocking(False)
            if kind == socket.SOCK_STREAM:
                listener.listen()
        process = os.fork()
        if process == 0:
            try:
                die_with_parent()
                while True:
                    time.sleep(60)
            finally:
                os._exit(0)
        try:
            yield Targets(inside, file, process, listeners)
        finally:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def succeeds(escape: Callable[[Targets], None], reached: Targets) -> tuple[Level, bool]:
    """Return the level of the sandbox in a fork of this process, and whether an escape from the fork succeeds.

    Args:
        escape: the attempt; it raises `OSError` if it fails.
        reached: its targets.
    """
    pid = os.fork()
    if pid == 0:
        code = 255
        try:
            level = confined(reached.inside)
            os.chdir(reached.inside)
            try:
                escape(reached)
            except OSError:
                code = 2 * level
            else:
                code = 2 * level + 1
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if not 0 <= code <= 2 * max(Level) + 1:
        raise RuntimeError(f"the process that tried an escape ended with status {code}")
    return Level(code // 2), bool(code % 2)


def _succeeded(result: int) -> None:
    """Raise `OSError` if the result of a C function is -1."""
    if result == -1:
        raise OSError


def _write(reached: Targets) -> None:
    reached.file.write_text("changed")


def _rename(reached: Targets) -> None:
    reached.file.rename(reached.file.with_name("renamed"))
    reached.file.with_name("renamed").rename(reached.file)


def _permissions(reached: Targets) -> None:
    reached.file.chmod(0o600)


def _times(reached: Targets) -> None:
    os.utime(reached.file, (0, 0))


def _program(reached: Targets) -> None:
    os.execv(sys.executable, [sys.executable, "-c", "raise SystemExit(1)"])  # status 1 means success


def _connect(name: str) -> Callable[[Targets], None]:
    def attempt(reached: Targets) -> None:
        listener = reached.listeners[name]
        with socket.socket(listener.family, listener.type) as one:
            one.settimeout(1)
            one.connect(listener.getsockname())

    return attempt


def _send(reached: Targets) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(b"x", reached.listeners["udp"].getsockname())


def _send_by_path(reached: Targets) -> None:
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendmsg([b"x"], (), 0, reached.listeners["datagram"].getsockname())


def _listen(reached: Targets) -> None:
    with socket.socket() as one:
        one.listen()


def _signal(reached: Targets) -> None:
    os.kill(reached.process, 0)


def _priority(reached: Targets) -> None:
    os.setpriority(os.PRIO_PROCESS, reached.process, 1)


def _affinity(reached: Targets) -> None:
    os.sched_setaffinity(reached.process, os.sched_getaffinity(reached.process))


def _scheduler(reached: Targets) -> None:
    os.sched_setscheduler(reached.process, os.SCHED_BATCH, os.sched_param(0))


def _limits(reached: Targets) -> None:
    resource.prlimit(reached.process, resource.RLIMIT_CORE, (0, 0))


def _attach(reached: Targets) -> None:
    _succeeded(libc().ptrace(_PTRACE_ATTACH, reached.process, None, None))


def _hidden_memory(reached: Targets) -> None:
    os.close(os.memfd_create("escape"))


def _namespace(reached: Targets) -> None:
    _succeeded(libc().unshare(_NEW_USER))


def _queue(reached: Targets) -> None:
    _succeeded(syscall(_IO_URING_SETUP, 1, bytes(120)))


ESCAPES: dict[str, Callable[[Targets], None]] = {
    "write a file": _write,
    "rename a file": _rename,
    "change permissions of a file": _permissions,
    "change times of a file": _times,
    "start a program": _program,
    "connect by TCP": _connect("tcp"),
    "send by UDP": _send,
    "connect to a Unix socket": _connect("stream"),
    "send to a Unix socket": _send_by_path,
    "listen for connections": _listen,
    "signal a process": _signal,
    "change the priority of a process": _priority,
    "change the processors of a process": _affinity,
    "change the scheduling of a process": _scheduler,
    "change the limits of a process": _limits,
    "trace a process": _attach,
    "use memory that no limit counts": _hidden_memory,
    "enter a user namespace": _namespace,
    "queue calls by io_uring": _queue,
}
"""Escapes by description, in the order of the report."""


def main(folder: str) -> None:
    """Print the level of the sandbox and the escapes that succeed."""
    with targets(folder) as reached:
        level, _ = succeeds(lambda _: None, reached)
        found = [name for name, escape in ESCAPES.items() if succeeds(escape, reached)[1]]
    print(json.dumps({"level": level, "escapes": found}))


if __name__ == "__main__":
    main(sys.argv[1])
