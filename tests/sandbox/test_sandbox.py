"""The sandbox: refused and allowed operations, and whole programs inside it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from fitgym.sandbox.landlock import landlock_version

PRELUDE = """
import os, resource, sys
from fitgym.sandbox.sandbox import Blocked, restrict
folder, outside = sys.argv[1:]
guard = restrict(folder, memory_mb=200, file_mb=1, mode={mode!r})
try:
{action}
except Blocked as refusal:
    print("blocked", guard.refused)
except PermissionError as refusal:
    print("denied")
except MemoryError:
    print("memory")
except OSError as error:
    print("error", error.strerror)
else:
    print("done")
"""


def run(tmp_path: Path, action: str, mode: str = "strict") -> str:
    """What a fresh process says after trying something in a sandbox whose folder is `tmp_path/inside`."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir(exist_ok=True)
    outside.mkdir(exist_ok=True)
    (outside / "victim").write_text("precious")
    (inside / "own").write_text("mine")
    script = PRELUDE.format(mode=mode, action=textwrap.indent(textwrap.dedent(action).strip(), "    "))
    result = subprocess.run(
        [sys.executable, "-c", script, str(inside), str(outside)],
        cwd=inside,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (outside / "victim").read_text() == "precious"
    assert os.listdir(outside) == ["victim"]
    return result.stdout.strip() or result.stderr.strip().splitlines()[-1]


REFUSED = [
    ("open(outside + '/victim', 'w')", "open"),
    ("open('../outside/victim', 'a')", "open"),
    ("open(outside + '/victim', 'r+b')", "open"),
    ("os.open(outside + '/new', os.O_CREAT | os.O_WRONLY)", "open"),
    ("os.symlink(outside + '/victim', 'link')\nopen('link', 'w')", "open"),
    ("os.symlink(outside, 'way')\nopen('way/victim', 'w')", "open"),
    ("open(0)", "open"),
    ("open(True, closefd=False)", "open"),
    ("open(os.open(outside, os.O_PATH))", "open"),
    ("open(99)", "open"),
    ("os.remove(outside + '/victim')", "os.remove"),
    ("os.remove('victim', dir_fd=os.open(outside, os.O_RDONLY))", "os.remove"),
    ("os.rename('own', outside + '/own')", "os.rename"),
    ("os.rename(outside + '/victim', 'own')", "os.rename"),
    ("os.mkdir(outside + '/d')", "os.mkdir"),
    ("os.rmdir(outside)", "os.rmdir"),
    ("os.link('own', outside + '/own')", "os.link"),
    ("os.truncate(outside + '/victim', 0)", "os.truncate"),
    ("os.chmod(outside + '/victim', 0)", "os.chmod"),
    ("os.utime(outside + '/victim')", "os.utime"),
    ("os.chdir(outside)", "os.chdir"),
    ("os.system('true')", "os.system"),
    ("import subprocess\nsubprocess.run(['true'])", "subprocess.Popen"),
    ("os.fork()", "os.fork"),
    ("os.execv('/bin/true', ['true'])", "os.exec"),
    ("os.posix_spawn('/bin/true', ['true'], {})", "os.posix_spawn"),
    ("os.kill(os.getppid(), 0)", "os.kill"),
    ("os.killpg(0, 0)", "os.killpg"),
    ("import socket\nsocket.socket().connect(('127.0.0.1', 9))", "socket.connect"),
    ("import socket\nsocket.socket().bind(('127.0.0.1', 0))", "socket.bind"),
    ("import socket\nsocket.getaddrinfo('localhost', 9)", "socket.getaddrinfo"),
    ("import socket\nsocket.socket(type=socket.SOCK_DGRAM)", "socket.__new__"),
    ("import socket\nsocket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)", "socket.__new__"),
    ("import socket\nsocket.socket(8)", "socket.__new__"),  # whether there is this family depends on the machine
    ("import sqlite3\nsqlite3.connect(outside + '/db')", "sqlite3.connect"),
    ("os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)", "os.setpriority"),
    ("os.setpriority(who=0, which=os.PRIO_USER, priority=19)", "os.setpriority"),
    ("os.sched_setaffinity(os.getppid(), {0})", "os.sched_setaffinity"),
    ("os.sched_setscheduler(os.getppid(), os.SCHED_IDLE, os.sched_param(0))", "os.sched_setscheduler"),
    ("os.sched_setparam(os.getppid(), os.sched_param(0))", "os.sched_setparam"),
    ("os.memfd_create('x')", "os.memfd_create"),
    ("import ctypes\nctypes.CDLL('libc.so.6')", "ctypes.dlopen"),
    ("import ctypes\nctypes.string_at(1)", "ctypes.string_at"),
    ("resource.setrlimit(resource.RLIMIT_AS, (-1, -1))", "resource.setrlimit"),
    ("sys.addaudithook(print)", "sys.addaudithook"),
    ("import shutil\nshutil.rmtree(outside)", "os.remove"),
    ("import shutil\nshutil.copy('own', outside)", "open"),
    ("import pathlib\npathlib.Path(outside, 'victim').unlink()", "os.remove"),
    ("import pathlib\npathlib.Path(outside, 'new').touch()", "os.utime"),
]


@pytest.mark.parametrize(("action", "event"), REFUSED, ids=[row[0].replace("\n", "; ") for row in REFUSED])
def test_what_reaches_outside_is_refused(tmp_path: Path, action: str, event: str) -> None:
    assert run(tmp_path, action) == f"blocked {event}"


@pytest.mark.parametrize(
    "action",
    [
        "open('new', 'w').write('x'); os.rename('new', 'newer'); os.remove('newer')",
        "os.mkdir('d'); open('d/f', 'w').close(); import shutil; shutil.rmtree('d')",
        "open(outside + '/victim').read()",
        "os.listdir(outside); os.stat(outside)",
        "open(os.devnull, 'w').write('x')",
        "open(os.open('own', os.O_RDONLY)).read()",
        "ends = os.pipe(); open(ends[1], 'w').close(); open(ends[0]).read()",
        "import tempfile; open(tempfile.mkstemp(dir='.')[0], 'w').write('x')",
        "import tempfile; tempfile.NamedTemporaryFile(dir='.').write(b'x')",
        "import sqlite3; sqlite3.connect(':memory:')",
        "import socket; socket.socketpair()",
        "import socket; socket.socket(); socket.socket(socket.AF_INET6); socket.socket(socket.AF_UNIX)",
        "import socket; socket.socket(fileno=os.dup(socket.socketpair()[0].detach()))",
        "import socket; socket.if_nameindex()",
        "os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) + 1); os.nice(1)",
        "os.sched_setaffinity(0, os.sched_getaffinity(0)); os.sched_getaffinity(os.getppid())",
        "resource.getrlimit(resource.RLIMIT_CORE)",
        "os.chmod('own', 0o600); os.utime('own', (1, 2)); import shutil; shutil.copy2('own', 'copy')",
        "import asyncio; asyncio.run(asyncio.sleep(0))",
        "import tempfile, shutil; shutil.rmtree(tempfile.mkdtemp(dir='.'))",
        "import threading; t = threading.Thread(target=print); t.start(); t.join()",
        "import json, decimal, xml.dom, asyncio",
        "import time; time.sleep(0.01)",
    ],
)
def test_what_stays_inside_is_let_through(tmp_path: Path, action: str) -> None:
    assert run(tmp_path, action).endswith("done")


def test_the_polite_mode_denies_as_an_operating_system_would(tmp_path: Path) -> None:
    assert run(tmp_path, "os.remove(outside + '/victim')", mode="polite") == "denied"


@pytest.mark.parametrize(
    "action", ["os.setpriority()", "os.sched_setaffinity(0)", "os.setpriority(0, 0, priority='x')"]
)
def test_wrong_arguments_are_told_by_the_function_itself(tmp_path: Path, action: str) -> None:
    assert run(tmp_path, f"try:\n    {action}\nexcept TypeError:\n    print('wrong')").splitlines() == ["wrong", "done"]


def test_a_refusal_that_is_swallowed_can_still_be_seen(tmp_path: Path) -> None:
    action = """
    try:
        os.system("true")
    except BaseException:
        pass
    print(guard.refused)
    """
    assert run(tmp_path, action).splitlines() == ["os.system", "done"]


def test_the_guard_can_be_lifted_for_a_moment(tmp_path: Path) -> None:
    action = """
    with guard.off():
        pid = os.fork()
        if pid == 0:
            os._exit(0)
    os.waitpid(pid, 0)
    os.fork()
    """
    assert run(tmp_path, action) == "blocked os.fork"


def test_memory_is_limited_beyond_what_was_in_use(tmp_path: Path) -> None:
    assert run(tmp_path, "len('x' * (100 << 20))") == "done"
    assert run(tmp_path, "len('x' * (300 << 20))") == "memory"


def test_a_file_may_not_grow_without_bound(tmp_path: Path) -> None:
    assert run(tmp_path, "open('big', 'wb').write(b'x' * (2 << 20))") == "error File too large"


@pytest.mark.skipif(landlock_version() < 1, reason="this kernel has no Landlock")
@pytest.mark.parametrize(
    "action",
    [
        "open(outside + '/victim', 'w')",
        "open(outside + '/new', 'w')",
        "os.remove(outside + '/victim')",
        "os.mkdir(outside + '/d')",
        "os.execv('/bin/true', ['true'])",
    ],
)
def test_the_kernel_denies_what_the_hook_would_miss(tmp_path: Path, action: str) -> None:
    assert run(tmp_path, action, mode="off") in ("denied", "error Read-only file system")


@pytest.mark.skipif(landlock_version() < 6, reason="this kernel cannot scope signals")
def test_the_kernel_keeps_signals_inside(tmp_path: Path) -> None:
    assert run(tmp_path, "os.kill(os.getppid(), 0)", mode="off") == "denied"


@pytest.mark.skipif(landlock_version() < 6, reason="this kernel cannot scope signals")
@pytest.mark.parametrize(("confined", "said"), [(True, "denied"), (False, "done")])
def test_rules_made_before_a_fork_keep_it_from_signalling_its_parent(tmp_path: Path, confined: bool, said: str) -> None:
    action = f"""
    from fitgym.sandbox.landlock import isolate_signals, signal_rules
    rules = signal_rules()
    if os.fork():
        os.wait()
        os._exit(0)
    if {confined}:
        assert isolate_signals(rules)
    os.kill(os.getppid(), 0)
    """
    assert run(tmp_path, action, mode="off") == said


# --------------------------------------------------------------------------------------------------- whole programs


def sandboxed(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fitgym.sandbox.sandbox", str(folder), "--", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_pytest_runs_inside_and_its_exit_code_comes_out(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "test_it.py").write_text(
        "import os, pytest\n"
        "def test_writes(tmp_path): (tmp_path / 'a').write_text('x')\n"
        f"def test_deletes():\n    with pytest.raises(PermissionError): os.remove({str(victim)!r})\n"
        "def test_fails(): assert False\n"
    )
    result = sandboxed(folder, "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    assert "1 failed, 2 passed" in result.stdout
    assert result.returncode == 1
    assert victim.read_text() == "precious"


def test_coverage_writes_its_data_inside(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("def f(n):\n    return 1 if n else 2\n")
    (tmp_path / "test_shop.py").write_text("import shop\ndef test_f(): assert shop.f(1) == 1\n")
    result = sandboxed(tmp_path, "coverage", "run", "--branch", "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert "1 passed" in result.stdout, result.stderr
    assert (tmp_path / ".coverage").exists()


@pytest.mark.parametrize(
    ("arguments", "message"), [((), "usage"), (("nowhere", "--", "pytest"), "no such folder: 'nowhere'")]
)
def test_a_command_line_that_makes_no_sense_is_explained(arguments: tuple[str, ...], message: str) -> None:
    command = [sys.executable, "-m", "fitgym.sandbox.sandbox", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 2
    assert message in result.stderr


def test_an_import_may_ask_the_kernel_about_the_network_and_a_test_case_may_not(tmp_path):
    action = "import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).bind((0, 0))"
    assert run(tmp_path, action, mode="polite") == "done"
    assert run(tmp_path, action) == "blocked socket.bind"
    assert run(tmp_path, "import socket; socket.socket().bind(('127.0.0.1', 0))", mode="polite") == "denied"
