"""A signature: the calling convention of one operation."""

from __future__ import annotations

from fitgym.subject.subject import Operation
from fitgym.subject.types.hints import Hint
from fitgym.testcase.arguments.recent import Recent
from fitgym.testcase.arguments.values import Place, Values
from fitgym.testcase.statement import Statement

__all__ = ["Signature"]


class Signature:
    """An operation with all data that a call of it needs.

    Attributes:
        operation: the operation.
        receivers: the operations that return a possible receiver, None if it needs none.
        build: builds a receiver.
        places: its parameters.
        worked: calls of it that returned.
        by_syntax: it is not written as a call with its own name: an operator, a property or an assignment.
        extra: its parameter for extra positional arguments, None if it has none.
        plain: all of its parameters are positional and required, or it has none.
        optional: its parameters whose argument can be added or removed, with their index.
    """

    __slots__ = (
        "_keywords",
        "_named",
        "_positional",
        "build",
        "by_syntax",
        "extra",
        "operation",
        "optional",
        "places",
        "plain",
        "receivers",
        "worked",
    )

    def __init__(self, operation: Operation, values: Values) -> None:
        knowledge = values.knowledge
        self.operation = operation
        owner = Hint("class", operation.owner)
        self.receivers = knowledge.results.providers(owner) if operation.needs_receiver else None
        self.build = values.forms.builder(owner)
        self.places: tuple[Place, ...] = tuple([values.place(operation, one) for one in operation.parameters])
        self.worked: Recent[int, Statement] = knowledge.worked(operation.id)
        self.by_syntax = operation.kind in ("property", "setter") or (
            operation.kind == "operator" and operation.operator != "__call__"
        )
        self.extra = self._only("var_positional")
        self._keywords = self._only("var_keyword")
        self._positional = self._of("positional_only", "positional_or_keyword")
        self._named = {place.name: place for place in self._of("positional_or_keyword", "keyword_only")}
        self.plain = all(place.required for place in self._positional) and len(self._positional) == len(self.places)
        self.optional = tuple(
            (index, place)
            for index, place in enumerate(self.places)
            if not self.by_syntax
            and (
                place.kind == "var_positional"
                or (place.kind in ("positional_or_keyword", "keyword_only") and not place.required)
            )
        )

    def place(self, where: int | str) -> Place | None:
        """Return the parameter that receives positional argument `where` (from 0) or keyword argument `where`."""
        if isinstance(where, str):
            return self._named.get(where, self._keywords)
        return self._positional[where] if where < len(self._positional) else self.extra

    def _of(self, *kinds: str) -> tuple[Place, ...]:
        return tuple(place for place in self.places if place.kind in kinds)

    def _only(self, kind: str) -> Place | None:
        found = self._of(kind)
        return found[0] if found else None
