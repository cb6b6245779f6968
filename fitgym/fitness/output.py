"""Output coverage: every operation returns every kind of value that its type has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from fitgym.fitness._partitions import PartitionFitness, Spot
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject
from fitgym.subject.types.hints import Hint

__all__ = ["Output"]


class Output(PartitionFitness):
    """Which kinds of values the operations under test returned, and how far numbers were from the other kinds.

    Distances are those of `PartitionFitness`; a suite is worth the mean over the targets of the least distance.
    Constructors and setters have no targets, nor has an operation that is declared to return None, nor `__hash__`,
    whose value is no behaviour (EvoSuite leaves out hashCode) and may come from an address. Where nothing is
    declared, targets appear with the first value of a type; so do those of the attributes of returned objects.

    References:
        Almulla and Gay 2022, Learning How to Search, section 3.3, Output Coverage.
    Differs from EvoSuite as released with it, where the numeric distances are defined but only ever 0 or 1, and from
    its partitions as `fitgym.instrument.abstraction` says.
    """

    kind = "output"
    needs: ClassVar[frozenset[str]] = frozenset({"output"})

    def _spots(self, subject: Subject) -> Iterable[tuple[Spot, Hint]]:
        for operation in subject.under_test:
            if operation.kind not in ("constructor", "setter") and operation.operator != "__hash__":
                yield (operation.id, ""), operation.returns

    def _values(self, trace: Trace) -> Iterator[tuple[Spot, str, float]]:
        for call in trace.calls:
            if (call.operation, "") in self._declared:
                for partition, number in call.output:
                    yield (call.operation, ""), partition, number
