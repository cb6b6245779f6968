"""Stopwatch: the seconds that each stage of a search takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

__all__ = ["Stopwatch"]


@dataclass(slots=True)
class Stopwatch:
    """Measures the wall-clock time of three stages.

    Attributes:
        seconds: by stage: "execute" runs test cases; "measure" computes distances, suite fitness and archive updates;
            "search" proposes and selects.
    """

    seconds: dict[str, float] = field(default_factory=lambda: {"execute": 0.0, "measure": 0.0, "search": 0.0})
    _nested: float = field(
        default=0.0, init=False
    )  # seconds that inner stages of the current block have already counted

    @contextmanager
    def time(self, stage: str) -> Iterator[None]:
        """Time the block as `stage`, excluding nested stages."""
        started, outside, self._nested = time.perf_counter(), self._nested, 0.0
        try:
            yield
        finally:
            seconds = time.perf_counter() - started
            self.seconds[stage] += seconds - self._nested
            self._nested = outside + seconds
