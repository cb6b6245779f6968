"""Escapes from the sandbox: each attempt, from Python and from C, fails."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from fitgym.execution.executor import Executor, Limits
from fitgym.sandbox import escapes
from fitgym.sandbox.escapes import ESCAPES, Targets, succeeds, targets
from fitgym.sandbox.level import Level
from fitgym.sandbox.requirement import reached
from fitgym.subject.source import locate
from fitgym.testcase.statement import Statement, StatementTable

LEVEL = reached()
needs_all = pytest.mark.skipif(LEVEL < Level.NAMESPACES, reason=f"the sandbox reaches level {LEVEL:d} here")
needs_filter = pytest.mark.skipif(LEVEL < Level.SECCOMP, reason=f"the sandbox reaches level {LEVEL:d} here")

ONLY_BY_NAMESPACES = frozenset({"change permissions of a file", "change times of a file"})


@pytest.fixture
def reachable(tmp_path: Path) -> Iterator[Targets]:
    with targets(str(tmp_path)) as found:
        yield found


@needs_all
@pytest.mark.parametrize("name", ESCAPES)
def test_at_the_highest_level_nothing_gets_out(reachable: Targets, name: str) -> None:
    assert succeeds(ESCAPES[name], reachable) == (Level.NAMESPACES, False)


@needs_filter
@pytest.mark.parametrize("name", ESCAPES)
def test_without_namespaces_permissions_and_times_get_out(
    reachable: Targets, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fitgym.sandbox.confinement.isolate", lambda folder: False)
    assert succeeds(ESCAPES[name], reachable) == (Level.SECCOMP, name in ONLY_BY_NAMESPACES)


@pytest.mark.parametrize("name", sorted(set(ESCAPES) - {"trace a process", "queue calls by io_uring"}))
def test_without_any_layer_each_escape_succeeds(reachable: Targets, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(escapes, "confined", lambda folder: Level.GUARD)
    if name == "enter a user namespace" and subprocess.run(["unshare", "-U", "true"], check=False).returncode:
        pytest.skip("the kernel allows no user namespaces")
    assert succeeds(ESCAPES[name], reachable) == (Level.GUARD, True)


def test_what_ends_the_process_is_no_answer(reachable: Targets) -> None:
    with pytest.raises(RuntimeError, match="ended with status 99"):
        succeeds(lambda _: os._exit(99), reachable)


# ---------------------------------------------------------------------------------------------------- hostile subjects

OFF = """
for thing in gc.get_objects():
    if type(thing).__name__ == "Guard":
        thing.mode = "off"
        type(thing).mode = property(lambda self: "off", lambda self, value: None)
"""

HOSTILE = """
import ctypes, gc, os, resource, socket, sys
LIBC = ctypes.CDLL(None)
CHMOD, UTIME, PRLIMIT, PRIORITY = LIBC.chmod, LIBC.utime, LIBC.prlimit, LIBC.setpriority
PTRACE = LIBC.ptrace
FILE, PROCESS, UDP, STREAM, DATAGRAM = {constants}

def off():
{off}

def attempt(*names: str):
    off()
    for name in names:
        try:
            globals()["_" + name]()
        except OSError:
            pass

def python():
    attempt("chmod", "utime", "udp", "stream", "datagram", "priority", "affinity", "scheduler", "limits", "kill")

def from_c():
    attempt("c_chmod", "c_utime", "c_limits", "c_priority", "c_trace")

def plain():
    # No trick: these raise no audit event
    for name in ("priority", "affinity", "scheduler"):
        try:
            globals()["_" + name]()
        except OSError:
            pass

def _chmod(): os.chmod(FILE, 0o777)
def _utime(): os.utime(FILE, (5, 5))
def _udp(): socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", UDP)
def _stream(): socket.socket(socket.AF_UNIX).connect(STREAM)
def _datagram(): socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendmsg([b"x"], (), 0, DATAGRAM)
def _priority(): os.setpriority(os.PRIO_PROCESS, PROCESS, 19)
def _affinity(): os.sched_setaffinity(PROCESS, {{max(os.sched_getaffinity(PROCESS))}})
def _scheduler(): os.sched_setscheduler(PROCESS, os.SCHED_IDLE, os.sched_param(0))
def _limits(): resource.prlimit(PROCESS, resource.RLIMIT_FSIZE, (1, 1))
def _kill(): os.kill(PROCESS, 9)
def _c_chmod(): CHMOD(FILE.encode(), 0o777)
def _c_utime(): UTIME(FILE.encode(), (ctypes.c_long * 2)(5, 5))
def _c_limits(): PRLIMIT(PROCESS, int(resource.RLIMIT_FSIZE), (ctypes.c_ulong * 2)(1, 1), None)
def _c_priority(): PRIORITY(0, PROCESS, 19)
def _c_trace(): PTRACE(16, PROCESS, None, None)
"""


@pytest.fixture
def hostile(reachable: Targets, tmp_path: Path) -> Path:
    """A module that switches off the guard and then tries to reach the targets."""
    constants = (
        str(reachable.file),
        reachable.process,
        *(reachable.listeners[name].getsockname() for name in ("udp", "stream", "datagram")),
    )
    path = tmp_path / "hostile.py"
    path.write_text(HOSTILE.format(constants=repr(constants), off=textwrap.indent(OFF, "    ")))
    return path


def state(reached: Targets) -> tuple[object, ...]:
    """What the escapes try to change, as seen from outside."""
    process, status = reached.process, reached.file.stat()
    heard = []
    for name, listener in reached.listeners.items():
        try:
            listener.accept() if listener.type == socket.SOCK_STREAM else listener.recv(1)
        except BlockingIOError:
            continue
        heard.append(name)
    return (
        (status.st_mode, status.st_mtime_ns, reached.file.read_text()),
        (os.getpriority(os.PRIO_PROCESS, process), os.sched_getaffinity(process), os.sched_getscheduler(process)),
        [resource.prlimit(process, limit) for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CPU)],
        (os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None, heard),
    )


@pytest.mark.parametrize("function", ["python", "from_c", "plain"])
def test_the_same_module_reaches_its_targets_outside_of_a_sandbox(
    hostile: Path, reachable: Targets, function: str
) -> None:
    before = state(reachable)
    command = [sys.executable, "-c", f"import hostile; hostile.{function}()"]
    subprocess.run(command, cwd=hostile.parent, capture_output=True, timeout=60, check=True)
    if function == "python":
        os.waitid(os.P_PID, reachable.process, os.WEXITED | os.WNOWAIT)
    after = state(reachable)
    if function == "python":
        assert after[3] == (False, ["udp", "stream", "datagram"])
    assert [old != new for old, new in zip(before, after, strict=True)] == {
        "python": [True, True, True, True],
        "from_c": [True, True, True, False],
        "plain": [False, True, False, False],
    }[function]


@needs_all
@pytest.mark.parametrize("function", ["python", "from_c", "plain"])
def test_a_hostile_function_reaches_nothing(hostile: Path, reachable: Targets, function: str) -> None:
    before = state(reachable)
    with Executor(locate(str(hostile)), Limits(seconds=2.0)) as executor:
        table = StatementTable()
        operation = next(one.id for one in executor.subject.operations if one.name == function)
        (trace,) = executor.run([table.testcase([Statement(operation)])], table)
    assert trace.failure in ("", "blocked", "crash", "exit")
    assert state(reachable) == before


@needs_all
@pytest.mark.parametrize("function", ["python", "from_c", "plain"])
def test_a_hostile_import_reaches_nothing(hostile: Path, reachable: Targets, function: str) -> None:
    hostile.write_text(hostile.read_text() + f"\n\n{function}()\n\ndef good(n: int) -> int:\n    return n\n")
    before = state(reachable)
    with Executor(locate(str(hostile)), Limits(seconds=2.0)) as executor:
        assert any(one.name == "good" for one in executor.subject.operations)
    assert state(reachable) == before


@needs_all
@pytest.mark.parametrize("function", ["python", "from_c", "plain"])
def test_a_hostile_program_reaches_nothing(hostile: Path, reachable: Targets, function: str, tmp_path: Path) -> None:
    before = state(reachable)
    hostile.write_text(hostile.read_text() + f"\n\n{function}()\nprint('done')\n")
    command = [sys.executable, "-m", "fitgym.sandbox.sandbox", reachable.inside, "--", "hostile"]
    done = subprocess.run(
        command,
        cwd=reachable.inside,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == "done", done.stderr
    assert state(reachable) == before


@needs_filter
def test_without_namespaces_python_code_still_changes_no_file_outside(
    hostile: Path, reachable: Targets, tmp_path: Path
) -> None:
    before = state(reachable)
    hostile.write_text(hostile.read_text() + "\n\npython()\nplain()\nprint('done')\n")
    script = (
        "import sys; from fitgym.sandbox import confinement, sandbox; confinement.isolate = lambda folder: False\n"
        f"sandbox.main([{reachable.inside!r}, '--', 'hostile'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=reachable.inside,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == "done", done.stderr
    assert state(reachable) == before


def test_the_targets_are_gone_after_the_block(tmp_path: Path) -> None:
    with targets(str(tmp_path)) as found:
        os.kill(found.process, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(found.process, signal.SIGCONT)
