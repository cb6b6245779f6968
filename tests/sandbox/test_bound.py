"""Bound programs end with the process that started them, however it ends."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fitgym.sandbox.bound import bound


def ended(pid: int, seconds: float = 20.0) -> bool:
    """The process, which need not be a child of this one, ends in time."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


def test_a_module_runs_as_a_program_with_its_arguments() -> None:
    done = subprocess.run(bound("json.tool", "--no-ensure-ascii"), input='["ö"]', capture_output=True, text=True)
    assert done.returncode == 0 and "ö" in done.stdout


def test_the_exit_code_is_that_of_the_module() -> None:
    done = subprocess.run(bound("json.tool"), input="no JSON", capture_output=True, text=True)
    assert done.returncode == 1 and "Expecting value" in done.stderr


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "os._exit(0)"], ids=["killed", "done"])
def test_it_ends_with_the_process_that_started_it(tmp_path: Path, end: str) -> None:
    (tmp_path / "endless.py").write_text("import time; print('up', flush=True); time.sleep(600)")
    script = f"""
import os, subprocess, sys
from fitgym.sandbox.bound import bound
child = subprocess.Popen(bound("endless"), stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
{end}
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout, done.stderr
    assert ended(int(done.stdout))


def test_it_ends_at_once_if_the_parent_has_ended_before_it_could_be_bound() -> None:
    script = "from fitgym.sandbox.sandbox import die_with_parent; die_with_parent(1 << 22); print('still here')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "")


def test_a_function_is_called_in_a_bound_process() -> None:
    script = "import os, pickle; from fitgym.sandbox.bound import call; call(os.getppid(), pickle.dumps(print), 1, 2)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "1 2\n")


def test_nothing_is_unpickled_in_a_process_whose_parent_has_ended() -> None:
    script = "from fitgym.sandbox.bound import call; call(1 << 22, b'no pickle')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
