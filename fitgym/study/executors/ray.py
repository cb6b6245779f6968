"""A Ray cluster of one or more machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from fitgym.run.cluster import connected, reason, tasks
from fitgym.study.cell import lost, place, save
from fitgym.study.executors.base import Executor
from fitgym.study.plan import Cell

__all__ = ["Ray"]

_AHEAD = 2


class Ray(Executor):
    """Tasks of a Ray cluster (extra `ray`).

    The address is that of a cluster, such as `ray://head:10001` or `auto`. Without one, a cluster is started on this
    machine and stopped at the end of the study. A task returns its record, so nodes need not share a file system with
    this process.
    """

    def run(self, cells: Sequence[Cell], folder: Path) -> Iterator[Cell]:
        """Make as many runs in parallel as there are workers, by default the number of cores of the cluster."""
        with connected(self.address, self.workers) as ray:
            workers = self.workers or int(ray.cluster_resources().get("CPU", 1))
            for cell, text in tasks(ray, _made, cells, workers * _AHEAD):
                if isinstance(text, ray.exceptions.RayError):
                    text = lost(cell, f"the process that made the run died: {reason(text)}")
                save(text, place(folder, cell.id))
                yield cell


def _made(cell: Cell) -> str:
    from fitgym.study.cell import record

    return record(cell)
