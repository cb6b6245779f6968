"""What a fitness function is: how far traces are from covering each of its targets.

Targets are columns. A fitness function lists them once and measures any number of traces at once, as an array with a
row for each trace. Everything else is a reduction or a mask: whole-suite search takes the minimum over the rows of each
suite (`of_suites`), many-objective search reads rows, the archive looks for zeros, and smart selection, dynamic targets
and covered targets are masks over columns.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fitgym.errors import InputError
from fitgym.immutable import immutable
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject
from fitgym.testcase.statement import StatementTable, TestCase

__all__ = ["UNSEEN", "Counts", "Entries", "Fitness", "Floats", "Index", "Mask", "Target", "nu", "pad"]

Floats = NDArray[np.float64]
Counts = NDArray[np.integer]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

UNSEEN = 1.0
"""Distance of a trace to a target that was not known yet when the trace was measured: not covered."""


@immutable
@dataclass(frozen=True, slots=True)
class Target:
    """One thing to cover.

    Attributes:
        kind: name of the fitness function that it belongs to.
        key: what identifies it among its kind, readable: names, lines and outcomes rather than ids where they suffice.
    """

    kind: str
    key: tuple[Hashable, ...]


@immutable
@dataclass(frozen=True, slots=True)
class Entries:
    """What traces say about columns: an entry for each column that a trace is near or whose decision it executed.

    A trace is near a column if its distance is below 1. A column may have several entries of one trace, of which the
    least distance holds, unless there are visits. Everything without an entry counts as 1 away and not visited.

    Attributes:
        rows: the position of the trace, ascending.
        columns: the column.
        distances: of the trace to the column, in [0, 1].
        visits: how often the trace executed the decision behind the column, at most 2; None where that has no meaning.
    """

    rows: Index
    columns: Index
    distances: Floats
    visits: Counts | None = None

    @classmethod
    def join(cls, *parts: Entries) -> Entries:
        """All entries together, those without visits as not visited."""
        rows = np.concatenate([part.rows for part in parts])
        order = np.argsort(rows, kind="stable")
        none = [np.zeros(len(part.rows), np.uint8) if part.visits is None else part.visits for part in parts]
        return cls(
            rows[order],
            np.concatenate([part.columns for part in parts])[order],
            np.concatenate([part.distances for part in parts])[order],
            np.concatenate(none)[order],
        )

    def covered(self, n_targets: int) -> tuple[Index, Index]:
        """The rows and columns of the targets that are covered, by row."""
        hits = np.flatnonzero((self.distances == 0.0) & (self.columns < n_targets))
        return self.rows[hits], self.columns[hits]

    def dense(self, n_rows: int, n_columns: int) -> Floats:
        """The distances as a matrix."""
        distances = np.ones(n_rows * n_columns)
        np.minimum.at(distances, self.rows * n_columns + self.columns, self.distances)
        return distances.reshape(n_rows, n_columns)


def nu(x: ArrayLike) -> Floats:
    """The normalising function x / (x + 1), elementwise: 0 for 0, 1 for infinity (and for nan), rising in between.

    References:
        Rojas, Vivanti, Arcuri and Fraser 2017, A Detailed Investigation of the Effectiveness of Whole Test Suite
        Generation, equation 1: any normalising function into [0, 1]; this one is EvoSuite's.
    """
    values = np.asarray(x, dtype=np.float64)
    normal = np.ones_like(values)
    np.divide(values, values + 1.0, out=normal, where=np.isfinite(values))
    return normal


def pad(rows: Floats, n_columns: int) -> Floats:
    """Rows of shape `(..., n)` widened to `(..., n_columns)` with `UNSEEN`.

    A target of a dynamic function is appended when the first trace that concerns it is measured, so no trace measured
    earlier concerns it and padding gives exactly the numbers that measuring again would give.
    """
    missing = n_columns - rows.shape[-1]
    if missing <= 0:
        return rows
    return np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, missing)], constant_values=UNSEEN)


class Fitness(ABC):
    """How far traces are from covering each target.

    A fitness function is deterministic and holds no state but its targets, which grow only if it is `dynamic`. It can
    be pickled. Two fitness functions of one kind made from equal subjects give equal numbers for equal traces, up to
    the order in which a dynamic one first saw its targets.

    Args:
        subject: the code under test.

    Raises:
        InputError: when a subclass is defined whose `targets` is a method: it would never be called.
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    """What must be recorded beyond counts, distances and calls: "direct", "output", "input", "infection", "effects"."""

    dynamic: ClassVar[bool] = False
    """Targets may be appended while traces are measured."""

    monotone: ClassVar[bool] = True
    """A further test case never makes the value of a suite worse."""

    closes: ClassVar[bool] = True
    """A target that the archive covers leaves the value of a suite."""

    reads_tests: ClassVar[bool] = False
    """Suites are valued by their test cases (`of_tests`), not by what traces say about columns."""

    numbers: Index | None = None
    """Where targets are mutants to be killed, the number of the one behind each target: its index in `Subject.mutants`.

    Then test cases are run on mutants that they infect, and `Trace.effects` says what came of it."""

    sites: Sequence[Collection[int]] | None = None
    """By target the sites of which one is visited when it is covered, by id; None where targets have no such place."""

    together: ClassVar[np.ufunc] = np.add
    """What makes the executions of a suite out of those of its test cases (of which any above 2 may be read as 2)."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if callable(vars(cls).get("targets")):
            raise InputError(f"'targets' of {cls.__name__} is a method, expected a list of Target, set in '__init__'")

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.targets: list[Target] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The function itself, unless its targets may grow (`dynamic`) or it may remember tests (`reads_tests`).

        So a fork of a search copies what changes, not the tables about the subject.
        """
        if not (self.dynamic or self.reads_tests):
            return self
        twin = object.__new__(type(self))
        memo[id(self)] = twin
        vars(twin).update(copy.deepcopy(vars(self), memo))
        return twin

    @property
    def n_columns(self) -> int:
        """Length of a row: the targets, then columns that only guide (see `Line`)."""
        return len(self.targets)

    @abstractmethod
    def distances(self, traces: Sequence[Trace]) -> Floats:
        """Distance of each trace to each column, shape `(len(traces), n_columns)`, finite and never negative.

        0 exactly where the trace covers the target, else its approach level plus its normalised distance. A trace
        with a `failure` covers nothing and gets the value of a trace in which nothing ran.
        """

    def visits(self, traces: Sequence[Trace]) -> Counts | None:
        """How often each trace executed the decision behind each column, shape `(len(traces), n_columns)`.

        None where targets are not outcomes of decisions; then the executed-twice rule does not apply. No value of a
        suite tells numbers above 2 apart.
        """
        return None

    def infected(self, traces: Sequence[Trace]) -> Mask:
        """Which traces are to be run on the mutants of which targets, shape `(len(traces), len(targets))`.

        Asked only where there are `numbers`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no mutants")

    def entries(self, traces: Sequence[Trace]) -> Entries:
        """What the archive and the values of suites need: where `distances` are below 1, and `visits` above 0.

        It says the same as those two. A function that overrides it spares the work for all that a trace is far from.
        """
        distances, visits = self.distances(traces), self.visits(traces)
        rows, columns = np.nonzero((distances < 1.0) if visits is None else (distances < 1.0) | (visits > 0))
        return Entries(
            rows,
            columns,
            np.minimum(distances[rows, columns], 1.0),
            None if visits is None else np.minimum(visits[rows, columns], 2),
        )

    def covered(self, distances: Floats) -> Mask:
        """Which row covers which target, shape `(n_rows, n_targets)`."""
        covered: Mask = distances[..., : len(self.targets)] == 0.0
        return covered

    def counting(self, open_targets: Mask) -> Index:
        """The columns that count for the value of a suite: the open targets (see `closes`), then what only guides."""
        n = len(self.targets)
        targets = np.flatnonzero(open_targets) if self.closes else np.arange(n)
        return np.concatenate([targets, np.arange(n, self.n_columns)])

    def suite_columns(self, least: Floats, executed: Counts | None, archived: Counts | int = 0) -> Floats:
        """The distance of suites to columns, in [0, 1].

            d(T, b) = 0               if a test case of T covers b
                    = nu(d_min(T, b)) if the decision was executed at least twice by T
                    = 1               otherwise

        Because a row holds nu(distance) where the decision was executed and at least 1 where it was not, d_min is the
        least entry of the column. A decision executed only once counts as 1, or else the search would trade one
        outcome for the other and back.

        Args:
            least: the least distance of each suite to each column, at most 1, shape `(n_suites, n)` for any n columns;
                may be changed in place.
            executed: the `visits` of the test cases of each suite, put together by `together`; None switches the
                executed-twice rule off.
            archived: executions of the decision behind each of the columns that the archive stands for.

        References:
            Rojas, Vivanti, Arcuri and Fraser 2017, A Detailed Investigation of the Effectiveness of Whole Test Suite
            Generation, section 3.2, equation 6.
        """
        if executed is not None:
            np.copyto(least, 1.0, where=(executed < 2 - archived) & (least > 0.0))
        return least

    def of_suites(self, columns: Floats, *, raw: bool = False) -> Floats:
        """The fitness of suites, each in [0, 1], 0 is best.

            f(T) = (1 / n) * sum over open targets b of d(T, b)          n = number of all targets

        Dividing by all targets, not by the open ones, keeps the value falling when targets are covered and archived.
        A function with another formula overrides this.

        Args:
            columns: d(T, b) of the columns that count, shape `(n_suites, n)`; see `suite_columns` and `counting`.
            raw: the value of the released EvoSuite code instead, the plain sum, which is not bounded by 1.

        References:
            Rojas, Vivanti, Arcuri and Fraser 2017, section 3.2, equation 5, and section 3.3, equation 10: the sum.
            Almulla and Gay 2022, Learning How to Search, section 3.3: each score is normalised to a 0-1 scale before
            the scores of several functions are added.
        """
        total: Floats = columns.sum(axis=1)
        return total if raw else total / max(1, len(self.targets))

    def of_tests(self, suites: Sequence[Sequence[TestCase]], table: StatementTable) -> Floats:
        """The fitness of suites, each in [0, 1], 0 is best, for a function that `reads_tests`; `(len(suites),)`.

        What has been worked out about a test case may be remembered until `retain`; it makes no difference to a value.

        Args:
            suites: the test cases of each.
            table: their statements.
        """
        raise NotImplementedError(f"{type(self).__name__} does not read tests")

    def retain(self, testcases: Collection[TestCase]) -> None:  # noqa: B027  (most remember nothing)
        """Forget what is remembered about all other test cases."""

    def of_suite(
        self,
        distances: Floats,
        visits: Counts | None = None,
        open_targets: Mask | None = None,
        archived: Mask | None = None,
        *,
        raw: bool = False,
    ) -> float:
        """The fitness of one suite, see `of_suites`.

        Args:
            distances: the rows of the suite's test cases, shape `(n_tests, n_columns)`.
            visits: of the same test cases, see `suite_columns`.
            open_targets: the targets that count, by default all; a mask that is too short says yes to later targets.
            archived: targets that the archive covers, by default those that are not open.
            raw: see `of_suites`.
        """
        open_ = self._mask(open_targets, fill=True)
        counting = self.counting(open_)
        least = pad(distances, self.n_columns).min(axis=0, initial=1.0)[None, counting]
        executed = None if visits is None else self.together.reduce(visits, axis=0, initial=0)[None, counting]
        stands_for = self.archived_visits(~open_ if archived is None else self._mask(archived, fill=False))[counting]
        return float(self.of_suites(self.suite_columns(least, executed, stands_for), raw=raw)[0])

    def archived_visits(self, archived: Mask) -> Counts:
        """How many executions of the decision behind each column the archive stands for, shape `(n_columns,)`.

        A covered outcome counts as one, because the archive's test case will be part of the final suite.
        """
        return np.zeros(self.n_columns, dtype=np.int64)

    def _mask(self, mask: Mask | None, *, fill: bool) -> Mask:
        """A mask over all targets known now."""
        whole = np.full(len(self.targets), fill)
        if mask is not None:
            whole[: len(mask)] = mask
        return whole
