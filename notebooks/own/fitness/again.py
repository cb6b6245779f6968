"""Run again: the bodies of loops, executed at least twice by one test case."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fitgym.fitness._recorded import recorded_counts
from fitgym.fitness.base import Fitness, Floats, Target
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject


class Again(Fitness):
    """How close traces came to running the body of every loop twice.

    d(t, x) = 1 if t never ran the body x, 1/2 if it ran it once, 0 if it ran it twice or more often.
    """

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        entries = {function.entry for function in subject.functions}
        bodies = [s for s in subject.sites if s.kind == "block" and s.burns and s.id not in entries]
        self.targets = [Target("again", (body.line, body.id)) for body in bodies]
        self._bodies = [body.id for body in bodies]

    def distances(self, traces: Sequence[Trace]) -> Floats:
        """1, 1/2 or 0, shape `(len(traces), n_columns)`."""
        counts = recorded_counts(self.subject, traces)[:, self._bodies]
        return 1.0 - np.minimum(counts, 2) / 2
