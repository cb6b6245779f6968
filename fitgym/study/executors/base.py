"""What an executor is: it has runs made somewhere and says when each has ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path

from fitgym.registry import Registry
from fitgym.study.plan import Cell

__all__ = ["Executor", "executors"]


def executors() -> Registry[Executor]:
    """The executors that can be named on the command line."""
    return Registry("fitgym.study.executors", Executor, "executor")


class Executor(ABC):
    """Has runs made. A run is `fitgym.study.cell.run`, which writes its own record, wherever it is executed.

    Args:
        workers: how many runs are made at a time, None for as many as there are cores.
        address: of the cluster, for executors that have one.
    """

    def __init__(self, workers: int | None = None, address: str = "") -> None:
        self.workers = workers
        self.address = address

    @abstractmethod
    def run(self, cells: Sequence[Cell], folder: Path) -> Iterator[Cell]:
        """Make these runs, and give back each as soon as it has ended and its record is there.

        A run whose process dies costs no other one: it has a record that says so.

        Args:
            cells: in the order in which they begin.
            folder: of the study; every process that makes runs must see it under this name.

        Raises:
            OSError: records cannot be written, because the disk is full or the folder is gone. The runs that have no record
                can be made later.
        """
