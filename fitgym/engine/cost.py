"""Cost: the time and executions spent under one set of fitness functions."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Cost"]


@dataclass(slots=True)
class Cost:
    """The cost of the generations that one set of fitness functions guided, including its activation.

    Attributes:
        seconds: wall-clock time; no result depends on it.
        executions: executed test cases.
        generations: number of generations.
    """

    seconds: float = 0.0
    executions: int = 0
    generations: int = 0
