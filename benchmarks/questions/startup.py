"""How long does start-up take? Measures wall-clock time of fresh processes."""

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

# The command line as a user starts it, until the results of the first test cases arrive.
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
"""The commands, and the limit of each in seconds."""


def started(arguments: list[str], folder: str) -> float:
    """Return the seconds from starting Python to its end, or to its message on `MOMENT`.

    Raises:
        RuntimeError: the process failed.
    """
    read, write = os.pipe()
    root = Path(__file__).resolve().parent.parent.parent
    # Byte code exists as for any installed package, even if the environment forbids writing it:
    # without it, compiling takes two thirds of the time.
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
    """Measure the median of fresh processes, each command in turn."""
    repeats = settings.choose(3, 20)
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    result = Answer()
    with tempfile.TemporaryDirectory() as folder:
        for arguments, _ in COMMANDS.values():
            started(arguments, folder)  # warm-up: reads files and writes byte code
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
