"""Output coverage: every operation returns every kind of value of its type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from fitgym.fitness._partitions import PartitionFitness, Spot
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject
from fitgym.subject.types.hints import Hint

__all__ = ["Output"]


class Output(PartitionFitness):
    """Measures which kinds of values the operations under test returned, and how far numbers were from other kinds.

    Distances are those of `PartitionFitness`. The value of a suite is the mean over the targets of the least distance.
    Constructors, setters and operations that are declared to return None have no targets. Neither has `__hash__`: its
    value is no behaviour and may depend on an address (EvoSuite leaves out hashCode). Without a declaration, targets
    appear with the first value of a type; so do the targets for attributes of returned objects.

    References:
        Almulla and Gay 2022, Learning How to Search, section 3.3, Output Coverage.

    Differs from EvoSuite as released with it: there the numeric distances are defined but only ever 0 or 1.
    `fitgym.instrument.abstraction` lists the differences from its partitions.
    """

    kind = "output"
    needs: ClassVar[frozenset[str]] = frozenset({"output"})

    def _spots(self, subject: Subject) -> Iterable[tuple[Spot, Hint]]:
        for operation in subject.under_test:
            if operation.shows:
                yield (operation.id, ""), operation.returns

    def _values(self, trace: Trace) -> Iterator[tuple[Spot, str, float]]:
        for call in trace.calls:
            if (call.operation, "") in self._declared:
                for partition, number in call.output:
                    yield (call.operation, ""), partition, number
