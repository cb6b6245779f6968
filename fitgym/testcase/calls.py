"""Calls: statements with everything they need, appended to a draft."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Sequence
from functools import partial
from itertools import accumulate
from keyword import iskeyword

from fitgym.subject.hints import Hint
from fitgym.subject.patterns import Chance
from fitgym.subject.subject import Operation, Subject
from fitgym.testcase.draft import Draft
from fitgym.testcase.expression import Expression
from fitgym.testcase.forms import Build
from fitgym.testcase.knowledge import Knowledge
from fitgym.testcase.literals import Literals
from fitgym.testcase.rates import Rates
from fitgym.testcase.recent import Recent
from fitgym.testcase.results import Providers
from fitgym.testcase.statement import Statement
from fitgym.testcase.values import Place, Values

__all__ = ["Calls", "by_syntax"]

_BUILDER = {"constructor": 1.0, "class_method": 0.3, "static_method": 0.3, "function": 0.3}
_OTHER_BUILDER = 0.05  # methods, properties and operators need an object themselves
_OPTIONAL = ("__round__", "__pow__", "__format__")


def by_syntax(operation: Operation) -> bool:
    """The operation is not written as a call with its own name: an operator or an assignment."""
    return operation.kind in ("property", "setter") or (
        operation.kind == "operator" and operation.operator != "__call__"
    )


class Builders:
    """The operations that build objects for one hint.

    Args:
        providers: the operations.
        knowledge: how reliable they are.
    """

    __slots__ = ("_knowledge", "_providers", "_version", "_weights")

    def __init__(self, providers: Providers, knowledge: Knowledge) -> None:
        self._providers = providers
        self._knowledge = knowledge
        self._version = -1  # of the knowledge that the weights are made from
        self._weights: list[float] = []

    def draw(self, rng: Chance) -> Operation | None:
        """One of them, constructors more often than others, and the reliable more often; None if there is none."""
        if self._version != self._knowledge.version:
            self._version = self._knowledge.version
            self._weights = self._cumulated(self._providers.operations)
        return _drawn(self._providers.operations, self._weights, rng)

    def draw_another(self, failed: Operation, rng: Chance) -> Operation | None:
        """One of them, but not the one that `failed`."""
        others = [operation for operation in self._providers.operations if operation is not failed]
        return _drawn(others, self._cumulated(others), rng)

    def _cumulated(self, operations: Sequence[Operation]) -> list[float]:
        reliability = self._knowledge.reliability
        return list(accumulate(_BUILDER.get(one.kind, _OTHER_BUILDER) * reliability(one.id) ** 2 for one in operations))


def _drawn(operations: Sequence[Operation], weights: Sequence[float], rng: Chance) -> Operation | None:
    if not operations:
        return None
    return operations[bisect_right(weights, rng.random() * weights[-1], 0, len(weights) - 1)]


class Signature:
    """An operation with everything that decides how it is called.

    Attributes:
        operation: the operation.
        receivers: the operations that give an object that it can be called on, None if it needs none.
        build: builds such an object.
        places: its parameters.
        worked: calls of it that have returned.
        by_syntax: see the function of this name.
        extra: its parameter for extra positional arguments, None if it has none.
        plain: all of its parameters are positional and required, or it has none.
        optional: its parameters that an argument can be added for or taken from, with their index.
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
        self.by_syntax = by_syntax(operation)
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
        """The parameter that the positional argument `where` (from 0) or the keyword argument `where` is bound to."""
        if isinstance(where, str):
            return self._named.get(where, self._keywords)
        return self._positional[where] if where < len(self._positional) else self.extra

    def _of(self, *kinds: str) -> tuple[Place, ...]:
        return tuple(place for place in self.places if place.kind in kinds)

    def _only(self, kind: str) -> Place | None:
        found = self._of(kind)
        return found[0] if found else None


class Calls:
    """Builds statements for the operations of one subject.

    Args:
        subject: whose operations.
        knowledge: what was learnt about them.
        literals: where constants come from.
        rates: how often arguments are given and repeated, and how long a test case may be.
    """

    def __init__(self, subject: Subject, knowledge: Knowledge, literals: Literals, rates: Rates) -> None:
        self.subject = subject
        self.knowledge = knowledge
        self.rates = rates
        self.values = Values(subject, knowledge, literals, self.builder, rates)
        self._keywords = literals.keywords
        self._signatures: list[Signature | None] = [None] * len(subject.operations)

    def signature(self, operation: int) -> Signature:
        """How the operation with this id is called."""
        found = self._signatures[operation]
        if found is None:
            found = self._signatures[operation] = Signature(self.subject.operations[operation], self.values)
        return found

    def append(self, operation: Operation, draft: Draft, rng: Chance, *, receiver: int = -1, depth: int = 0) -> int:
        """Append a call of `operation` and, before it, what it needs.

        Args:
            operation: what to call.
            draft: where; left as it was if the call cannot be made.
            rng: source of chance.
            receiver: position of the object to call it on, -1 to find or build one.
            depth: nesting of objects so far.

        Returns:
            The position of the call, or -1 if there is no receiver or no room.
        """
        before = len(draft)
        signature = self._signatures[operation.id] or self.signature(operation.id)
        if signature.receivers is None:
            receiver = -1
        elif receiver < 0:
            receiver = self._receiver(signature, signature.receivers.ids, draft, rng, depth)
            if receiver < 0:
                del draft[before:]
                return -1
        known = None
        if signature.places and rng.random() < (self.rates.repeat_builders if depth else self.rates.repeat_calls):
            known = signature.worked.draw(rng)
        if known is not None:
            args, kwargs = known.args, known.kwargs
        else:
            args, kwargs = self._arguments(signature, draft, rng, depth)
        if len(draft) >= self.rates.max_length:
            del draft[before:]
            return -1
        iterate = operation.id in self.knowledge.results.iterators
        draft.append(Statement(operation.id, receiver, args, kwargs, iterate))
        return len(draft) - 1

    def builder(self, hint: Hint) -> Build:
        """What appends statements that build an object for `hint`."""
        return partial(self._build, Builders(self.knowledge.results.providers(hint), self.knowledge))

    def _build(self, builders: Builders, draft: Draft, rng: Chance, depth: int) -> int:
        operation = builders.draw(rng) if depth <= self.rates.max_depth else None
        if operation is None:
            return -1
        position = self.append(operation, draft, rng, depth=depth)
        if position < 0:
            operation = builders.draw_another(operation, rng)
            position = -1 if operation is None else self.append(operation, draft, rng, depth=depth)
        return position

    def _receiver(self, signature: Signature, operations: Container[int], draft: Draft, rng: Chance, depth: int) -> int:
        found = draft.result(operations, rng) if rng.random() < self.rates.object_reuse else -1
        if found < 0:
            found = signature.build(draft, rng, depth + 1)
        return found if found >= 0 else draft.result(operations, rng)

    def _arguments(
        self, signature: Signature, draft: Draft, rng: Chance, depth: int
    ) -> tuple[tuple[Expression, ...], tuple[tuple[str, Expression], ...]]:
        """Arguments for the required parameters and some of the others.

        What is called by syntax or through a builtin takes no keywords, and optional arguments only where that has a
        place for them.

        A parameter with a default is given by keyword, as people write it, unless it is positional-only or extra
        positional arguments follow it.
        """
        random = rng.random
        argument = self.values.argument
        rate = self.rates.optional_rate
        if signature.plain:
            return tuple([argument(place, draft, rng, depth) for place in signature.places]), ()
        args: list[Expression] = []
        kwargs: list[tuple[str, Expression]] = []
        if signature.by_syntax:
            for place in signature.places:
                if place.required or (signature.operation.operator in _OPTIONAL and random() < rate):
                    args.append(argument(place, draft, rng, depth))
            return tuple(args), ()
        extra = int(random() * 4) if signature.extra is not None else 0
        skipped = False  # a positional parameter was left out: no positional argument may follow
        for place in signature.places:
            kind = place.kind
            if kind == "var_positional":
                for _ in range(0 if skipped else extra):
                    args.append(argument(place, draft, rng, depth))
            elif kind == "var_keyword":
                if random() < self.knowledge.extra_keywords(signature.operation.id):
                    kwargs += self._extra_keywords(signature, draft, rng, depth, {name for name, _ in kwargs})
            elif kind == "positional_only" and skipped:
                continue
            elif not place.required and random() >= rate:
                skipped = skipped or kind != "keyword_only"
            else:
                value = argument(place, draft, rng, depth)
                if kind == "keyword_only":
                    kwargs.append((place.name, value))
                elif kind == "positional_or_keyword" and (skipped or not (place.required or extra)):
                    skipped = True
                    kwargs.append((place.name, value))
                else:
                    args.append(value)
        return tuple(args), tuple(kwargs)

    def _extra_keywords(
        self, signature: Signature, draft: Draft, rng: Chance, depth: int, taken: set[str]
    ) -> list[tuple[str, Expression]]:
        names = [place.name for place in signature.places]
        found: list[tuple[str, Expression]] = []
        for _ in range(int(rng.random() * 3)):
            known = self._keywords
            name = (
                known[int(rng.random() * len(known))] if known and rng.random() < 0.8 else "abc"[int(rng.random() * 3)]
            )
            if name in names or name in taken or iskeyword(name):
                continue
            taken.add(name)
            found.append((name, self.values.argument(signature.places[-1], draft, rng, depth)))
        return found
