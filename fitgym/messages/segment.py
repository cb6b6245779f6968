"""Segments: test cases of a batch that are still to be run, with a care level."""

from __future__ import annotations

from dataclasses import dataclass

from fitgym.testcase.statement import TestCase

__all__ = ["ALONE", "Segment"]

ALONE = 3
"""The highest care level: each test case gets its own process."""


@dataclass(slots=True)
class Segment:
    """Test cases that are still to be run, by index, and their care level.

    The care level says how much state is compared:

    - -1: nothing is compared between test cases or repeated after the batch, because the expected results are known;
    - 0: state that is expensive to compare is compared after the batch;
    - 1, 2: more and more of it is compared after each test case;
    - 3: each test case gets its own process.

    A higher level costs time and identifies the guilty test case. The results are always the same.

    Attributes:
        suspect: a test case that broke the process in which these test cases had run. Unless it has since broken its
            own process too, one of these test cases must have left state behind.
    """

    indexes: list[int]
    care: int = 0
    suspect: TestCase | None = None
