"""Layers: tests which layers of the sandbox work on this machine. A kernel may know a layer and still not allow it.

Run as `python -m fitgym.sandbox.layers FOLDER` with an empty folder. It prints a JSON object with the problem of each
layer, "" if it works.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from fitgym.messages.journal import Journal
from fitgym.sandbox.landlock import confine, isolate_signals, landlock_version
from fitgym.sandbox.sandbox import Blocked, Guard, adopt_orphans, lower, restrict

__all__ = ["LAYERS", "tried"]

Layer = Callable[[str], str]
"""Tests a layer in a folder and returns its problem, "" if it works. Changes the process that calls it."""


def tried(layer: Layer, folder: str) -> str:
    """Test a layer in its own process. Returns its problem, "" if it works."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(reading)
            try:
                problem = layer(folder)
            except BaseException as error:
                problem = f"{type(error).__name__}: {error}"
            os.write(writing, problem.encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        problem = pipe.read().decode(errors="replace")
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return problem or ("" if code == 0 else f"the process that tried it ended with status {code}")


def _memory(folder: str) -> str:
    restrict(folder, memory_mb=64)
    try:
        bytearray(1 << 30)
    except MemoryError:
        return ""
    return "a process may take more memory than its limit"


def _files(folder: str) -> str:
    restrict(folder, file_mb=1)
    try:
        Path(folder, "large").write_bytes(bytes(2 << 20))
    except OSError:
        return ""
    return "a file may grow beyond its limit"


def _processes(folder: str) -> str:
    lower(resource.RLIMIT_NPROC, 0)
    try:
        threading.Thread(target=int).start()
    except RuntimeError:
        return ""
    return "root may start any number of processes" if os.geteuid() == 0 else "the number of processes is not limited"


def _hook(folder: str) -> str:
    guard = Guard(folder)
    guard.install()
    guard.mode = "strict"
    try:
        os.system("true")
    except Blocked:
        return ""
    return "the audit hook refuses nothing"


def _landlock(folder: str) -> str:
    if landlock_version() == 0:
        return "the kernel does not have Landlock or does not enable it"
    inside = os.path.join(folder, "inside")
    os.mkdir(inside)
    confine(os.path.realpath(inside), ())  # alone, because namespaces would refuse the same writes
    Path(inside, "allowed").write_text("")
    try:
        Path(folder, "refused").write_text("")
    except PermissionError:
        return ""
    return "files can be written outside of the folder"


def _signals(folder: str) -> str:
    if not isolate_signals():
        return f"needs version 6 of Landlock, and this is version {landlock_version()}"
    try:
        os.kill(os.getppid(), 0)
    except PermissionError:
        return ""
    return "signals reach other processes"


def _orphans(folder: str) -> str:
    adopt_orphans()
    reading, writing = os.pipe()
    held, release = os.pipe()
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            os.close(release)
            os.read(held, 1)  # until the child has ended
            os.write(writing, str(os.getppid()).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(release)
    os.close(writing)
    return "" if os.read(reading, 32) == str(os.getpid()).encode() else "another process adopts orphans"


def _descriptors(folder: str) -> str:
    os.close(os.pidfd_open(os.getpid()))
    return ""


def _journal(folder: str) -> str:
    os.close(Journal.create())
    return ""


def _patience(folder: str) -> str:
    with open("/proc/self/schedstat", "rb") as schedstat:
        return "" if len(schedstat.read().split()) == 3 else "/proc/self/schedstat has an unexpected format"


LAYERS: dict[str, Layer] = {
    "limit on memory": _memory,
    "limit on files": _files,
    "limit on processes": _processes,
    "audit hook": _hook,
    "Landlock": _landlock,
    "signals stay inside": _signals,
    "orphans are found": _orphans,
    "ends are noticed at once": _descriptors,
    "shared journal": _journal,
    "waiting is told from working": _patience,
}
"""The layers by name, in the order of the report."""


def main(folder: str) -> None:
    """Print the problem of each layer."""
    problems = {}
    for number, (name, layer) in enumerate(LAYERS.items()):
        place = os.path.join(folder, str(number))
        os.mkdir(place)
        problems[name] = tried(layer, place)
    print(json.dumps(problems))


if __name__ == "__main__":
    main(sys.argv[1])
