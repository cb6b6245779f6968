"""Allotments: limits on the work of each stage of finishing, in units that are the same on every machine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from fitgym.engine.workbench import Workbench
from fitgym.errors import OutOfBudget

__all__ = ["Allotment"]


class Allotment:
    """The work that one stage of finishing may do.

    Args:
        engine: does the work.
        units: the limit, in units of `fitgym.execution.work`; infinite for stages limited by the clock.

    Attributes:
        spent: units used so far.
        empty: whether the stage tried to work after the limit was reached.
    """

    def __init__(self, engine: Workbench, units: float = math.inf) -> None:
        self._engine = engine
        self._units = units
        self.spent = 0
        self.empty = False

    @property
    def counted(self) -> bool:
        """Whether the work is limited."""
        return not math.isinf(self._units)

    @contextmanager
    def spend(self) -> Iterator[None]:
        """Charge the work of the block to the stage.

        Raises:
            OutOfBudget: nothing is left; the block is not entered.
        """
        if self.spent >= self._units:
            self.empty = True
            raise OutOfBudget
        before = self._engine.work
        try:
            yield
        finally:
            self.spent += self._engine.work - before
