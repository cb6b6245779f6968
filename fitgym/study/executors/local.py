"""Processes of this machine, by default as many as there are cores; if a process dies, only its run is lost."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from pathlib import Path
from typing import Any

from fitgym.sandbox.sandbox import die_with_parent
from fitgym.study.cell import lost, place, run, save
from fitgym.study.executors.base import Executor
from fitgym.study.plan import Cell

__all__ = ["Local"]

_AHEAD = 2
"""Runs submitted per worker, so that no worker waits for this process; the others wait here, which costs no memory."""


class Local(Executor):
    """joblib's worker processes on this machine (loky; extra `study`)."""

    def run(self, cells: Sequence[Cell], folder: Path) -> Iterator[Cell]:
        """Make the runs in as many processes as there are workers.

        When a process dies, the pool and all its current runs must be abandoned. These runs are repeated one by one, to
        find the one that kills its process; its record then contains the reason.
        """
        workers = self.workers or os.cpu_count() or 1
        waiting = iter(cells)
        while suspects := (yield from self._until_broken(waiting, folder, workers)):
            for cell in suspects:
                _alone(cell, folder)
                yield cell

    def _until_broken(self, waiting: Iterator[Cell], folder: Path, workers: int) -> Generator[Cell, None, list[Cell]]:
        """Yield runs as they end; if a process dies, return the submitted runs, else none."""
        asked: dict[Future[str], Cell] = {}
        taken: dict[str, Cell] = {}  # includes a run whose submission failed
        try:
            with _Workers(workers) as pool:
                while True:
                    for cell in islice(waiting, workers * _AHEAD - len(asked)):
                        taken[cell.id] = cell
                        asked[pool.submit(cell, folder)] = cell
                    if not asked:
                        return []
                    for future in wait(asked, return_when=FIRST_COMPLETED).done:
                        future.result()
                        yield taken.pop(asked.pop(future).id)
        except BrokenProcessPool:
            return list(taken.values())


def _alone(cell: Cell, folder: Path) -> None:
    """Make a run in a separate process, and write a record with the reason if that process dies."""
    if place(folder, cell.id).exists():
        return
    try:
        with _Workers(1) as pool:
            pool.submit(cell, folder).result()
    except BrokenProcessPool as death:
        reason = " ".join(str(death).split()) or "no more is known"
        save(lost(cell, f"the process that made the run died, twice: {reason}"), place(folder, cell.id))


class _Workers:
    """Processes that make runs, and are killed at the end whatever they are doing."""

    def __init__(self, number: int) -> None:
        self._pool = _pool(number)
        self._last: Future[str] | None = None

    def submit(self, cell: Cell, folder: Path) -> Future[str]:
        """Submit a run."""
        future: Future[str] = self._pool.submit(run, cell, folder)
        self._last = future
        return future

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *_: object) -> None:
        """Wait until the pool's thread has taken all submitted runs, or for a second; then kill the processes.

        If the pool is killed earlier, its thread fails with a visible KeyError (loky 3.6, in `add_call_item_to_queue`),
        and its cleanup is skipped.
        """
        last, given_up = self._last, time.monotonic() + 1
        while last and not (last.running() or last.done()) and time.monotonic() < given_up:
            time.sleep(0.001)
        self._pool.shutdown(kill_workers=True)


def _pool(workers: int) -> Any:
    from joblib.externals.loky import ProcessPoolExecutor

    # Each run has its own worker process for the subject, so more threads than processes would only compete for cores.
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    # If this process is killed, the workers must end too, or they would wait for runs forever.
    return ProcessPoolExecutor(
        workers, env=dict.fromkeys(threads, "1"), initializer=die_with_parent, initargs=(os.getpid(),)
    )
