"""The fork server: its workers behave like other workers, and none outlives it."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from calls_by_name import Calls

from fitgym.errors import SubjectError
from fitgym.execution.executor import Executor
from fitgym.execution.launch import ForkServer
from fitgym.messages.journal import Journal
from fitgym.messages.limits import Limits
from fitgym.sandbox.environment import MARKER, marked
from fitgym.subject.source import locate
from fitgym.subject.subject import Reference

LIMITS = Limits(seconds=1.0, memory_mb=256)

SOURCE = """
import os

counted = []

def size(text: str) -> str:
    if len(text) > 4:
        raise ValueError(text)
    if "EXAMPLE" in os.environ:
        return "example"
    if os.getcwd() != os.environ["HOME"]:
        return "elsewhere"
    counted.append(text)
    return "first" if len(counted) == 1 else "later"

def stop(code: int) -> None:
    os._exit(code)

def leave(seconds: int) -> None:
    if os.fork() == 0:
        os.setsid()
        import time
        time.sleep(seconds)
        os._exit(0)
"""


@pytest.fixture
def server() -> Iterator[ForkServer]:
    found = ForkServer()
    yield found
    found.close()


@pytest.fixture
def reference(tmp_path: Path) -> Reference:
    return write(tmp_path, SOURCE)


def write(folder: Path, source: str) -> Reference:
    path = folder / "subject.py"
    path.write_text(source, "utf-8")
    return locate(str(path))


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10.0
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[1])


def worker(executor: Executor) -> int:
    assert executor.subject and executor._zygote is not None
    return executor._zygote._process.pid


def token(executor: Executor) -> str:
    assert executor._zygote is not None
    return executor._zygote._token.hex()


def results(executor: Executor) -> list[object]:
    calls = Calls(executor)
    traces = executor.run(
        [calls(*one) for one in ([("size", "ab")], [("size", "abcde")], [("stop", 3)], [("size", "")])], calls.table
    )
    return [(trace.reached, trace.raised, trace.failure) for trace in traces]


def test_a_forked_worker_gives_the_traces_of_one_that_was_started_alone(
    server: ForkServer, reference: Reference
) -> None:
    with Executor(reference, LIMITS) as alone, Executor(reference, LIMITS, server.launch) as forked:
        assert results(forked) == results(alone)
        assert parent(worker(alone)) == os.getpid() != parent(worker(forked))


def test_workers_of_one_server_are_processes_of_their_own(server: ForkServer, reference: Reference) -> None:
    with Executor(reference, LIMITS, server.launch) as first, Executor(reference, LIMITS, server.launch) as second:
        assert parent(worker(first)) == parent(worker(second))
        assert os.getsid(worker(first)) == worker(first) != worker(second)
        assert worker(first) in marked(token(first)) and worker(second) not in marked(token(first))
        first.close()
        assert results(second)


def test_the_worker_has_the_environment_of_the_moment(
    server: ForkServer, reference: Reference, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    for value in ("1", None):
        if value is not None:
            monkeypatch.setenv("EXAMPLE", value)
        else:
            monkeypatch.delenv("EXAMPLE")
        with Executor(reference, LIMITS, server.launch) as forked, Executor(reference, LIMITS) as alone:
            seen.append(results(forked))
            assert seen[-1] == results(alone)
    assert seen[0] != seen[1]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("import os\nos._exit(3)\n", r"ended the process \(exit status 3\)"),
        ("import faulthandler\nfaulthandler._sigsegv()\n", "crashed the process"),
        ("1 / 0\n", "ZeroDivisionError"),
    ],
)
def test_a_failed_import_is_explained_as_without_a_server(
    server: ForkServer, tmp_path: Path, source: str, sentence: str
) -> None:
    said = []
    for launch in ({}, {"start": server.launch}):
        with (
            Executor(write(tmp_path, source), LIMITS, **launch) as executor,
            pytest.raises(SubjectError, match=sentence) as told,
        ):
            assert executor.subject
        said.append(str(told.value))
    assert said[0] == said[1]


def test_an_error_of_the_worker_itself_is_reported(server: ForkServer, tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    ours, theirs = socket.socketpair()
    memory = Journal.create()
    process = server.launch((theirs.fileno(), memory), str(tmp_path / "missing"), str(errors), "f" * 32)
    os.close(memory)
    assert process.wait(10.0) == 1 and process.poll() == 1
    assert "FileNotFoundError" in errors.read_text("utf-8")
    ours.close()
    theirs.close()


def test_processes_that_left_the_session_end_with_their_worker(server: ForkServer, reference: Reference) -> None:
    with Executor(reference, LIMITS, server.launch) as executor:
        calls = Calls(executor)
        executor.run([calls(("leave", 60))], calls.table)
        name = token(executor)
        assert marked(name)
    assert eventually(lambda: not marked(name))


def test_closing_the_server_ends_all_workers(server: ForkServer, reference: Reference) -> None:
    executor = Executor(reference, LIMITS, server.launch)
    running = [worker(executor), parent(worker(executor))]
    server.close()
    assert eventually(lambda: not any(map(is_running, running)))
    executor.close()
    with Executor(reference, LIMITS, server.launch) as other:
        assert parent(worker(other)) not in (running[1], os.getpid())


def test_a_killed_server_is_replaced_by_workers_started_alone(server: ForkServer, reference: Reference) -> None:
    with Executor(reference, LIMITS, server.launch) as first:
        killed = parent(worker(first))
        os.kill(killed, signal.SIGKILL)
        assert eventually(lambda: not is_running(worker(first)))
    for _ in range(2):
        with Executor(reference, LIMITS, server.launch) as executor:
            assert parent(worker(executor)) == os.getpid()
            assert results(executor)


def test_an_environment_that_does_not_fit_into_a_message_needs_no_server(
    server: ForkServer, reference: Reference, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        monkeypatch.setenv(f"LARGE_{number}", "x" * 100_000)
    with Executor(reference, LIMITS, server.launch) as executor:
        assert parent(worker(executor)) == os.getpid()


def test_a_copy_of_the_process_starts_its_own_workers(server: ForkServer, reference: Reference) -> None:
    with Executor(reference, LIMITS, server.launch) as executor:
        serving = parent(worker(executor))
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                with Executor(reference, LIMITS, server.launch) as other:
                    status = 0 if parent(worker(other)) == os.getpid() else 2
                server.close()
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert is_running(serving)
        assert results(executor)


def test_an_executor_from_a_pickle_needs_no_server(server: ForkServer, reference: Reference) -> None:
    with Executor(reference, LIMITS, server.launch) as executor:
        assert worker(executor)
        with pickle.loads(pickle.dumps(executor)) as copied:
            assert results(copied) == results(executor)
            assert parent(worker(copied)) == os.getpid()


def test_the_server_ends_with_a_process_that_is_killed(reference: Reference) -> None:
    code = (
        "import sys, time\n"
        "from fitgym.execution.executor import Executor\n"
        "from fitgym.execution.launch import ForkServer\n"
        "from fitgym.subject.source import locate\n"
        "server = ForkServer()\n"
        f"executor = Executor(locate({reference.path!r}), start=server.launch)\n"
        "assert executor.subject\n"
        "print(executor._zygote._process.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        forked = int(driver.stdout.readline())
        running = [forked, parent(forked)]
        driver.kill()
    assert eventually(lambda: not any(map(is_running, running)))


def test_the_marker_of_the_server_itself_belongs_to_no_worker(server: ForkServer, reference: Reference) -> None:
    with Executor(reference, LIMITS, server.launch) as executor:
        environ = Path(f"/proc/{parent(worker(executor))}/environ").read_bytes()
        assert f"{MARKER}={'0' * 32}".encode() in environ
        assert token(executor).encode() in Path(f"/proc/{worker(executor)}/environ").read_bytes()


def test_a_search_imports_no_code_of_the_worker() -> None:
    code = (
        "import sys, fitgym.execution.executor\n"
        "print([name for name in sys.modules if name.startswith('fitgym.worker')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
