"""Values: what the parameters of operations are given, and what a change makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fitgym.subject.code.patterns import Chance
from fitgym.subject.subject import Operation, Parameter, ParameterKind, Subject
from fitgym.subject.types.hints import ANY, Hint
from fitgym.testcase.arguments.forms import NONE, Build, Form, Forms
from fitgym.testcase.arguments.literals import Literals
from fitgym.testcase.arguments.mixture import Mixture
from fitgym.testcase.arguments.recent import Recent
from fitgym.testcase.distinct import distinct
from fitgym.testcase.draft import Draft
from fitgym.testcase.expression import Collection, CollectionKind, Expression, Lambda, Literal, Ref
from fitgym.testcase.knowledge import Knowledge, is_large
from fitgym.testcase.rates import Rates
from fitgym.testcase.subtyping import simple_kind

__all__ = ["Place", "Values"]

_AS_ITERATOR = 0.1
_TAMED = 0.95  # how often a large number is replaced where one has hit a limit before


@dataclass(frozen=True, slots=True)
class Place:
    """A parameter of an operation, with everything that decides what it is given.

    Attributes:
        operation: id of the operation.
        tested: the operation is under test.
        name, kind, hint, required, declared: see `Parameter`.
        typed: its annotation is kept to, because it is one and the code is not prepared for anything else.
        form: draws values of the hint.
        accepted: arguments that operations have accepted for parameters of the same name and hint.
        mixture: kinds of value and their weights where the parameter has no hint, else None.
    """

    operation: int
    tested: bool
    name: str
    kind: ParameterKind
    hint: Hint
    required: bool
    declared: bool
    typed: bool
    form: Form
    accepted: Recent[Expression, Expression]
    mixture: Mixture | None


class Values:
    """Arguments for the parameters of one subject's operations.

    Args:
        subject: whose operations.
        knowledge: what was learnt about them.
        literals: where constants come from.
        builder: says how objects for a hint are built.
        rates: how often arguments are unusual, repeated or None, and how deep they nest.

    Attributes:
        forms: how values of a hint are drawn.
    """

    def __init__(
        self,
        subject: Subject,
        knowledge: Knowledge,
        literals: Literals,
        builder: Callable[[Hint], Build],
        rates: Rates,
    ) -> None:
        self.knowledge = knowledge
        self.literals = literals
        self.rates = rates
        self.forms = Forms(subject, knowledge.results, literals, builder, rates)

    # What a parameter gets

    def place(self, operation: Operation, parameter: Parameter) -> Place:
        """What is known about a parameter, for `argument`."""
        return Place(
            operation.id,
            operation.leads_in,
            parameter.name,
            parameter.kind,
            parameter.hint,
            parameter.required,
            parameter.declared,
            parameter.declared and not parameter.inspected,
            self.forms.of(parameter.hint),
            self.knowledge.accepted(parameter),
            self.knowledge.mixture(operation.id, parameter.name) if parameter.hint.kind == "any" else None,
        )

    def argument(self, place: Place, draft: Draft, rng: Chance, depth: int) -> Expression:
        """An argument for a parameter: as annotated, as demanded at run time, or what has worked so far."""
        random = rng.random
        rates = self.rates
        value: Expression | None = None
        if place.tested and random() < rates.accepted_rate:
            value = place.accepted.draw(rng)
            if value is not None and random() >= 0.5:
                value = self.changed(value, place.hint, draft, rng, depth)
        if value is not None:
            pass
        elif place.mixture is not None:
            demanded = self.knowledge.demanded(place.operation, place.name)
            if demanded is not None and random() < rates.trust:
                value = _as_iterator(self.of(demanded, draft, rng, depth), rng)
            else:
                value = self.forms.of_kind(place.mixture.draw(rng))(draft, rng, depth)
        elif place.tested and not place.typed and random() < rates.ill_typed:
            value = NONE if random() < rates.null_probability else self.anything(draft, rng, depth)
        else:
            value = place.form(draft, rng, depth)
            if not place.declared:
                value = _as_iterator(value, rng)
        return self.tamed(place.operation, value, rng) if self.knowledge.costly else value

    def tamed(self, operation: int, argument: Expression, rng: Chance) -> Expression:
        """The argument, mostly without large numbers where those have hit a limit before."""
        if operation in self.knowledge.costly and is_large(argument) and rng.random() < _TAMED:
            return Literal(str(int(rng.random() * 100)))
        return argument

    def anything(self, draft: Draft, rng: Chance, depth: int) -> Expression:
        """Any value at all."""
        return self.forms.anything(draft, rng, depth)

    def of(self, hint: Hint, draft: Draft, rng: Chance, depth: int) -> Expression:
        """A value that `hint` describes; anything if there is no way to make one.

        Args:
            hint: what is wanted.
            draft: what may be referred to; statements that build objects are appended to it.
            rng: source of chance.
            depth: nesting so far, from 0.
        """
        return self.forms.of(hint)(draft, rng, depth)

    # What a change makes of it

    def varied(self, place: Place, value: Expression, draft: Draft, rng: Chance) -> Expression:
        """The argument of a parameter changed a little, mostly, or drawn anew."""
        if rng.random() < 0.2:
            return self.argument(place, draft, rng, 0)
        hint = place.hint
        if place.mixture is not None:
            if value in _UNCHANGEABLE:
                return self.argument(place, draft, rng, 0)
            hint = self.knowledge.demanded(place.operation, place.name) or ANY
        return self.tamed(place.operation, self.changed(value, hint, draft, rng), rng)

    def changed(self, expression: Expression, hint: Hint, draft: Draft, rng: Chance, depth: int = 0) -> Expression:
        """A value like `expression` but a little different, for a place that asks for `hint`.

        Constants move by a step, containers lose, gain or change one element, references point elsewhere; what has no
        neighbours is drawn anew.
        """
        if isinstance(expression, Literal):
            if hint.kind == "literal" or expression in _UNCHANGEABLE:
                return self.of(hint, draft, rng, depth)
            return Literal(self.literals.perturbed(expression.text, rng))
        if isinstance(expression, Collection):
            return self._changed_collection(expression, hint, draft, rng, depth)
        if isinstance(expression, Ref) and expression.position >= 0 and draft:
            results = self.knowledge.results
            returned = results.hints[draft[expression.position].operation]
            others = [one for one in draft.results(results.providers(returned).ids) if one != expression.position]
            if others and rng.random() < 0.7:
                return Ref(others[int(rng.random() * len(others))])
        if isinstance(expression, Lambda) and isinstance(expression.body, Literal | Collection) and rng.random() < 0.8:
            body = self.changed(expression.body, hint.args[-1] if hint.args else ANY, draft, rng, depth + 1)
            if isinstance(body, Literal | Collection):
                return Lambda(expression.arity, body)
        return self.of(hint, draft, rng, depth)

    def _changed_collection(
        self, expression: Collection, hint: Hint, draft: Draft, rng: Chance, depth: int
    ) -> Expression:
        random = rng.random
        hashable = self.forms.hashable
        kind, items = expression.kind, list(expression.items)
        keys, values = _elements(hint, kind, len(items))
        hashed = kind in ("set", "frozenset")
        step = 2 if kind == "dict" else 1
        fixed = kind == "tuple" and len(keys) == len(items) > 0 and values is None
        where = random()
        if items and (fixed or where < 0.5):
            place = int(random() * len(items))
            part = keys[place] if fixed else values if values is not None and place % 2 else keys[0] if keys else ANY
            new = self.changed(items[place], part, draft, rng, depth + 1)
            if not (hashed or (kind == "dict" and place % 2 == 0)) or hashable(new, draft):
                items[place] = new
        elif items and where < 0.75:
            place = int(random() * (len(items) // step)) * step
            del items[place : place + step]
        else:
            place = int(random() * (len(items) // step + 1)) * step
            key = keys[0] if keys else ANY
            like = items[int(random() * (len(items) // step)) * step] if items and random() < 0.5 else None
            first = self.changed(like, key, draft, rng, depth + 1) if like else self.of(key, draft, rng, depth + 1)
            if (hashed or kind == "dict") and not hashable(first, draft):
                first = Literal(self.literals.of_kind("str", rng))
            items[place:place] = [first] if values is None else [first, self.of(values, draft, rng, depth + 1)]
        if hashed:
            items = self.forms.of_set(items, draft)
        elif kind == "dict" and len(distinct(items[::2])) < len(items) // 2:
            return expression
        return Collection(kind, tuple(items))


_UNCHANGEABLE = (NONE, Literal("..."))


def _as_iterator(value: Expression, rng: Chance) -> Expression:
    """Now and then an iterator over a list: code that goes over one may treat it differently, and no demand can tell."""
    if type(value) is Collection and value.kind == "list" and rng.random() < _AS_ITERATOR:
        return Collection("iter", value.items)
    return value


def _elements(hint: Hint, kind: CollectionKind, size: int) -> tuple[Sequence[Hint], Hint | None]:
    """Hints of the elements of a container: (elements or keys, values of a dict or None)."""
    if hint.kind == "union":
        for part in hint.args:
            if simple_kind(part) in (kind, "iterable", "sequence", "mapping", "iterator"):
                return _elements(part, kind, size)
    if kind == "dict":
        return (hint.args[:1], hint.args[1]) if len(hint.args) == 2 else ((), ANY)
    if hint.kind == "tuple" and len(hint.args) == 2 and hint.args[1].kind == "ellipsis":
        return hint.args[:1], None
    if hint.kind in ("class", "any", "callable", "union", "protocol", "type"):
        return (), None
    return hint.args, None
