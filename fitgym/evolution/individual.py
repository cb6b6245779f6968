"""An individual: the unit that a search algorithm evolves."""

from __future__ import annotations

from dataclasses import dataclass, field

from fitgym.immutable import immutable
from fitgym.testcase.statement import TestCase

__all__ = ["Individual"]


@immutable
@dataclass(frozen=True, eq=False, slots=True)
class Individual:
    """A suite of test cases; an algorithm that evolves single test cases uses suites of one.

    Individuals are compared by identity, so they can be keys whatever they contain.

    Attributes:
        testcases: the suite, in order.
        length: number of statements of all its test cases: the secondary objective, smaller is better.
    """

    testcases: tuple[TestCase, ...]
    length: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", sum(map(len, self.testcases)))

    def __len__(self) -> int:
        return len(self.testcases)
