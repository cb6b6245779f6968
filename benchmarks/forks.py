"""Runs a test file in forks of an interpreter that has loaded pytest but nothing of the subject or of fitgym.

    python benchmarks/forks.py PYTEST_ARGUMENTS

    {"env": {"MUTATED_ROOT": ...}, "cpu": s, "wall": s}   -> {"code": exit code or null, "seconds": of processor time}

Each run is one line of JSON on standard input and one on standard output. A fork equals a fresh interpreter that has
loaded pytest, which takes most of the time of a short run. Each fork imports the subject and the tests anew. A run that
reaches a limit has no exit code. Processes that a run started end with it.
"""

from __future__ import annotations

import json
import math
import os
import resource
import select
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

TRIAL = (
    "def test_nothing():\n    with __import__('pytest').raises(ValueError, match='x'):\n        raise ValueError('x')\n"
)


def load() -> None:
    """Load the modules of a pytest run by running a trial test in the parent of the forks."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_trial.py").write_text(TRIAL)
        pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--rootdir", folder, folder])
    sys.modules.pop("test_trial", None)


def run(arguments: list[str], request: dict[str, Any]) -> dict[str, Any]:
    """Run the tests once in a fork."""
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        code = 70
        try:
            os.setsid()
            soft = math.ceil(request["cpu"])
            resource.setrlimit(resource.RLIMIT_CPU, (soft, soft + 1))
            os.environ.update(request["env"])
            code = int(pytest.main(arguments))
        finally:
            os._exit(code)
    watch = os.pidfd_open(pid)
    try:
        ended = bool(select.select([watch], [], [], request["wall"])[0])
    finally:
        os.close(watch)
        try:
            os.killpg(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)  # the fork does not lead its own process group yet
        _, status, used = os.wait4(pid, 0)
    seconds = used.ru_utime + used.ru_stime
    code = os.waitstatus_to_exitcode(status)
    late = not ended or code == -signal.SIGXCPU or (code == -signal.SIGKILL and seconds > request["cpu"])
    return {"code": None if late else code, "seconds": round(seconds, 4)}


def main() -> None:
    """Answer requests until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_RDWR)
    for number in (1, 2):  # output of tests must not mix with the answers
        os.dup2(null, number)
    requests = os.fdopen(os.dup(0))
    os.dup2(null, 0)
    load()
    for line in requests:
        answers.write(json.dumps(run(sys.argv[1:], json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
