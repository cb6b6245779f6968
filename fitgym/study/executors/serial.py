"""One run after the other, in this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from fitgym.study.cell import run
from fitgym.study.executors.base import Executor
from fitgym.study.plan import Cell

__all__ = ["Serial"]


class Serial(Executor):
    """Runs in this process; for small studies, for debugging, and for comparison with the other executors."""

    def run(self, cells: Sequence[Cell], folder: Path) -> Iterator[Cell]:
        """Make one run after the other; a run that ends the process interrupts the study, which can be resumed."""
        for cell in cells:
            run(cell, folder)
            yield cell
