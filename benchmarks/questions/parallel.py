"""What is the throughput of two environments, compared with one?"""

from __future__ import annotations

import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

from fitgym.envs.fitness_selection import FitnessSelection
from questions.answer import Answer, Settings, Table
from questions.estimate import bootstrap
from questions.searching import folder_of

__all__ = ["answer"]

MODULES = ("semver.version", "numeric")


def steps(module: str, folder: Path, seed: int, seconds: float, ready: Any, results: Any) -> None:
    """Step an environment for some time after all of them are ready; reports executions and seconds."""
    env = FitnessSelection(module, path=str(folder), goal="exceptions", budget=None)
    try:
        env.action_space.seed(seed)
        env.reset(seed=seed)
        assert env.engine is not None
        for _ in range(3):
            env.step(env.action_space.sample())
        ready.wait()
        before, started = env.engine.executions, time.monotonic()
        while time.monotonic() - started < seconds:
            env.step(env.action_space.sample())
        results.put((env.engine.executions - before, time.monotonic() - started))
    finally:
        env.close()


def throughput(count: int, module: str, folder: Path, seed: int, seconds: float) -> float:
    """Return the test cases per second of wall time that so many environments execute, each in a process."""
    spawn = multiprocessing.get_context("spawn")
    ready, results = spawn.Barrier(count), spawn.Queue()
    processes = [
        spawn.Process(target=steps, args=(module, folder, seed + n, seconds, ready, results)) for n in range(count)
    ]
    for process in processes:
        process.start()
    found: list[tuple[int, float]] = [results.get(timeout=10 * seconds + 120) for _ in processes]
    for process in processes:
        process.join()
    return sum(executions / took for executions, took in found)


def answer(settings: Settings) -> Answer:
    """Measure the throughput of one, of two, and of as many environments as processors."""
    seconds, repeats = settings.choose((2.0, 1), (20.0, 5))
    counts = sorted({1, 2, os.cpu_count() or 1})
    module = settings.pick(MODULES[:1], MODULES)[0]
    folder = folder_of(module, settings.subjects)
    rates: dict[int, list[float]] = {count: [] for count in counts}
    for repeat in range(repeats):
        for count in counts[:: -1 if repeat % 2 else 1]:
            rates[count].append(throughput(count, module, folder, settings.seed + 10 * repeat, seconds))
    table = Table(
        f"Environments on {module} side by side ({os.cpu_count()} processors), executed test cases per second of wall time",
        ("environments", *(f"repeat {n + 1}" for n in range(repeats)), "times one"),
        [],
    )
    for count in counts:
        times = bootstrap([many / one for many, one in zip(rates[count], rates[1], strict=True)])
        table.rows.append((str(count), *(f"{rate:.0f}" for rate in rates[count]), str(times)))
    return Answer([table], figures={"rates": {str(count): of_count for count, of_count in rates.items()}})
