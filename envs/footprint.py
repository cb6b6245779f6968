"""The footprint of a search: which lines of its subject the test cases run that it keeps."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fitgym.engine.queries import Queries
from fitgym.fitness.line import Line
from fitgym.immutable import immutable
from fitgym.rendering.episode import Listing
from fitgym.subject.subject import Subject
from fitgym.suite.runs.measure import class_lines

__all__ = ["Footprint"]


@immutable
class Footprint:
    """Counts, line by line, the test cases that run it.

    Args:
        subject: whose lines they are, those of the class under test if one was named.

    Attributes:
        listing: the source; of a class its own part.
    """

    def __init__(self, subject: Subject) -> None:
        self._line = Line(subject)
        self._numbers = [int(str(target.key[0])) for target in self._line.targets]
        lines = subject.source.splitlines()
        first, end = 1, len(lines)
        if subject.reference.class_name:
            first, end = class_lines(subject.source, subject.reference.class_name)
        functions = tuple((f.line, f.end_line, f.name) for f in subject.functions[1:])
        self.listing = Listing(tuple(lines[first - 1 : end]), first, frozenset(self._numbers), functions)

    def runs(self, engine: Queries) -> Mapping[int, int]:
        """By line, how many test cases of the best suite and the archive run it; lines that none runs are left out."""
        kept = dict.fromkeys((*engine.archived_testcases(), *engine.best.testcases))
        traces = [engine.trace(testcase) for testcase in kept if engine.has_trace(testcase)]
        _, columns = self._line.entries(traces).covered(len(self._numbers))
        counts = np.bincount(columns, minlength=len(self._numbers)).tolist()
        return {number: count for number, count in zip(self._numbers, counts, strict=True) if count}
