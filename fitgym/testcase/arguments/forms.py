"""Forms: generators of values for hints.

Values with a literal notation (constants, containers, functions, classes, enum members) are written directly. Objects
are results of earlier statements: an existing one if there is one, otherwise of new statements that build one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate

from fitgym.chance import Chance
from fitgym.subject.subject import Class, Subject
from fitgym.subject.types.hints import ANY, Hint
from fitgym.testcase.arguments.literals import Literals
from fitgym.testcase.arguments.mixture import ANY_KINDS
from fitgym.testcase.arguments.records import record
from fitgym.testcase.constants import KINDS, Scalar, canonical, kind_of_text
from fitgym.testcase.distinct import distinct
from fitgym.testcase.draft import Draft, NoRoom
from fitgym.testcase.expression import Collection, CollectionKind, Expression, Lambda, Literal, Name, Ref
from fitgym.testcase.families import instances, members
from fitgym.testcase.rates import Rates
from fitgym.testcase.results import Providers, Results
from fitgym.testcase.subtyping import attributes, fits, simple_kind

__all__ = ["Build", "Form", "Forms", "distinct"]

Form = Callable[[Draft, Chance, int], Expression]
"""Draws a value, and appends statements that build objects to the draft; the integer is the current nesting, from 0."""

Build = Callable[[Draft, Chance, int], int]
"""Appends statements that build an object; returns the position of the last one, or -1 if that is impossible."""

_SIZES = (0.15, 0.4, 0.65, 0.88, 1.0)  # cumulative: containers of 0 to 4 elements
_UNLIKELY = 0.6  # probability of skipping a final "any" in a union, because the other parts were declared
_UNKNOWN_KINDS = tuple(ANY_KINDS)
_UNKNOWN_WEIGHTS = tuple(accumulate(ANY_KINDS.values()))
_ELEMENT_KINDS = ("int", "int", "int", "str", "str", "str", "float", "bool", "none", "tuple", "list", "dict")
_FLAT_KINDS = 9  # of them; beyond two levels, containers of unknown elements contain no further containers
# Without `pow`, whose result can exceed any limit, and `repr`, which doubles its text when repeated.
_FUNCTIONS = {
    0: ("dict", "list", "int", "str"),
    1: ("str", "int", "len", "abs", "bool", "list", "float", "sorted", "sum", "tuple", "set"),
    2: ("max", "min", "divmod", "isinstance"),
    3: ("max", "min"),
}
_CLASSES = ("int", "str", "float", "list", "dict", "tuple", "bool", "bytes", "set", "object", "ValueError", "Exception")
# One public class of the standard library for each kind of class that code may test for.
_KINDS_OF_CLASS = (
    Name("pstats", "FunctionProfile"),  # a dataclass
    Name("pstats", "StatsProfile"),  # one that contains other dataclasses
    Name("uuid", "SafeUUID"),  # an enum
    Name("inspect", "ArgInfo"),  # a named tuple
    Name("numbers", "Number"),  # abstract
    Name("collections", "OrderedDict"),  # a subclass of a builtin
)
_OTHER_CLASS = 0.25
_ERRORS = ("ValueError", "TypeError", "KeyError", "IndexError", "RuntimeError", "OSError", "StopIteration", "Exception")
_HASHABLE_RESULTS = frozenset(("class", "int", "str", "float", "bool", "bytes", "complex"))
_LITERAL_KINDS = frozenset(KINDS)
_COLLECTIONS: dict[str, CollectionKind] = {
    **{"list": "list", "tuple": "tuple", "set": "set", "frozenset": "frozenset"},
    **{"iterator": "iter", "iter": "iter"},
}
NONE = Literal("None")


class Forms:
    """The forms of the hints of one subject, each created once.

    A form is a method with arguments precomputed from its hint, so it can be pickled. New observations about results
    reach it through its `Providers`.

    Args:
        subject: whose operations and classes.
        results: the result types of the operations.
        literals: source of constants.
        builder: returns the function that builds objects for a hint.
        rates: probabilities of None and of repeated values, and the maximum nesting.
    """

    def __init__(
        self, subject: Subject, results: Results, literals: Literals, builder: Callable[[Hint], Build], rates: Rates
    ) -> None:
        self.subject = subject
        self.results = results
        self.literals = literals
        self.builder = builder
        self.rates = rates
        tested = {operation.owner for operation in subject.operations if operation.under_test}
        private = {operation.owner for operation in subject.operations if operation.entry_kind == "private"} - tested
        self._callables = [
            operation
            for operation in subject.operations
            if operation.kind in ("function", "static_method", "constructor")
            and operation.drive == ""
            and not operation.entry_kind
            and not operation.sets_environment
        ]
        self._forms: dict[Hint, Form] = {}
        self._own_classes = [
            known
            for known in subject.classes.values()
            if (known.name in tested or known.module == subject.reference.module)
            and known.name not in private
            and not known.demands
        ]
        by_value = [known for known in subject.classes.values() if not known.by_address]
        self._by_value = frozenset((*members(by_value), *instances(by_value)))
        self._own = [self.of(Hint("class", known.name)) for known in self._own_classes]
        self._kinds: dict[str, Form] = {kind: self._form_of_kind(kind) for kind in (*ANY_KINDS, "ellipsis")}

    def of(self, hint: Hint) -> Form:
        """Return the form of `hint`; it draws any value if no value of the hint can be built."""
        form = self._forms.get(hint)
        if form is None:
            kind = simple_kind(hint)
            if kind in _LITERAL_KINDS:
                form = partial(self._literal, kind, *self.literals.drawing(kind))
            else:
                make = self._MAKERS.get(kind)
                form = self._deeper if make is None else make(self, hint)
            self._forms[hint] = form
        return form

    def of_kind(self, kind: str) -> Form:
        """Return the form of one of the kinds in `ANY_KINDS`."""
        return self._kinds[kind]

    def anything(self, draft: Draft, rng: Chance, depth: int) -> Expression:
        """Draw a value of any kind."""
        drawn = rng.random() * _UNKNOWN_WEIGHTS[-1]
        kind = _UNKNOWN_KINDS[bisect_right(_UNKNOWN_WEIGHTS, drawn, 0, len(_UNKNOWN_KINDS) - 1)]
        return self._kinds[kind](draft, rng, depth)

    def hashable(self, expression: Expression, draft: Draft) -> bool:
        """The value can be a dictionary key."""
        if isinstance(expression, Collection):
            return expression.kind in ("tuple", "frozenset") and all(
                self.hashable(item, draft) for item in expression.items
            )
        if isinstance(expression, Ref):
            if not 0 <= expression.position < len(draft):
                return False
            return self.results.kinds[draft[expression.position].operation] in _HASHABLE_RESULTS
        return True

    def of_set(self, items: Sequence[Expression], draft: Draft) -> list[Expression]:
        """Return the elements of a set of these items, each once.

        Values hashed by address are kept only if there are no others: they change the order of a set between processes.
        """
        different = distinct(items)
        if len(different) < 2:
            return different
        return [item for item in different if not self._by_address(item, draft)] or different[:1]

    def _by_address(self, expression: Expression, draft: Draft) -> bool:
        if isinstance(expression, Collection):
            return any(self._by_address(item, draft) for item in expression.items)
        if isinstance(expression, Ref):
            operation = draft[expression.position].operation
            known = self.subject.classes.get(self.results.hints[operation].name)
            return self.results.kinds[operation] == "class" and (known is None or known.by_address)
        if isinstance(expression, Name):
            return expression not in self._by_value
        return isinstance(expression, Lambda) or expression.text == 'float("nan")'

    def _deeper(self, draft: Draft, rng: Chance, depth: int) -> Expression:
        return self.anything(draft, rng, depth + 1)

    # Constants

    def _literal(
        self,
        kind: str,
        draw: Callable[[Chance], Scalar],
        write: Callable[[Scalar], str],
        draft: Draft,
        rng: Chance,
        depth: int,
    ) -> Expression:
        if depth == 0 and draft and rng.random() < self.rates.primitive_reuse:
            again = self._repeated(kind, draft, rng)
            if again is not None:
                return again
        return Literal(write(draw(rng)))

    def _repeated(self, kind: str, draft: Draft, rng: Chance) -> Expression | None:
        """Return a constant or result of the wanted kind from one random statement, None if it has none."""
        position = int(rng.random() * len(draft))
        statement = draft[position]
        if statement.operation in self.results.unstable:
            return None
        if self.results.kinds[statement.operation] == kind:
            return Ref(position)
        given = (*statement.args, *[value for _, value in statement.kwargs])
        return next((one for one in given if type(one) is Literal and kind_of_text(one.text) == kind), None)

    def _of_literal(self, hint: Hint) -> Form:
        texts = tuple(map(canonical, hint.texts))
        return partial(self._written, tuple(None if text is None else Literal(text) for text in texts))

    def _written(self, literals: tuple[Literal | None, ...], draft: Draft, rng: Chance, depth: int) -> Expression:
        chosen = literals[int(rng.random() * len(literals))] if literals else None
        return self.anything(draft, rng, depth + 1) if chosen is None else chosen

    # Compound hints

    def _of_any(self, _: Hint) -> Form:
        return self.anything

    def _of_union(self, hint: Hint) -> Form:
        parts = [part for part in hint.args if simple_kind(part) != "none"]
        forms = tuple(map(self.of, parts))
        ends_with_any = len(parts) > 1 and parts[-1].kind == "any"
        return partial(self._one_of, forms, len(parts) < len(hint.args), ends_with_any)

    def _one_of(
        self, forms: tuple[Form, ...], optional: bool, ends_with_any: bool, draft: Draft, rng: Chance, depth: int
    ) -> Expression:
        if optional and (not forms or rng.random() < self.rates.null_probability):
            return NONE
        if not forms:
            return self.anything(draft, rng, depth + 1)
        count = len(forms)
        if ends_with_any and rng.random() < _UNLIKELY:
            count -= 1
        return forms[int(rng.random() * count)](draft, rng, depth)

    def _of_iterable(self, hint: Hint) -> Form:
        element = hint.args[0] if hint.args else ANY
        textual = element.kind == "any" or element.name == "builtins.str"
        return partial(self._iterable, simple_kind(hint) == "sequence", textual, self._of_element(element))

    def _iterable(
        self, sequence: bool, textual: bool, element: Form | None, draft: Draft, rng: Chance, depth: int
    ) -> Expression:
        where = rng.random()
        if textual and where < 0.15:
            return self._kinds["str"](draft, rng, depth)
        kind: CollectionKind
        if sequence:
            kind = "list" if where < 0.75 else "tuple"
        else:
            kind = "list" if where < 0.6 else "tuple" if where < 0.75 else "iter" if where < 0.9 else "set"
        return self._collection(kind, element, draft, rng, depth)

    def _of_elements(self, hint: Hint) -> Form:
        if hint.kind == "row":
            return partial(self._row, "list", tuple(map(self.of, hint.args)))
        element = self._of_element(hint.args[0] if hint.args else ANY)
        return partial(self._collection, _COLLECTIONS[simple_kind(hint)], element)

    def _of_element(self, hint: Hint) -> Form | None:
        """Return the form of the elements of a container; None if their type is unknown."""
        return None if hint.kind == "any" else self.of(hint)

    def _of_mapping(self, hint: Hint) -> Form:
        if hint.kind == "record":
            keys = [Literal(text) for text in map(canonical, hint.texts) if text is not None]
            return partial(record, tuple(zip(keys, map(self.of, hint.args), strict=True)))
        key, value = hint.args if len(hint.args) == 2 else (ANY, ANY)
        return partial(self._mapping, self._of_element(key), self._of_element(value))

    def _mapping(self, key: Form | None, value: Form | None, draft: Draft, rng: Chance, depth: int) -> Expression:
        size = bisect_right(_SIZES, rng.random()) if depth < self.rates.max_depth else 0
        keys = distinct(self._items(key, size, draft, rng, depth, hashed=True))
        values = self._items(value, len(keys), draft, rng, depth, hashed=False)
        return Collection("dict", tuple([part for pair in zip(keys, values, strict=True) for part in pair]))

    def _of_tuple(self, hint: Hint) -> Form:
        if not hint.args or hint.args[-1].kind == "ellipsis":
            return self._of_elements(hint)
        return partial(self._row, "tuple", tuple(map(self.of, hint.args)))

    def _row(self, kind: CollectionKind, forms: tuple[Form, ...], draft: Draft, rng: Chance, depth: int) -> Expression:
        return Collection(kind, tuple([form(draft, rng, depth + 1) for form in forms]))

    def _collection(
        self, kind: CollectionKind, element: Form | None, draft: Draft, rng: Chance, depth: int
    ) -> Collection:
        size = bisect_right(_SIZES, rng.random()) if depth < self.rates.max_depth else 0
        hashed = kind in ("set", "frozenset")
        items = self._items(element, size, draft, rng, depth, hashed=hashed)
        return Collection(kind, tuple(self.of_set(items, draft) if hashed else items))

    def _items(
        self, element: Form | None, size: int, draft: Draft, rng: Chance, depth: int, *, hashed: bool
    ) -> list[Expression]:
        """Draw elements of a container; if their type is unknown, most containers get elements of one kind."""
        if element is None:
            element = self.anything
            if size and (depth > 0 or rng.random() < 0.8):
                kinds = len(_ELEMENT_KINDS) if depth < 2 else _FLAT_KINDS
                element = self._kinds[_ELEMENT_KINDS[int(rng.random() * kinds)]]
        items: list[Expression] = []
        for _ in range(size):
            if items and not hashed and rng.random() < self.rates.repeat_items:
                items.append(items[int(rng.random() * len(items))])
                continue
            item = element(draft, rng, depth + 1)
            # An unhashable element would make the display raise a TypeError.
            if hashed and not self.hashable(item, draft):
                item = Literal(self.literals.of_kind("str" if rng.random() < 0.6 else "int", rng))
            items.append(item)
        return items

    # Functions and classes

    def _of_callable(self, hint: Hint) -> Form:
        result = hint.args[-1] if hint.args else ANY
        given = hint.args[:-1]
        arity = len(given) if hint.args and not (given and given[0].kind == "ellipsis") else None
        passing = [  # parameters that can be returned as the result
            place
            for place, part in enumerate(given if arity is not None else ())
            if result.kind == "any" or fits(part, result, self.subject.classes)
        ]
        return partial(self._callable, arity, tuple(passing), self._of_element(result))

    def _callable(
        self,
        arity: int | None,
        passing: Sequence[int],
        result: Form | None,
        draft: Draft,
        rng: Chance,
        depth: int,
    ) -> Expression:
        random = rng.random
        if arity is None:
            where = random()
            arity = -1 if where < 0.4 else 1 if where < 0.8 else 2
            passing = range(max(arity, 0)) if result is None else ()
        where = random() if result is None else 1.0  # no builtin or own function: its result would not fit
        if where < 0.25 and arity in _FUNCTIONS:
            names = _FUNCTIONS[arity]
            return Name("builtins", names[int(random() * len(names))])
        if where < 0.4:
            fitting = [operation for operation in self._callables if operation.takes(max(arity, 1))]
            if fitting:
                chosen = fitting[int(random() * len(fitting))]
                return Name(chosen.module, chosen.name)
        if passing and random() < 0.5:
            return Lambda(arity, Ref(-1 - passing[int(random() * len(passing))]))
        if result is None or depth >= self.rates.max_depth:
            return Lambda(arity, Literal(self.literals.of_kind(("int", "str", "bool", "none")[int(random() * 4)], rng)))
        body = result(draft, rng, depth + 1)
        # `Ref(-1 - k)` does not tell whose parameter it is, so lambdas are not nested.
        return Name("builtins", "str") if _has_lambda(body) else Lambda(arity, body)

    def _of_type(self, hint: Hint) -> Form:
        wanted = hint.args[0] if hint.args else ANY
        if wanted.kind == "union" and wanted.args:
            return partial(self._one_type_of, tuple(Hint("type", args=(part,)) for part in wanted.args))
        if wanted.kind != "class" or wanted.name == "builtins.object":
            return self._any_type
        module, _, name = wanted.name.rpartition(".")
        family = tuple(Name(one.module, one.qualname) for one in self._family(wanted.name))
        if not family and module == "builtins":
            family = (Name("builtins", name),)
        return partial(self._type, family, module == "builtins" and name in ("Exception", "BaseException"))

    def _one_type_of(self, hints: tuple[Hint, ...], draft: Draft, rng: Chance, depth: int) -> Expression:
        return self.of(hints[int(rng.random() * len(hints))])(draft, rng, depth)

    def _type(self, family: tuple[Name, ...], error: bool, draft: Draft, rng: Chance, depth: int) -> Expression:
        if error and rng.random() < 0.7:
            return Name("builtins", _ERRORS[int(rng.random() * len(_ERRORS))])
        return family[int(rng.random() * len(family))] if family else self.anything(draft, rng, depth + 1)

    def _any_type(self, draft: Draft, rng: Chance, depth: int) -> Expression:
        if self._own_classes and rng.random() < 0.5:
            own = self._own_classes[int(rng.random() * len(self._own_classes))]
            return Name(own.module, own.qualname)
        if rng.random() < _OTHER_CLASS:
            return _KINDS_OF_CLASS[int(rng.random() * len(_KINDS_OF_CLASS))]
        return Name("builtins", _CLASSES[int(rng.random() * len(_CLASSES))])

    def _of_protocol(self, hint: Hint) -> Form:
        return partial(self._protocol, tuple(self._satisfying(hint)))

    def _protocol(self, hints: tuple[Hint, ...], draft: Draft, rng: Chance, depth: int) -> Expression:
        if not hints:
            return self.anything(draft, rng, depth + 1)
        return self.of(hints[int(rng.random() * len(hints))])(draft, rng, depth)

    def _satisfying(self, hint: Hint) -> list[Hint]:
        """Return hints of values that have the attributes required by a protocol."""
        known = self.subject.classes.get(hint.name)
        demands = set(known.demands if known else hint.texts)
        kinds = ("str", "int", "list", "dict", "tuple", "float", "bytes", "set", "iterator", "callable")
        simple = [Hint("class", f"builtins.{kind}") for kind in kinds if kind in _LITERAL_KINDS]
        simple += [Hint(kind) for kind in kinds if kind not in _LITERAL_KINDS]
        found = [option for option in simple if demands <= attributes(simple_kind(option))]
        members: dict[str, set[str]] = {}
        for operation in self.subject.operations:
            if operation.owner and not operation.unsearched:
                members.setdefault(operation.owner, set()).add(operation.name.rpartition(".")[2])
        for name, one in self.subject.classes.items():
            inherited = {member for base in one.bases or (name,) for member in members.get(base, ())}
            if not one.demands and (hint.name in one.bases or (demands and demands <= inherited)):
                found.append(Hint("class", name))
        if known is not None and known.double is not None:
            found.append(known.double)
        return found

    # Objects

    def _of_class(self, hint: Hint) -> Form:
        if hint.name == "builtins.object":
            return self.anything
        family = self._family(hint.name)
        return partial(
            self._object, self.builder(hint), self.results.providers(hint), members(family), instances(family)
        )

    def _object(
        self,
        build: Build,
        providers: Providers,
        members: tuple[Name, ...],
        instances: tuple[Name, ...],
        draft: Draft,
        rng: Chance,
        depth: int,
    ) -> Expression:
        random = rng.random
        found = draft.result(providers.ids, rng) if random() < self.rates.object_reuse else -1
        if found >= 0:
            return Ref(found)
        if members:
            return members[int(random() * len(members))]
        if instances and random() < 0.3:
            return instances[int(random() * len(instances))]
        found = build(draft, rng, depth + 1) if depth < self.rates.max_depth else -1
        if found < 0 and instances:
            return instances[int(random() * len(instances))]
        if found < 0:
            found = draft.result(providers.ids, rng)
        if found < 0 and providers.operations and (depth < self.rates.max_depth or providers.build_alone()):
            raise NoRoom
        return Ref(found) if found >= 0 else self.anything(draft, rng, depth + 1)

    def _family(self, name: str) -> tuple[Class, ...]:
        """Return the class and its known subclasses, in the order of the subject's classes."""
        return tuple(one for one in self.subject.classes.values() if one.name == name or name in one.bases)

    # Kinds, where there is no hint

    def _form_of_kind(self, kind: str) -> Form:
        if kind in _LITERAL_KINDS:
            return self.of(Hint(kind))
        if kind == "result":
            return self._any_result
        if kind == "object":
            return self._own_object
        if kind in ("callable", "class", "dict"):
            return self.of(Hint("type" if kind == "class" else kind))
        return partial(self._collection, _COLLECTIONS[kind], None)

    def _any_result(self, draft: Draft, rng: Chance, depth: int) -> Expression:
        position = int(rng.random() * len(draft))
        if not draft or draft[position].operation in self.results.unstable:
            return self._kinds["int"](draft, rng, depth)
        return Ref(position)

    def _own_object(self, draft: Draft, rng: Chance, depth: int) -> Expression:
        if not self._own or depth >= self.rates.max_depth:
            return self._kinds["str"](draft, rng, depth)
        return self._own[int(rng.random() * len(self._own))](draft, rng, depth)

    _MAKERS: dict[str, Callable[[Forms, Hint], Form]] = {  # noqa: RUF012 - never changed
        "any": _of_any,
        "union": _of_union,
        "literal": _of_literal,
        "class": _of_class,
        "list": _of_elements,
        "set": _of_elements,
        "frozenset": _of_elements,
        "iterator": _of_elements,
        "iterable": _of_iterable,
        "sequence": _of_iterable,
        "dict": _of_mapping,
        "mapping": _of_mapping,
        "tuple": _of_tuple,
        "callable": _of_callable,
        "type": _of_type,
        "protocol": _of_protocol,
    }


def _has_lambda(expression: Expression) -> bool:
    if isinstance(expression, Collection):
        return any(_has_lambda(item) for item in expression.items)
    return isinstance(expression, Lambda)
