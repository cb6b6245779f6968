"""Base class of executors, which make the runs of a study and report their ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path

from fitgym.registry import Registry
from fitgym.study.plan import Cell

__all__ = ["Executor", "executors"]


def executors() -> Registry[Executor]:
    """Return the registry of executors, which can be named on the command line."""
    return Registry("fitgym.study.executors", Executor, "executor")


class Executor(ABC):
    """Makes runs. A run is `fitgym.study.cell.run`, which writes its own record, wherever it is executed.

    Args:
        workers: number of parallel runs, None for the number of cores.
        address: of the cluster, for executors that use one.
    """

    def __init__(self, workers: int | None = None, address: str = "") -> None:
        self.workers = workers
        self.address = address

    @abstractmethod
    def run(self, cells: Sequence[Cell], folder: Path) -> Iterator[Cell]:
        """Make these runs, and yield each as soon as it has ended and its record is written.

        If the process of a run dies, only that run is lost: its record contains the reason.

        Args:
            cells: in the order in which they begin.
            folder: of the study; every process that makes runs must have access to it under this path.

        Raises:
            OSError: records cannot be written, because the disk is full or the folder has been removed. Runs without a
                record can be made later.
        """
