"""Curves: the number of covered branches of a module after each slice of executions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fitgym.immutable import immutable

__all__ = ["SLICE", "Course", "Curve"]

SLICE = 100
"""The number of test case executions in a slice."""


class Course(Protocol):
    """The course of a search on one module, recorded or still running.

    Attributes:
        module: the subject.
        total: number of branches of the module.
    """

    @property
    def module(self) -> str: ...

    @property
    def total(self) -> int: ...

    def at(self, slices: int) -> int:
        """Return the number of covered branches after so many slices; 0 after none."""
        ...


@immutable
@dataclass(frozen=True, slots=True)
class Curve:
    """The recorded course of one search.

    Attributes:
        module: the subject.
        seed: seed of the search.
        total: number of branches of the module.
        covered: branches covered after 1, 2, ... slices; at least one entry. After the last entry the number is taken
            as constant: the search or its recording ended.
        seconds: wall time after each slice, including the start of the worker; empty if unknown.
    """

    module: str
    seed: int
    total: int
    covered: tuple[int, ...]
    seconds: tuple[float, ...] = ()

    def at(self, slices: int) -> int:
        """See `Course`."""
        return self.covered[min(slices, len(self.covered)) - 1] if slices > 0 else 0
