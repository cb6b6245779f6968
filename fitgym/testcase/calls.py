"""Calls: statements with everything they need, appended to a draft."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from keyword import iskeyword

from fitgym.subject.hints import Hint
from fitgym.subject.patterns import Chance
from fitgym.subject.subject import Operation, Subject
from fitgym.testcase.draft import Draft
from fitgym.testcase.expression import Expression, Ref
from fitgym.testcase.knowledge import Knowledge
from fitgym.testcase.literals import Literals
from fitgym.testcase.rates import Rates
from fitgym.testcase.statement import Statement
from fitgym.testcase.values import Values

__all__ = ["Calls", "by_syntax"]

_BUILDER = {"constructor": 1.0, "class_method": 0.3, "static_method": 0.3, "function": 0.3}
_OTHER_BUILDER = 0.05  # methods, properties and operators need an object themselves
_OPTIONAL = ("__round__", "__pow__", "__format__")


def by_syntax(operation: Operation) -> bool:
    """The operation is not written as a call with its own name: an operator or an assignment."""
    return operation.kind in ("property", "setter") or (
        operation.kind == "operator" and operation.operator != "__call__"
    )


class Calls:
    """Builds statements for the operations of one subject.

    Args:
        subject: whose operations.
        knowledge: what was learnt about them.
        literals: where constants come from.
        rates: how often arguments are given and repeated, and how long a test case may be.
    """

    def __init__(
        self,
        subject: Subject,
        knowledge: Knowledge,
        literals: Literals,
        rates: Rates,
    ) -> None:
        self.subject = subject
        self.knowledge = knowledge
        self.literals = literals
        self.rates = rates
        self.values = Values(subject, knowledge, literals, self.make, rates)
        self._keywords = literals.keywords

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
        before = len(draft.statements)
        if operation.needs_receiver and receiver < 0:
            receiver = self._receiver(operation, draft, rng, depth)
            if receiver < 0:
                del draft.statements[before:]
                return -1
        known = None
        if operation.parameters and rng.random() < (self.rates.repeat_builders if depth else self.rates.repeat_calls):
            known = self.knowledge.worked(operation.id, rng)
        if known is not None:
            args, kwargs = list(known.args), list(known.kwargs)
        else:
            args, kwargs = self._arguments(operation, draft, rng, depth)
        if len(draft.statements) >= self.rates.max_length:
            del draft.statements[before:]
            return -1
        return draft.append(
            Statement(
                operation.id,
                receiver if operation.needs_receiver else -1,
                tuple(args),
                tuple(kwargs),
                operation.id in self.knowledge.iterators,
            )
        )

    def make(self, hint: Hint, draft: Draft, rng: Chance, depth: int) -> Ref | None:
        """Append statements that build an object for `hint`; None if nothing can build one within the depth."""
        if depth > self.rates.max_depth:
            return None
        builders = [self.subject.operations[identifier] for identifier in sorted(self.values.providers(hint))]
        for _ in range(2):
            if not builders:
                return None
            weights = list(
                accumulate(
                    _BUILDER.get(builder.kind, _OTHER_BUILDER) * self.knowledge.reliability(builder.id) ** 2
                    for builder in builders
                )
            )
            builder = builders[bisect_right(weights, rng.random() * weights[-1])]
            position = self.append(builder, draft, rng, depth=depth)
            if position >= 0:
                return Ref(position)
            builders.remove(builder)
        return None

    def _receiver(self, operation: Operation, draft: Draft, rng: Chance, depth: int) -> int:
        hint = Hint("class", operation.owner)
        found = self.values.existing(hint, draft, rng) if rng.random() < self.rates.object_reuse else None
        if found is None:
            found = self.make(hint, draft, rng, depth + 1)
        if found is None:
            found = self.values.existing(hint, draft, rng)
        return -1 if found is None else found.position

    def _arguments(
        self, operation: Operation, draft: Draft, rng: Chance, depth: int
    ) -> tuple[list[Expression], list[tuple[str, Expression]]]:
        """Arguments for the required parameters and some of the others.

        What is called by syntax or through a builtin takes no keywords, and optional arguments only where that has a
        place for them.

        A parameter with a default is given by keyword, as people write it, unless it is positional-only or extra
        positional arguments follow it.
        """
        random = rng.random
        args: list[Expression] = []
        kwargs: list[tuple[str, Expression]] = []
        if by_syntax(operation):
            for parameter in operation.parameters:
                if parameter.required or (operation.operator in _OPTIONAL and random() < self.rates.optional_rate):
                    args.append(self.values.argument(operation, parameter, draft, rng, depth))
            return args, kwargs
        extra = 0
        for parameter in operation.parameters:
            if parameter.kind == "var_positional":
                extra = int(random() * 4)
        skipped = False  # a positional parameter was left out: no positional argument may follow
        for parameter in operation.parameters:
            kind = parameter.kind
            if kind == "var_positional":
                for _ in range(0 if skipped else extra):
                    args.append(self.values.argument(operation, parameter, draft, rng, depth))
                continue
            if kind == "var_keyword":
                if random() < self.knowledge.extra_keywords(operation.id):
                    kwargs.extend(self._extra_keywords(operation, draft, rng, depth, {name for name, _ in kwargs}))
                continue
            if kind == "positional_only" and skipped:
                continue
            if not parameter.required and random() >= self.rates.optional_rate:
                skipped = skipped or kind != "keyword_only"
                continue
            value = self.values.argument(operation, parameter, draft, rng, depth)
            if kind == "keyword_only":
                kwargs.append((parameter.name, value))
            elif kind == "positional_or_keyword" and (skipped or not (parameter.required or extra)):
                skipped = True
                kwargs.append((parameter.name, value))
            else:
                args.append(value)
        return args, kwargs

    def _extra_keywords(
        self, operation: Operation, draft: Draft, rng: Chance, depth: int, taken: set[str]
    ) -> list[tuple[str, Expression]]:
        names = [parameter.name for parameter in operation.parameters]
        found: list[tuple[str, Expression]] = []
        for _ in range(int(rng.random() * 3)):
            known = self._keywords
            name = (
                known[int(rng.random() * len(known))] if known and rng.random() < 0.8 else "abc"[int(rng.random() * 3)]
            )
            if name in names or name in taken or iskeyword(name):
                continue
            taken.add(name)
            found.append((name, self.values.argument(operation, operation.parameters[-1], draft, rng, depth)))
        return found
