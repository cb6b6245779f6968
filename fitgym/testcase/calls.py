"""Calls: statements with all statements that they need, appended to a draft."""

from __future__ import annotations

from collections.abc import Container
from functools import partial
from keyword import iskeyword

from fitgym.chance import Chance
from fitgym.subject.subject import Operation, Subject
from fitgym.subject.types.hints import Hint
from fitgym.testcase.arguments.forms import Build
from fitgym.testcase.arguments.literals import Literals
from fitgym.testcase.arguments.values import Values
from fitgym.testcase.builders import Builders
from fitgym.testcase.draft import Draft, NoRoom
from fitgym.testcase.expression import Expression
from fitgym.testcase.knowledge import Knowledge
from fitgym.testcase.rates import Rates
from fitgym.testcase.signature import Signature
from fitgym.testcase.statement import Statement

__all__ = ["Calls"]

_MOST_OPTIONAL = 6
"""With more optional parameters, half of the calls give fewer of them: many arguments at once contradict each other."""
_OPTIONAL = ("__round__", "__pow__", "__format__")


class Calls:
    """Builds statements for the operations of one subject.

    Args:
        subject: whose operations.
        knowledge: statistics about them.
        literals: source of constants.
        rates: probabilities that arguments are given and repeated, and the length limit of a test case.
    """

    def __init__(self, subject: Subject, knowledge: Knowledge, literals: Literals, rates: Rates) -> None:
        self.subject = subject
        self.knowledge = knowledge
        self.rates = rates
        self.values = Values(subject, knowledge, literals, self.builder, rates)
        self._keywords = literals.keywords
        self._signatures: list[Signature | None] = [None] * len(subject.operations)

    def signature(self, operation: int) -> Signature:
        """Return the signature of the operation with this id."""
        found = self._signatures[operation]
        if found is None:
            found = self._signatures[operation] = Signature(self.subject.operations[operation], self.values)
        return found

    def append(self, operation: Operation, draft: Draft, rng: Chance, *, receiver: int = -1, depth: int = 0) -> int:
        """Append a call of `operation`, preceded by the statements that it needs.

        Args:
            operation: the operation to call.
            draft: receives the statements; unchanged if the call cannot be built.
            rng: source of random numbers.
            receiver: position of the object to call it on, -1 to find or build one.
            depth: current nesting of objects.

        Returns:
            The position of the call, or -1 if there is no receiver, no argument of a declared class, or no room.
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
            # These statements needed no other statement, so their arguments are valid in any draft.
            known = signature.worked.draw(rng)
        if known is not None:
            args, kwargs = known.args, known.kwargs
        else:
            try:
                args, kwargs = self._arguments(signature, draft, rng, depth)
            except NoRoom:
                del draft[before:]
                return -1
        if len(draft) >= self.rates.max_length:
            # The statements for the arguments used up the room: remove them again.
            del draft[before:]
            return -1
        iterate = operation.id in self.knowledge.results.iterators
        draft.append(Statement(operation.id, receiver, args, kwargs, iterate))
        return len(draft) - 1

    def builder(self, hint: Hint) -> Build:
        """Return a function that appends statements which build an object for `hint`."""
        return partial(self._build, Builders(self.knowledge.results.providers(hint), self.knowledge))

    def _build(self, builders: Builders, draft: Draft, rng: Chance, depth: int) -> int:
        operation = builders.draw(rng) if depth <= self.rates.max_depth else None
        if operation is None:
            return -1
        position = self.append(operation, draft, rng, depth=depth)
        if position < 0:
            # One retry with another builder, because the first one may lack a receiver or room.
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
        """Draw arguments for the required parameters and for some of the optional ones.

        A call by syntax or through a builtin has no keywords, and optional arguments only if the syntax allows them.

        A parameter with a default is passed by keyword, as in hand-written code, unless it is positional-only or extra
        positional arguments follow it.
        """
        random = rng.random
        argument = self.values.argument
        rate = self.rates.optional_rate
        if len(signature.optional) > _MOST_OPTIONAL and random() < 0.5:
            rate *= _MOST_OPTIONAL / len(signature.optional)
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
