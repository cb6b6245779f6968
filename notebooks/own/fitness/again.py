"""Run again: the bodies of loops, executed ten times by one test case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from fitgym.fitness._recorded import recorded_counts
from fitgym.fitness.base import Fitness, Floats, Target
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject

ROUNDS: Final = 10


class Again(Fitness):
    """How close traces came to running the body of every loop ten times.

    d(t, x) = 1 - min(n, 10) / 10 if the test case t ran the body x n times.
    """

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        entries = {function.entry for function in subject.functions}
        bodies = [s for s in subject.sites if s.kind == "block" and s.burns and s.id not in entries]
        self.targets = [Target("again", (body.line, body.id)) for body in bodies]
        self._bodies = [body.id for body in bodies]

    def distances(self, traces: Sequence[Trace]) -> Floats:
        """Between 0 and 1, shape `(len(traces), n_columns)`."""
        counts = recorded_counts(self.subject, traces)[:, self._bodies]
        return 1.0 - np.minimum(counts, ROUNDS) / ROUNDS
