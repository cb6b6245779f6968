"""Live courses: a search on a real module that runs as far as requested."""

from __future__ import annotations

import time
from typing import Any, Final, Self

import numpy as np

from fitgym.allocation.curve import SLICE, Curve
from fitgym.engine import Engine
from fitgym.evolution.budget import Budget
from fitgym.execution.executor import Executor

__all__ = ["SEARCH", "Live", "record"]

SEARCH: Final = "mosa"
"""The search algorithm: the default of `fitgym generate` for the goals coverage and tests."""


class Live:
    """The course of a search that is still running.

    The course depends only on the module and the seed. A deep copy is therefore the same object: the first copy that
    requests a slice runs the search, and the others read its result.

    Args:
        module: the subject, as shown in tables.
        executor: the executor of the module; the caller closes it.
        seed: seed of the search.
        slices: number of slices after which the search ends.

    Raises:
        SubjectError: the module cannot be imported or tested.
    """

    def __init__(self, module: str, executor: Executor, *, seed: int, slices: int) -> None:
        self.module = module
        self.seed = seed
        self.slices = slices
        self._started = time.monotonic()
        self._engine = Engine(
            executor, fitness=("branch",), search=SEARCH, seed=seed, budget=Budget.parse(f"{slices * SLICE}x")
        )
        self.total = int(self._engine.covered("branch").size)
        self._covered: list[int] = []
        self._seconds: list[float] = []

    def at(self, slices: int) -> int:
        """Return the number of covered branches after so many slices; run the search until then or to its end."""
        while len(self._covered) < slices and not self._over:
            self._engine.step()
            reached = self.slices if self._over else self._engine.executions // SLICE
            new = min(reached, self.slices) - len(self._covered)
            self._covered += [self._count] * new
            self._seconds += [round(time.monotonic() - self._started, 2)] * new
        return self.curve().at(slices)

    def curve(self) -> Curve:
        """Return the course so far."""
        return Curve(self.module, self.seed, self.total, tuple(self._covered), tuple(self._seconds))

    @property
    def _count(self) -> int:
        return int(np.count_nonzero(self._engine.covered("branch")))

    @property
    def _over(self) -> bool:
        return self._engine.over or self._count == self.total

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


def record(
    module: str, executor: Executor, *, seed: int = 0, slices: int = 24, patience_s: float | None = None
) -> Curve:
    """Run a search on a module and record its curve.

    Args:
        module: the subject, as shown in tables.
        executor: the executor of the module; the caller closes it.
        seed: seed of the search.
        slices: number of slices to record.
        patience_s: seconds after which recording ends early; the rest of the curve is then missing.

    Raises:
        SubjectError: the module cannot be imported or tested.
    """
    course = Live(module, executor, seed=seed, slices=slices)
    started = time.monotonic()
    for number in range(1, slices + 1):
        course.at(number)
        if patience_s is not None and time.monotonic() - started > patience_s:
            break
    return course.curve()
