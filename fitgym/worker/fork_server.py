"""The fork server: a process that has imported the worker's code, and forks a worker for each request.

Run as `python -m fitgym.worker.fork_server SOCKET` with an inherited descriptor. A worker that is started as a program of
its own spends most of its start on importing that code. The server itself never runs code under test. It ends when its
parent ends.

A request is JSON with the private folder ("home") and the environment of the worker. With it come four descriptors: the
control socket, the journal, the file for errors, and a socket for reports. On the last one the worker writes its process
id, and the server its exit code.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import select
import socket
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from fitgym.messages.protocol import MAX_REQUEST, REPORT
from fitgym.sandbox.environment import MARKER
from fitgym.sandbox.kernel import libc
from fitgym.worker.main import main as work

__all__ = ["main"]


def main(arguments: Sequence[str]) -> NoReturn:
    """Serve requests until the parent has ended."""
    requests = socket.socket(fileno=int(arguments[0]))
    parent = os.getppid()
    workers: dict[int, tuple[int, int]] = {}  # process id and socket for reports, by pidfd
    poll = select.poll()
    poll.register(requests, select.POLLIN)
    gc.freeze()
    while True:
        ready = dict(poll.poll(1000))
        if os.getppid() != parent:
            os._exit(0)
        for pidfd in [pidfd for pidfd in workers if pidfd in ready]:
            pid, reports = workers.pop(pidfd)
            poll.unregister(pidfd)
            os.close(pidfd)
            _report(reports, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            os.close(reports)
        if requests.fileno() in ready:
            message, descriptors, _, _ = socket.recv_fds(requests, MAX_REQUEST, 4)
            if not message:
                os._exit(0)
            control, journal, errors, reports = descriptors
            pid = os.fork()
            if pid == 0:
                requests.close()
                for pidfd, (_, other) in workers.items():
                    os.close(pidfd)
                    os.close(other)
                _become(json.loads(message), control, journal, errors, reports)
            for descriptor in (control, journal, errors):
                os.close(descriptor)
            pidfd = os.pidfd_open(pid)
            workers[pidfd] = (pid, reports)
            poll.register(pidfd, select.POLLIN)


def _become(request: dict[str, object], control: int, journal: int, errors: int, reports: int) -> NoReturn:
    """Turn this new process into a worker, as if it had been started with the environment of the request."""
    try:
        os.setsid()
        _report(reports, os.getpid())
        os.close(reports)
        os.dup2(errors, 2)
        os.close(errors)
        environment, home = request["environment"], request["home"]
        assert isinstance(environment, dict) and isinstance(home, str)
        _mark(environment[MARKER])
        for name in set(os.environ) - set(environment):
            del os.environ[name]
        os.environ.update(environment)
        os.chdir(home)
        work([str(control), str(journal)])
    except SystemExit as error:
        sys.stderr.write(f"{error}\n")
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(1)


def _mark(token: str) -> None:
    """Write the marker over the server's own in the memory that the kernel shows as the environment of this process.

    All its descendants have this memory too, or get the marker from `os.environ` when they start another program.
    """
    getenv = libc().getenv
    getenv.restype = ctypes.c_void_p
    place = getenv(MARKER.encode())
    if len(os.environ[MARKER]) != len(token):
        raise ValueError(f"the marker has {len(token)} characters, expected {len(os.environ[MARKER])}")
    ctypes.memmove(place, token.encode(), len(token))


def _report(reports: int, number: int) -> None:
    with contextlib.suppress(OSError):  # the parent has closed its end
        os.write(reports, REPORT.pack(number))


if __name__ == "__main__":
    main(sys.argv[1:])
