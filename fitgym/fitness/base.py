"""The interface of fitness functions: each measures how far traces are from covering its targets.

A fitness function lists its targets once; each target is a column. It measures many traces at once and returns an array
with one row per trace. Everything else is a reduction or a mask over this array:

- Whole-suite search takes the minimum over the rows of each suite (`of_suites`).
- Many-objective search reads the rows.
- The archive looks for zeros.
- Smart selection, dynamic targets and covered targets are masks over columns.
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
"""Distance of a trace to a target that was unknown when the trace was measured: not covered."""


@immutable
@dataclass(frozen=True, slots=True)
class Target:
    """One thing to cover, such as a branch or a line.

    Attributes:
        kind: name of the fitness function that the target belongs to.
        key: identifies the target among its kind. It is readable: names, lines and outcomes, with ids only where they
            are needed.
    """

    kind: str
    key: tuple[Hashable, ...]


@immutable
@dataclass(frozen=True, slots=True)
class Entries:
    """The sparse distances of traces: one entry for each column that a trace is near or whose decision it executed.

    A trace is near a column if its distance is below 1. A trace may have several entries for one column; the least
    distance counts. With visits, there is only one. A pair without an entry has distance 1 and no visits.

    Attributes:
        rows: the position of the trace, ascending.
        columns: the column.
        distances: of the trace to the column, in [0, 1].
        visits: how often the trace executed the decision behind the column, at most 2; None for targets without
            decisions.
    """

    rows: Index
    columns: Index
    distances: Floats
    visits: Counts | None = None

    @classmethod
    def join(cls, *parts: Entries) -> Entries:
        """Return the entries of all parts. Entries from a part without visits get 0 visits."""
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
        """Return the rows and columns of the covered targets, by row."""
        hits = np.flatnonzero((self.distances == 0.0) & (self.columns < n_targets))
        return self.rows[hits], self.columns[hits]

    def dense(self, n_rows: int, n_columns: int) -> Floats:
        """Return the distances as a matrix, `(n_rows, n_columns)`."""
        distances = np.ones(n_rows * n_columns)
        np.minimum.at(distances, self.rows * n_columns + self.columns, self.distances)
        return distances.reshape(n_rows, n_columns)


def nu(x: ArrayLike) -> Floats:
    """Return x / (x + 1) elementwise: 0 for 0, 1 for infinity and nan, and increasing in between.

    References:
        Rojas, Vivanti, Arcuri and Fraser 2017, A Detailed Investigation of the Effectiveness of Whole Test Suite
        Generation, equation 1: any normalising function into [0, 1]; this one is EvoSuite's.
    """
    values = np.asarray(x, dtype=np.float64)
    normal = np.ones_like(values)
    np.divide(values, values + 1.0, out=normal, where=np.isfinite(values))
    return normal


def pad(rows: Floats, n_columns: int) -> Floats:
    """Widen rows of shape `(..., n)` to `(..., n_columns)` with `UNSEEN`.

    A dynamic function appends a target when it measures the first trace that concerns it. No earlier trace concerns
    this target, so padding gives exactly the numbers that a new measurement would give.
    """
    missing = n_columns - rows.shape[-1]
    if missing <= 0:
        return rows
    return np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, missing)], constant_values=UNSEEN)


class Fitness(ABC):
    """The base class of fitness functions: measures how far traces are from covering each target.

    A fitness function is deterministic and can be pickled. Its only state is its list of targets, which grows only if
    the function is `dynamic`. Two functions of one kind for equal subjects give equal numbers for equal traces; only
    the column order of a dynamic function may differ.

    Args:
        subject: the code under test.

    Raises:
        InputError: a subclass defines `targets` as a method. It must be a list that `__init__` sets.
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    """What traces record beyond counts, distances and calls: "direct", "output", "input", "infection", "effects"."""

    dynamic: ClassVar[bool] = False
    """Measuring traces may append targets."""

    monotone: ClassVar[bool] = True
    """An additional test case never makes the value of a suite worse."""

    closes: ClassVar[bool] = True
    """A target that the archive covers is removed from the value of a suite."""

    reads_tests: ClassVar[bool] = False
    """Suites are valued by their test cases (`of_tests`) instead of by columns."""

    numbers: Index | None = None
    """For targets that are mutants to be killed: the index of each target's mutant in `Subject.mutants`.

    The engine then runs test cases on the mutants that they infect and stores the results in `Trace.effects`.
    """

    sites: Sequence[Collection[int]] | None = None
    """For each target the ids of its sites, one of which is visited when the target is covered; None without sites."""

    together: ClassVar[np.ufunc] = np.add
    """The operation that combines the visits of test cases into visits of a suite; it may read numbers above 2 as 2."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if callable(vars(cls).get("targets")):
            raise InputError(f"'targets' of {cls.__name__} is a method, expected a list of Target, set in '__init__'")

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.targets: list[Target] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the function itself, unless it is `dynamic` or `reads_tests`.

        Targets of a dynamic function may grow, and a function that reads tests may cache results. A fork of a search
        thus copies only what can change, not the tables about the subject.
        """
        if not (self.dynamic or self.reads_tests):
            return self
        copied = object.__new__(type(self))
        memo[id(self)] = copied
        vars(copied).update(copy.deepcopy(vars(self), memo))
        return copied

    @property
    def n_columns(self) -> int:
        """Length of a row: the targets, then the columns that only guide the search (see `Line`)."""
        return len(self.targets)

    @abstractmethod
    def distances(self, traces: Sequence[Trace]) -> Floats:
        """Return the distance of each trace to each column, shape `(len(traces), n_columns)`, finite and at least 0.

        The distance is 0 exactly if the trace covers the target, else its approach level plus its normalised branch
        distance. A trace with a `failure` covers nothing and gets the row of a trace in which nothing ran.
        """

    def visits(self, traces: Sequence[Trace]) -> Counts | None:
        """Return how often each trace executed the decision behind each column, shape `(len(traces), n_columns)`.

        Return None if targets are not outcomes of decisions; then the executed-twice rule does not apply. Suite values
        do not distinguish numbers above 2.
        """
        return None

    def infected(self, traces: Sequence[Trace], imported: Trace | None = None) -> Mask:
        """Return which mutants to run each trace's test case on, shape `(len(traces), len(targets))`.

        Only functions about mutants have it.

        Args:
            traces: any number.
            imported: the trace of the import of the subject, which every trace contains. Mutants that only the import
                reaches are left out, because it ran before a mutant can replace them.
        """
        raise NotImplementedError(f"{type(self).__name__} has no mutants")

    def entries(self, traces: Sequence[Trace]) -> Entries:
        """Return the entries for the archive and for suite values: where `distances` are below 1 or `visits` above 0.

        The result agrees with `distances` and `visits`. A function that overrides this method avoids computing the
        columns that a trace is far from.
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
        """Return which row covers which target, shape `(n_rows, n_targets)`."""
        covered: Mask = distances[..., : len(self.targets)] == 0.0
        return covered

    def counting(self, open_targets: Mask) -> Index:
        """Return the columns that count in a suite's value: the open targets (see `closes`) and the guiding columns."""
        n = len(self.targets)
        targets = np.flatnonzero(open_targets) if self.closes else np.arange(n)
        return np.concatenate([targets, np.arange(n, self.n_columns)])

    def suite_columns(self, least: Floats, executed: Counts | None, archived: Counts | int = 0) -> Floats:
        """Return the distance of each suite to each column, in [0, 1].

            d(T, b) = 0               if a test case of T covers b
                    = nu(d_min(T, b)) if the decision was executed at least twice by T
                    = 1               otherwise

        A row holds nu(distance) if the decision was executed, and at least 1 if it was not. So d_min is the least entry
        of the column. A decision that was executed only once counts as 1. Otherwise the search would trade one outcome
        for the other and back.

        Args:
            least: the least distance of each suite to each column, at most 1, shape `(n_suites, n)` for any n columns;
                may be changed in place.
            executed: the `visits` of each suite's test cases, combined by `together`; None switches the executed-twice
                rule off.
            archived: for each column the executions of its decision that the archive stands for.

        References:
            Rojas, Vivanti, Arcuri and Fraser 2017, A Detailed Investigation of the Effectiveness of Whole Test Suite
            Generation, section 3.2, equation 6.
        """
        if executed is not None:
            np.copyto(least, 1.0, where=(executed < 2 - archived) & (least > 0.0))
        return least

    def of_suites(self, columns: Floats, *, raw: bool = False) -> Floats:
        """Return the fitness of suites, each in [0, 1]; 0 is best.

            f(T) = (1 / n) * sum over open targets b of d(T, b)          n = number of all targets

        The sum is divided by the number of all targets, not of the open ones. So the value falls when a target is
        covered and archived. A function with another formula overrides this method.

        Args:
            columns: d(T, b) of the columns that count, shape `(n_suites, n)`; see `suite_columns` and `counting`.
            raw: return the value of the released EvoSuite code instead: the plain sum, which is not bounded by 1.

        References:
            Rojas, Vivanti, Arcuri and Fraser 2017, section 3.2, equation 5, and section 3.3, equation 10: the sum.
            Almulla and Gay 2022, Learning How to Search, section 3.3: each score is normalised to a 0-1 scale before
            the scores of several functions are added.
        """
        total: Floats = columns.sum(axis=1)
        return total if raw else total / max(1, len(self.targets))

    def of_tests(self, suites: Sequence[Sequence[TestCase]], table: StatementTable) -> Floats:
        """Return the fitness of suites for a function that `reads_tests`, `(len(suites),)`, each in [0, 1]; 0 is best.

        The function may cache results about test cases until `retain`. The cache never changes a value.

        Args:
            suites: the test cases of each suite.
            table: their statements.
        """
        raise NotImplementedError(f"{type(self).__name__} does not read tests")

    def retain(self, testcases: Collection[TestCase]) -> None:  # noqa: B027  (most cache nothing)
        """Drop cached results about all other test cases."""

    def of_suite(
        self,
        distances: Floats,
        visits: Counts | None = None,
        open_targets: Mask | None = None,
        archived: Mask | None = None,
        *,
        raw: bool = False,
    ) -> float:
        """Return the fitness of one suite; see `of_suites`.

        Args:
            distances: the rows of the suite's test cases, shape `(n_tests, n_columns)`.
            visits: of the same test cases; see `suite_columns`.
            open_targets: the targets that count, by default all. Targets beyond the end of a short mask count.
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
        """Return how many executions of each column's decision the archive stands for, shape `(n_columns,)`.

        A covered outcome counts as one execution, because the archive's test case will be part of the final suite.
        """
        return np.zeros(self.n_columns, dtype=np.int64)

    def _mask(self, mask: Mask | None, *, fill: bool) -> Mask:
        """Return a mask over all targets known now, extended with `fill`."""
        whole = np.full(len(self.targets), fill)
        if mask is not None:
            whole[: len(mask)] = mask
        return whole
