"""Builders: the operations that can build an object, and the choice of one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from fitgym.chance import Chance
from fitgym.subject.subject import Operation
from fitgym.testcase.knowledge import Knowledge
from fitgym.testcase.results import Providers

__all__ = ["Builders"]

_WEIGHTS = {"constructor": 1.0, "class_method": 0.3, "static_method": 0.3, "function": 0.3}
_OTHER = 0.05  # methods, properties and operators need an object themselves


class Builders:
    """The operations that build objects for one hint.

    Args:
        providers: the operations.
        knowledge: has their reliability.
    """

    __slots__ = ("_knowledge", "_providers", "_version", "_weights")

    def __init__(self, providers: Providers, knowledge: Knowledge) -> None:
        self._providers = providers
        self._knowledge = knowledge
        self._version = -1  # of the knowledge that the weights were computed from
        self._weights: list[float] = []

    def draw(self, rng: Chance) -> Operation | None:
        """Draw one operation, None if there is none. Constructors and reliable operations are more likely."""
        if self._version != self._knowledge.version:
            self._version = self._knowledge.version
            self._weights = self._cumulated(self._providers.operations)
        return _drawn(self._providers.operations, self._weights, rng)

    def draw_another(self, failed: Operation, rng: Chance) -> Operation | None:
        """Draw one operation other than the one that `failed`."""
        others = [operation for operation in self._providers.operations if operation is not failed]
        return _drawn(others, self._cumulated(others), rng)

    def _cumulated(self, operations: Sequence[Operation]) -> list[float]:
        reliability = self._knowledge.reliability
        return list(accumulate(_WEIGHTS.get(one.kind, _OTHER) * reliability(one.id) ** 2 for one in operations))


def _drawn(operations: Sequence[Operation], weights: Sequence[float], rng: Chance) -> Operation | None:
    if not operations:
        return None
    return operations[bisect_right(weights, rng.random() * weights[-1], 0, len(weights) - 1)]
