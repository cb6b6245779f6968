"""An individual: what a search algorithm evolves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fitgym.testcase.statement import TestCase

__all__ = ["Individual"]


@dataclass(frozen=True, eq=False)
class Individual:
    """A suite of test cases; an algorithm that evolves single test cases uses suites of one.

    Two individuals are the same only if they are the same object, so they can be keys whatever they contain.

    Attributes:
        testcases: the suite, in order.
    """

    testcases: tuple[TestCase, ...]

    @cached_property
    def length(self) -> int:
        """Number of statements of all its test cases: the secondary objective, smaller is better."""
        return sum(len(testcase) for testcase in self.testcases)

    def __len__(self) -> int:
        return len(self.testcases)
