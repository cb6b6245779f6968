"""A Ray cluster: this machine, or any number of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from fitgym.cluster import connected, reason
from fitgym.study.cell import lost, place, save
from fitgym.study.executors.base import Executor
from fitgym.study.plan import Cell

__all__ = ["Ray"]

_AHEAD = 2
_RETRIES = 3
"""Runs are made again when the node is lost on which they were, at most so often."""


class Ray(Executor):
    """Ray tasks (extra `ray`).

    The address is that of a cluster, such as `ray://head:10001` or `auto`; without one a cluster is started on this machine
    and ended with the study. A task brings its record back, so nodes need not share a file system with this process.
    """

    def run(self, cells: Sequence[Cell], folder: Path) -> Iterator[Cell]:
        """As many at a time as the cluster has cores, or as there are workers."""
        with connected(self.address, self.workers) as ray:
            yield from self._run(ray, cells, folder)

    def _run(self, ray: Any, cells: Sequence[Cell], folder: Path) -> Iterator[Cell]:
        task = ray.remote(num_cpus=1, max_retries=_RETRIES)(_made)
        workers = self.workers or int(ray.cluster_resources().get("CPU", 1))
        waiting = iter(cells)
        asked: dict[Any, Cell] = {}
        while True:
            for cell in islice(waiting, workers * _AHEAD - len(asked)):
                asked[task.remote(cell)] = cell
            if not asked:
                return
            for found in ray.wait(list(asked), num_returns=1)[0]:
                cell = asked.pop(found)
                try:
                    text = ray.get(found)
                except ray.exceptions.RayError as problem:
                    text = lost(cell, f"the process that made the run died: {reason(problem)}")
                save(text, place(folder, cell.id))
                yield cell


def _made(cell: Cell) -> str:
    from fitgym.study.cell import record

    return record(cell)
