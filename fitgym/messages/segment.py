"""A segment: test cases of a batch that are still to be run, and how much state to compare after each."""

from __future__ import annotations

from dataclasses import dataclass

from fitgym.testcase.statement import TestCase

__all__ = ["ALONE", "Segment"]

ALONE = 3
"""The greatest care: each test case gets a process of its own."""


@dataclass(slots=True)
class Segment:
    """Test cases that are still to be run, by index, and how careful to be.

    0: state that is expensive to compare is compared after the batch; 1, 2: more and more of it after each test case;
    3: each test case gets a process of its own. Care costs time and tells who is to blame; results are always the same.
    -1: nothing is compared after the batch either, because it is known what the results should be.

    Attributes:
        suspect: a test case that broke the process in which these had run. Unless it has broken one of its own since,
            one of these must have left something behind.
    """

    indexes: list[int]
    care: int = 0
    suspect: TestCase | None = None
