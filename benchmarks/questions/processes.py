"""Processor time and memory of process trees, and separate processes for measurements."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

__all__ = ["apart", "below", "cpu_of", "cpu_of_tree", "memory_of"]

Result = TypeVar("Result")
_TICK = 1 / os.sysconf("SC_CLK_TCK")


def apart(function: Callable[..., Result], *arguments: Any, environment: dict[str, str] | None = None) -> Result:
    """Return the result of a function that is called in a new Python process; raise its exception here.

    Args:
        function: must be importable by name.
        arguments: pickled.
        environment: variables set before any other import of ours.
    """
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawn, _set, (environment or {},)) as pool:
        return pool.submit(function, *arguments).result()


def _set(environment: dict[str, str]) -> None:
    os.environ.update(environment)


def below(pid: int | None = None) -> list[int]:
    """Return the descendants of a process, by default of this one, without the process itself."""
    found = []
    open_ = [os.getpid() if pid is None else pid]
    while open_:
        for child in _children(open_.pop()):
            found.append(child)
            open_.append(child)
    return found


def _children(pid: int) -> list[int]:
    try:
        threads = Path(f"/proc/{pid}/task").iterdir()
        return [int(child) for thread in threads for child in (thread / "children").read_text().split()]
    except OSError:
        return []


def cpu_of(pid: int) -> float:
    """Return seconds of processor time of a single-threaded process and its ended children; 0 once it has ended.

    The time of children comes in steps of 10 ms on most machines.
    """
    try:
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        with open(f"/proc/{pid}/schedstat") as schedstat:
            own = int(schedstat.read().split()[0]) / 1e9
    except OSError:
        return 0.0
    return own + (int(fields[13]) + int(fields[14])) * _TICK


def cpu_of_tree() -> tuple[float, float]:
    """Return seconds of processor time of this process and all descendants, including ended ones."""
    ended = os.times()
    return time.process_time(), ended.children_user + ended.children_system + sum(map(cpu_of, below()))


def memory_of(pid: int) -> tuple[float, float]:
    """Return resident and proportional size of a process in MiB; the latter divides shared pages among their users."""
    sizes = {}
    try:
        with open(f"/proc/{pid}/smaps_rollup") as rollup:
            for line in rollup:
                name, _, rest = line.partition(":")
                if name in ("Rss", "Pss"):
                    sizes[name] = int(rest.split()[0]) / 1024
    except OSError:
        return 0.0, 0.0
    return sizes.get("Rss", 0.0), sizes.get("Pss", 0.0)
