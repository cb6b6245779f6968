"""A SLURM cluster, through submitit."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fitgym.errors import InputError
from fitgym.study.cell import lost, place, run, save
from fitgym.study.executors.base import Executor
from fitgym.study.plan import Cell

__all__ = ["Slurm"]

_LOOK_S = 1.0
_MINUTES = 24 * 60


class Slurm(Executor):
    """Jobs of SLURM (extra `slurm`), each with many runs one after the other.

    The address is submitit's name of the cluster: `slurm` by default, `local` for processes of this machine and `debug`
    for this process, both without SLURM. A partition may follow after a colon: `slurm:short`. All nodes must have
    access to the folder of the study. A job that is requeued continues with the runs that have no record.
    """

    def run(self, cells: Sequence[Cell], folder: Path) -> Iterator[Cell]:
        """Make the runs in as many jobs as there are workers (by default 8)."""
        import submitit

        cluster, _, partition = (self.address or "slurm").partition(":")
        if cluster not in ("slurm", "local", "debug"):
            raise InputError(f"the address is '{self.address}'; expected slurm, slurm:PARTITION, local or debug")
        jobs = min(self.workers or 8, len(cells)) or 1
        executor = submitit.AutoExecutor(folder / "jobs", cluster=cluster)
        executor.update_parameters(timeout_min=_MINUTES, cpus_per_task=1, name="fitgym")
        if partition:
            executor.update_parameters(slurm_partition=partition)
        if cluster == "slurm":
            executor.update_parameters(slurm_array_parallelism=jobs)
        # Distribute the runs in turn, so that every job has runs of all arms and all jobs take about equally long.
        hands = [list(cells[start::jobs]) for start in range(jobs)]
        with executor.batch():
            submitted = [executor.submit(_Hand(hand, str(folder.resolve()))) for hand in hands]
        yield from _ended(list(zip(submitted, hands, strict=True)), folder)


class _Hand:
    """The runs of one job; can be sent to another process, and submitted again when the job is requeued."""

    def __init__(self, cells: list[Cell], folder: str) -> None:
        self.cells = cells
        self.folder = folder

    def __call__(self) -> int:
        """Make the runs that have no record."""
        for cell in self.cells:
            run(cell, self.folder)
        return len(self.cells)

    def checkpoint(self) -> Any:
        """Return the job that submitit submits when the time limit is reached: the same job again."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self)


def _ended(jobs: list[tuple[Any, list[Cell]]], folder: Path) -> Iterator[Cell]:
    """Yield the runs as their records appear; runs without a record at the end of their job are lost."""
    open_ = [(job, list(hand)) for job, hand in jobs]
    while open_:
        left = []
        for job, hand in open_:
            is_over = job.done()
            yield from (cell for cell in hand if place(folder, cell.id).exists())
            rest = [cell for cell in hand if not place(folder, cell.id).exists()]
            if is_over:
                for cell in rest:
                    save(lost(cell, f"the job {job.job_id} ended before it: {_why(job)}"), place(folder, cell.id))
                    yield cell
            elif rest:
                left.append((job, rest))
        open_ = left
        if open_:
            time.sleep(_LOOK_S)


def _why(job: Any) -> str:
    problem = job.exception()
    return next(iter(str(problem).strip().splitlines()[-1:]), "no more is known") if problem else "no more is known"
