"""The base class of input and output coverage: targets are partitions of values, each with a numeric distance."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

import numpy as np

from fitgym.fitness.base import Entries, Fitness, Floats, Target, nu
from fitgym.instrument.abstraction import family, partitions, place, siblings, wider
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject
from fitgym.subject.types.hints import Hint

__all__ = ["FAMILIES", "PartitionFitness", "Spot"]

FAMILIES = 32
"""Limit of undeclared families of partitions that are added at one spot."""

Spot = tuple[int, str]
"""Where a value was seen: operation and parameter, "" for the result."""

_NUMERIC = ("negative", "zero", "positive")


class PartitionFitness(Fitness):
    """Measures which partitions of values were seen at each spot, and how far numbers were from the others.

    The distance to a partition is 0 if one of its values was seen. For a finite number v of the same family it is

        to negative   0 if v < 0, else v + 1
        to zero       |v|
        to positive   0 if v > 0, else |v| + 1

    A row holds the least of these distances, normalised by nu; all other distances are 1. A spot's targets are the
    partitions of its type (`fitgym.instrument.abstraction`). If a spot has no type, or a value does not fit it, the
    first value of a family appends all partitions of this family. A value of a narrower family than the declared one
    counts for the declared family, such as an int where a float is declared.
    """

    kind: ClassVar[str]
    dynamic: ClassVar[bool] = True

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._columns: dict[tuple[Spot, str], int] = {}
        self._declared: dict[Spot, frozenset[str]] = {}
        self._opened: dict[Spot, set[str]] = {}
        self._effects: dict[tuple[Spot, str], int] = {}
        self._reach: list[tuple[int, int, int, int]] = [(-1, -1, -1, -1)]  # by effect; effect 0 changes no column
        self._names = {operation.id: operation.name for operation in subject.under_test}
        for spot, hint in self._spots(subject):
            parts = partitions(hint)
            self._declared[spot] = frozenset(map(family, parts or ()))
            # A result that can only be None has a single partition, so there is nothing to cover.
            if parts is not None and parts != ("none",):
                self._open(spot, parts)

    def distances(self, traces: Sequence[Trace]) -> Floats:
        """Return the least normalised distance to each partition, `(len(traces), n_columns)`; may append targets."""
        return self.entries(traces).dense(len(traces), self.n_columns)

    def entries(self, traces: Sequence[Trace]) -> Entries:
        """Return an entry for each partition that a value of a trace is in or near; may append targets."""
        rows: list[int] = []
        effects: list[int] = []
        numbers: list[float] = []
        for row, trace in enumerate(traces):
            for spot, partition, number in () if trace.failure else self._values(trace):
                if spot[0] in self._names:
                    rows.append(row)
                    known = self._effects.get((spot, partition))
                    effects.append(self._effect(spot, partition) if known is None else known)
                    numbers.append(number)
        v = np.array(numbers)
        magnitude = np.abs(v)
        away = [np.where(v < 0, 0.0, magnitude + 1.0), magnitude, np.where(v > 0, 0.0, magnitude + 1.0)]
        distances = nu(np.stack([np.zeros(len(v)), *away], axis=1)).ravel()
        columns = np.array(self._reach, dtype=np.intp)[effects].ravel()
        near = np.flatnonzero((columns >= 0) & (distances < 1.0))
        return Entries(np.array(rows, dtype=np.intp)[near // 4], columns[near], distances[near])

    @abstractmethod
    def _spots(self, subject: Subject) -> Iterable[tuple[Spot, Hint]]:
        """Return the spots of the operations under test, in order, with their types."""

    @abstractmethod
    def _values(self, trace: Trace) -> Iterator[tuple[Spot, str, float]]:
        """Yield spot, partition and number of each value that the trace recorded, in order."""

    def _effect(self, spot: Spot, partition: str) -> int:
        """Return the position in `_reach` of the columns that a value of this partition affects.

        They are the column that it covers and the columns of the three numeric partitions that it is measured to, -1
        for none.
        """
        own = family(partition)
        declared = self._declared.get(spot, frozenset())
        base = next((name for name in (own, *wider(own)) if name in declared), own)
        if base not in declared and base not in self._opened.setdefault(spot, set()):
            if len(self._opened[spot]) == FAMILIES:
                return 0
            self._opened[spot].add(base)
            self._open(spot, siblings(partition))
        home = place(partition, base)
        numeric = home.rpartition(":")[2] in _NUMERIC
        negative, zero, positive = (
            self._columns.get((spot, f"{base}:{part}"), -1) if numeric else -1 for part in _NUMERIC
        )
        effect = self._effects[spot, partition] = len(self._reach)
        self._reach.append((self._columns.get((spot, home), -1), negative, zero, positive))
        return effect

    def _open(self, spot: Spot, parts: Iterable[str]) -> None:
        for partition in parts:
            self._columns[spot, partition] = len(self.targets)
            operation, parameter = spot
            where = (self._names[operation], parameter) if parameter else (self._names[operation],)
            self.targets.append(Target(self.kind, (*where, partition, operation)))
