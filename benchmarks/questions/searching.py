"""A search for several questions: on a subject of the benchmarks, counted and timed by generation."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workload import BUNDLED

from fitgym.engine import Engine
from fitgym.execution.executor import Executor, Limits
from fitgym.subject.source import locate
from questions.processes import cpu_of_tree

__all__ = ["Span", "engine_on", "folder_of", "spent"]


@dataclass
class Span:
    """The counts and times of some generations.

    Attributes:
        generations, executions: their numbers.
        parent, worker: seconds of processor time of the search itself, and of its child processes.
        wall: seconds.
        timings: the engine's stage times, in seconds of wall time.
    """

    generations: int
    executions: int
    parent: float
    worker: float
    wall: float
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def cpu(self) -> float:
        """Seconds of processor time of all processes."""
        return self.parent + self.worker

    @property
    def microseconds(self) -> float:
        """Processor time of all processes per executed test case."""
        return 1e6 * self.cpu / self.executions


def folder_of(module: str, subjects: Path) -> Path:
    """Return the location of a benchmark module: bundled or installed."""
    return BUNDLED if (BUNDLED / f"{module}.py").exists() else subjects


@contextmanager
def engine_on(module: str, folder: Path, *, limits: Limits | None = None, **options: Any) -> Iterator[Engine]:
    """Provide a search on a module, guided by branches; end its worker afterwards."""
    with Executor(locate(module, folder), limits or Limits()) as executor:
        yield Engine(executor, **{"fitness": ("branch",), **options})


def spent(engine: Engine, generations: int) -> Span:
    """Run some generations and return their counts and times."""
    executions, timings = engine.executions, dict(engine.timings)
    wall, (parent, worker) = time.perf_counter(), cpu_of_tree()
    for _ in range(generations):
        engine.step()
    now = cpu_of_tree()
    return Span(
        generations,
        engine.executions - executions,
        now[0] - parent,
        now[1] - worker,
        time.perf_counter() - wall,
        {name: value - timings.get(name, 0.0) for name, value in engine.timings.items()},
    )
