"""One run after the other, in this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from fitgym.study.cell import run
from fitgym.study.executors.base import Executor
from fitgym.study.plan import Cell

__all__ = ["Serial"]


class Serial(Executor):
    """For small studies, for debugging, and to compare the others with."""

    def run(self, cells: Sequence[Cell], folder: Path) -> Iterator[Cell]:
        """One after the other; a run that ends the process ends the study, until it is resumed."""
        for cell in cells:
            run(cell, folder)
            yield cell
