"""Input coverage: every parameter receives every kind of value of its type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from fitgym.fitness._partitions import PartitionFitness, Spot
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject
from fitgym.subject.types.hints import Hint

__all__ = ["Input"]


class Input(PartitionFitness):
    """Measures which kinds of values the operations under test received, and how far numbers were from other kinds.

    Distances are those of `PartitionFitness`. The value of a suite is the mean over the targets of the least distance.
    Calls that raised count. A parameter without a type gets targets when the first value of a type appears. The type of
    `*args` and `**kwargs` is the type of their items, and all items count.

    References:
        Grano, Laaber, Panichella and Panichella 2021, Testing with Fewer Resources, section 4: one of the seven
        criteria that are combined there.
        The partitions are those of output coverage (`fitgym.instrument.abstraction`).
    """

    kind = "input"
    needs: ClassVar[frozenset[str]] = frozenset({"input"})

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._keywords: dict[int, Spot] = {
            operation.id: (operation.id, parameter.name)
            for operation in subject.under_test
            for parameter in operation.parameters
            if parameter.kind == "var_keyword"
        }

    def _spots(self, subject: Subject) -> Iterable[tuple[Spot, Hint]]:
        for operation in subject.under_test:
            for parameter in operation.parameters:
                yield (operation.id, parameter.name), parameter.hint

    def _values(self, trace: Trace) -> Iterator[tuple[Spot, str, float]]:
        for call in trace.calls:
            for name, partition, number in call.inputs:
                # Any other keyword belongs to `**kwargs`; without one the call cannot be bound.
                spot = (call.operation, name) if (call.operation, name) in self._declared else None
                spot = spot or self._keywords.get(call.operation)
                if spot is not None:
                    yield spot, partition, number
