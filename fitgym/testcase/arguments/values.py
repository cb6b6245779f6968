"""Values: arguments for the parameters of operations, and their mutation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fitgym.chance import Chance
from fitgym.subject.subject import Operation, Parameter, ParameterKind, Subject
from fitgym.subject.types.hints import ANY, NAMESPACES, Hint, choices
from fitgym.testcase.arguments.forms import NONE, Build, Form, Forms
from fitgym.testcase.arguments.literals import Literals
from fitgym.testcase.arguments.mixture import Mixture
from fitgym.testcase.arguments.recent import Recent
from fitgym.testcase.distinct import distinct
from fitgym.testcase.draft import Draft, NoRoom
from fitgym.testcase.expression import Collection, CollectionKind, Expression, Lambda, Literal, Ref
from fitgym.testcase.knowledge import Knowledge, is_large
from fitgym.testcase.rates import Rates
from fitgym.testcase.subtyping import simple_kind

__all__ = ["Place", "Values"]

_AS_ITERATOR = 0.1
_DOUBLE = 0.3  # probability of a plain object in place of one of another module
_TAMED = 0.95  # probability that a large number is replaced if large numbers hit a limit before


@dataclass(frozen=True, slots=True)
class Place:
    """A parameter of an operation, with all data for drawing an argument.

    Attributes:
        operation: id of the operation.
        tested: the operation is under test, or a way into the code under test.
        name, kind, hint, required: see `Parameter`.
        declared: the type is known from an annotation, or it is that of an attribute of a stand-in.
        typed: arguments respect its annotation, because it has one and the code handles no other values.
        form: draws values of the hint.
        accepted: arguments that operations have accepted for parameters of the same name and hint.
        mixture: kinds of value and their weights if the parameter has no hint, else None.
        double: draws a plain object that replaces one of another module, see `Parameter.double`; None if there is none.
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
    double: Form | None


class Values:
    """Draws arguments for the parameters of one subject's operations.

    Args:
        subject: whose operations.
        knowledge: statistics about them.
        literals: source of constants.
        builder: returns the function that builds objects for a hint.
        rates: probabilities of ill-typed, repeated and None arguments, and the maximum nesting.

    Attributes:
        forms: the forms that draw values of a hint.
        doubles: arguments may be plain objects that replace objects of other modules.
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
        self.doubles = True

    # Drawing

    def place(self, operation: Operation, parameter: Parameter) -> Place:
        """Return the data about a parameter that `argument` needs."""
        return Place(
            operation.id,
            operation.is_entry_point,
            parameter.name,
            parameter.kind,
            parameter.hint,
            parameter.required,
            parameter.declared or operation.owner in NAMESPACES,
            parameter.declared and not parameter.inspected,
            self.forms.of(parameter.hint),
            self.knowledge.accepted(parameter),
            self.knowledge.mixture(operation.id, parameter.name) if parameter.hint.kind == "any" else None,
            None if parameter.double is None else self.forms.of(parameter.double),
        )

    def argument(self, place: Place, draft: Draft, rng: Chance, depth: int) -> Expression:
        """Draw an argument for a parameter: as annotated, as inferred at run time, or of a kind that worked so far.

        Raises:
            NoRoom: there is no room for an object of the declared class.
        """
        before = len(draft)
        try:
            return self._drawn(place, draft, rng, depth)
        except NoRoom:
            if place.typed:
                raise
            del draft[before:]
            return self.anything(draft, rng, depth)

    def _drawn(self, place: Place, draft: Draft, rng: Chance, depth: int) -> Expression:
        random = rng.random
        rates = self.rates
        value: Expression | None = None
        if place.tested and random() < rates.accepted_rate:
            value = place.accepted.draw(rng)
            if value is not None and random() >= 0.5:
                value = self.changed(value, place.hint, draft, rng, depth)
        if value is not None:
            pass
        elif place.double is not None and self.doubles and random() < _DOUBLE:
            value = place.double(draft, rng, depth)
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
        """Return the argument, mostly without large numbers if those hit a limit before."""
        if operation in self.knowledge.costly and is_large(argument) and rng.random() < _TAMED:
            return Literal(str(int(rng.random() * 100)))
        return argument

    def anything(self, draft: Draft, rng: Chance, depth: int) -> Expression:
        """Draw a value of any kind."""
        return self.forms.anything(draft, rng, depth)

    def of(self, hint: Hint, draft: Draft, rng: Chance, depth: int) -> Expression:
        """Draw a value of `hint`, or any value if nothing builds an object of its class.

        Args:
            hint: the wanted type.
            draft: statements that the value may refer to; receives statements that build objects.
            rng: source of random numbers.
            depth: current nesting, from 0.

        Raises:
            NoRoom: there is no room for an object of the class.
        """
        return self.forms.of(hint)(draft, rng, depth)

    # Changing

    def varied(self, place: Place, value: Expression, draft: Draft, rng: Chance) -> Expression:
        """Change the argument of a parameter: mostly slightly, otherwise by a new draw.

        Raises:
            NoRoom: there is no room for an object of the declared class.
        """
        before = len(draft)
        try:
            return self._changed(place, value, draft, rng)
        except NoRoom:
            if place.typed:
                raise
            del draft[before:]
            return self.anything(draft, rng, 0)

    def _changed(self, place: Place, value: Expression, draft: Draft, rng: Chance) -> Expression:
        if rng.random() < 0.2:
            return self.argument(place, draft, rng, 0)
        hint = place.hint
        if place.mixture is not None:
            if value in _UNCHANGEABLE:
                return self.argument(place, draft, rng, 0)
            hint = self.knowledge.demanded(place.operation, place.name) or ANY
        return self.tamed(place.operation, self.changed(value, hint, draft, rng), rng)

    def changed(self, expression: Expression, hint: Hint, draft: Draft, rng: Chance, depth: int = 0) -> Expression:
        """Return a value slightly different from `expression`, of type `hint`.

        Constants move by a step. Containers lose, gain or change one element. References point to another statement. A
        value without neighbours is drawn anew.
        """
        if isinstance(expression, Literal):
            if expression in _UNCHANGEABLE or any(part.kind == "literal" for part in choices(hint)):
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
    """Sometimes replace a list by an iterator, because code may treat iterators differently.

    Type inference cannot show whether it does.
    """
    if type(value) is Collection and value.kind == "list" and rng.random() < _AS_ITERATOR:
        return Collection("iter", value.items)
    return value


def _elements(hint: Hint, kind: CollectionKind, size: int) -> tuple[Sequence[Hint], Hint | None]:
    """Return hints of the elements of a container: (elements or keys, values of a dict or None)."""
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
