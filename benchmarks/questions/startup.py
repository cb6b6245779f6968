"""How long until something can be done? Fresh processes, by the clock on the wall."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from workload import BUNDLED

from questions.answer import Answer, Settings, Table, Target
from questions.estimate import bootstrap

__all__ = ["answer"]

# The command line as a user starts it, up to the moment when results of the first test cases are there.
FIRST_TEST_CASE = f"""
import sys, time, os
from fitgym.execution.executor import Executor
run = Executor.run
def until_there(self, testcases, *arguments):
    traces = run(self, testcases, *arguments)
    os.write(int(os.environ["MOMENT"]), repr(time.monotonic()).encode())
    os._exit(0)
Executor.run = until_there
from fitgym.cli import main
main(["generate", "numeric", "--path", {str(BUNDLED)!r}, "--budget", "5s", "--quiet"])
"""

COMMANDS = {
    "python -c pass": (["-c", "pass"], None),
    "import numpy": (["-c", "import numpy"], None),
    "import fitgym": (["-c", "import fitgym"], 0.3),
    "fitgym --help": (["-m", "fitgym", "--help"], 0.3),
    "fitgym generate, first test cases executed": (["-c", FIRST_TEST_CASE], 0.5),
}
"""What is started, and how many seconds it may take."""


def started(arguments: list[str], folder: str) -> float:
    """Seconds from starting Python with these arguments to its end, or to the moment that it writes to `MOMENT`.

    Raises:
        RuntimeError: it failed.
    """
    read, write = os.pipe()
    root = Path(__file__).resolve().parent.parent.parent
    # Byte code is there as it is for any installed package, also where the environment asks that none be written:
    # without it, two thirds of the time go to compiling.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    begun = time.monotonic()
    process = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(root), "MOMENT": str(write)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=(write,),
    )
    ended = time.monotonic()
    os.close(write)
    moment = os.read(read, 64)
    os.close(read)
    if process.returncode != 0:
        said = process.stderr.decode().strip().splitlines() or ["it said nothing"]
        raise RuntimeError(f"{' '.join(arguments)[:60]}: {said[-1]}")
    return (float(moment) if moment else ended) - begun


def answer(settings: Settings) -> Answer:
    """The median of fresh processes, each command in turn."""
    repeats = settings.choose(3, 20)
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    result = Answer()
    with tempfile.TemporaryDirectory() as folder:
        for arguments, _ in COMMANDS.values():
            started(arguments, folder)  # files are read, and byte code is written, once
        for repeat in range(repeats):
            for name in list(COMMANDS)[:: -1 if repeat % 2 else 1]:
                seconds[name].append(started(COMMANDS[name][0], folder))
    table = Table("Start-up, milliseconds of wall time in fresh processes", ("", "least", "median", "most"), [])
    for name, of_name in seconds.items():
        middle = bootstrap(of_name)
        table.rows.append((name, *(f"{1000 * value:.0f}" for value in (min(of_name), middle.value, max(of_name)))))
        limit = COMMANDS[name][1]
        if limit is not None:
            result.targets.append(Target(f"{name}: seconds, median", limit, middle.value))
    result.tables.append(table)
    result.figures = dict(seconds)
    return result
