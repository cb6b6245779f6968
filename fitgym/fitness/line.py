"""Line coverage: every line that can run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fitgym.fitness._approach import Approach
from fitgym.fitness._outcomes import Outcomes
from fitgym.fitness._ranges import ranges
from fitgym.fitness._recorded import reached, recorded_counts, recorded_distances
from fitgym.fitness._stopped import stopped
from fitgym.fitness.base import Counts, Entries, Fitness, Floats, Index, Target, nu
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject

__all__ = ["Line"]


class Line(Fitness):
    """Measures how close traces came to running every line.

    A line is covered if one of its blocks ran up to it. A block was executed c times and left early at lines l_1, l_2,
    ... It ran its line x if c exceeds the number of l_i < x. Otherwise the distance of a trace to the line is

        f(t, x) = 1                               if the block ran, or a decision that it depends on took its outcome,
                                                  and an exception interrupted it
                = 1 + min of A(t, b) + nu(d(t, b))  over the branches b that the block is control dependent on

    If the line belongs to several blocks, the least of these counts. The value of a suite T is

        f_LC(T) = nu(|L| - |L covered|) + sum over b in B of d(T, b)

    B are the branches that lines are control dependent on, with d(T, b) as in `Fitness.suite_columns`. Each b is a
    column after the targets that only guides the search. `of_suites` divides by 1 + |B|.

    Lines count if they belong to a function that has a branch: all of the module, or all of the class under test. The
    archive removes lines from the first term only, never branches from the guidance, as in EvoSuite.

    References:
        Rojas, Vivanti, Arcuri and Fraser 2017, A Detailed Investigation of the Effectiveness of Whole Test Suite
        Generation: section 3.1, Line Coverage, for traces (the paper has no level between a branch and its lines, the 1
        above is EvoSuite's), section 3.2, equation 7, for suites.

    Differs from EvoSuite: the executed-twice rule holds for every branch of B, as in the paper, not only where both
    outcomes of a decision are in B. The entry of a function is a branch.
    """

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        functions = {subject.sites[branch.site].function for branch in subject.branches}
        blocks = [site for site in subject.sites if site.kind == "block" and site.function in functions and site.lines]
        self._lines = {block.id: tuple(dict.fromkeys(block.lines)) for block in blocks}
        self._position = {block.id: position for position, block in enumerate(blocks)}
        of_line: dict[int, list[int]] = {}
        for block in blocks:
            for number in self._lines[block.id]:
                of_line.setdefault(number, []).append(block.id)
        self.targets = [Target("line", (number,)) for number in sorted(of_line)]
        self._column = {number: column for column, number in enumerate(sorted(of_line))}
        self._blocks_of = [of_line[number] for number in sorted(of_line)]
        self.sites = self._blocks_of
        # Most lines have one block. Further blocks are stored by rank, with the columns of the lines that have them.
        self._first = np.array([self._position[found[0]] for found in self._blocks_of], dtype=np.intp)
        self._others: list[tuple[Index, Index]] = []
        for rank in range(1, max(map(len, self._blocks_of), default=0)):
            columns = [column for column, found in enumerate(self._blocks_of) if len(found) > rank]
            positions = [self._position[self._blocks_of[column][rank]] for column in columns]
            self._others.append((np.array(columns, dtype=np.intp), np.array(positions, dtype=np.intp)))
        of_site = [self._lines.get(site.id, ()) for site in subject.sites]
        self._n_lines = np.array([len(numbers) for numbers in of_site], dtype=np.intp)
        self._first_line = np.cumsum(self._n_lines) - self._n_lines
        self._columns_of = np.array([self._column[number] for numbers in of_site for number in numbers], dtype=np.intp)
        entry = {block.id: ((subject.functions[block.function].entry, True),) for block in blocks}
        branches = dict.fromkeys(pair for block in blocks for pair in subject.dependences[block.id] or entry[block.id])
        self._approach = Approach(subject, [block.id for block in blocks])
        self._places = self._approach.places(block.id for block in blocks)
        self._blocks = np.array([block.id for block in blocks], dtype=np.intp)
        self._rows = self._approach.outcomes(branches)
        self._outcomes = Outcomes(subject, list(branches))
        self._decisions = np.array([site for site, _ in branches], dtype=np.intp)

    @property
    def n_columns(self) -> int:
        """The number of lines plus the number of branches that they are control dependent on."""
        return len(self.targets) + len(self._decisions)

    def distances(self, traces: Sequence[Trace]) -> Floats:
        """Return distances to the lines, then to the guiding branches, shape `(len(traces), n_columns)`."""
        counts = recorded_counts(self.subject, traces)
        outcomes, reach = self._approach.measure(counts, recorded_distances(self.subject, traces))
        of_block = np.where(counts.T[self._blocks] > 0, 0.0, 1.0 + reach[self._places])
        values = np.concatenate([of_block[self._first], outcomes[self._rows]])
        for columns, positions in self._others:
            values[columns] = np.minimum(values[columns], of_block[positions])
        found = reached(self.subject, traces)
        cut = {
            (int(found.traces[entry]), int(found.sites[entry]), number)
            for entry, n_lines in stopped(self._lines, len(self.subject.sites), traces, found)
            for number in self._lines[int(found.sites[entry])][n_lines:]
        }
        for index, _, number in sorted(cut):
            column = self._column[number]
            values[column, index] = min(
                1.0 if (index, block, number) in cut else of_block[self._position[block], index]
                for block in self._blocks_of[column]
            )
        return values.T

    def entries(self, traces: Sequence[Trace]) -> Entries:
        """Return entries for the executed lines and for the guiding branches whose decision was executed."""
        found = reached(self.subject, traces)
        n_lines = self._n_lines[found.sites]
        for entry, number in stopped(self._lines, len(self.subject.sites), traces, found):
            n_lines[entry] = number
        owners, places = ranges(self._first_line[found.sites], n_lines)
        lines = Entries(found.traces[owners], self._columns_of[places], np.zeros(len(owners)))
        guides = self._outcomes.entries(found)
        columns = guides.columns + len(self.targets)
        return Entries.join(lines, Entries(guides.rows, columns, guides.distances, guides.visits))

    def visits(self, traces: Sequence[Trace]) -> Counts:
        """Return how often each trace executed the decisions of the guiding branches; 0 for lines."""
        visits = np.zeros((len(traces), self.n_columns), dtype=np.int64)
        visits[:, len(self.targets) :] = recorded_counts(self.subject, traces)[:, self._decisions]
        return visits

    def of_suites(self, columns: Floats, *, raw: bool = False) -> Floats:
        """Return f_LC, divided by 1 + |B| to stay in [0, 1] unless `raw`."""
        lines = columns.shape[1] - len(self._decisions)
        total: Floats = nu(np.count_nonzero(columns[:, :lines], axis=1)) + columns[:, lines:].sum(axis=1)
        return total if raw else total / (1 + len(self._decisions))
