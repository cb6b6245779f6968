"""Does the memory of a long search grow? Samples parent and worker while it runs."""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path
from typing import Any

from questions.answer import Answer, Settings, Table, Target
from questions.estimate import growth_of_last_half
from questions.processes import below, memory_of
from questions.searching import engine_on, folder_of

__all__ = ["answer"]

MODULES = ("semver.version", "numeric")
MOST = 0.05


def search(module: str, folder: Path, seed: int, seconds: float, generations: Any, executions: Any) -> None:
    """Search until the time is over, and report the progress."""
    with engine_on(module, folder, seed=seed) as engine:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            engine.step()
            generations.value, executions.value = engine.generation, engine.executions


def watched(module: str, folder: Path, seed: int, seconds: float, interval: float) -> dict[str, list[float]]:
    """Return samples of a search: seconds, sizes in MiB of parent and worker, generations and executions so far."""
    spawn = multiprocessing.get_context("spawn")
    generations, executions = spawn.Value("q", 0), spawn.Value("q", 0)
    process = spawn.Process(target=search, args=(module, folder, seed, seconds, generations, executions))
    process.start()
    assert process.pid is not None
    samples: dict[str, list[float]] = {
        name: [] for name in ("seconds", "parent_rss", "worker_rss", "total_pss", "generations", "executions")
    }
    started = time.monotonic()
    while process.is_alive():
        parent = memory_of(process.pid)
        worker = [memory_of(pid) for pid in below(process.pid)]
        if parent[0] and worker and generations.value:
            row = (
                time.monotonic() - started,
                parent[0],
                max(rss for rss, _ in worker),
                parent[1] + sum(pss for _, pss in worker),
                generations.value,
                executions.value,
            )
            for name, value in zip(samples, row, strict=True):
                samples[name].append(float(value))
        process.join(interval)
    if process.exitcode != 0:
        raise RuntimeError(f"the search on {module} ended with status {process.exitcode}")
    return samples


def answer(settings: Settings) -> Answer:
    """Measure the peak, and the growth over the last half of the time."""
    modules = settings.pick(MODULES[:1], MODULES)
    seconds = 60 * settings.minutes
    interval = max(0.2, seconds / 600)
    result = Answer()
    table = Table(
        f"Memory over {settings.minutes:g} minutes of search, MiB",
        ("", "parent, peak", "worker, peak", "all, peak", "all, end", "growth of the last half", "executed"),
        [],
    )
    for module in modules:
        samples = watched(module, folder_of(module, settings.subjects), settings.seed, seconds, interval)
        result.figures[module] = samples
        grown = growth_of_last_half(samples["seconds"], samples["total_pss"])
        table.rows.append(
            (
                module,
                *(f"{max(samples[name]):.0f}" for name in ("parent_rss", "worker_rss", "total_pss")),
                f"{samples['total_pss'][-1]:.0f}",
                f"{100 * grown.value:.1f} % [{100 * grown.low:.1f}, {100 * grown.high:.1f}]",
                f"{samples['executions'][-1]:.0f}",
            )
        )
        result.targets.append(Target(f"{module}: growth of the last half, share", MOST, grown.value))
    if settings.minutes < 10:
        result.notes.append(f"{settings.minutes:g} minutes are too short to call it flat: 10 are meant")
    result.tables.append(table)
    return result
