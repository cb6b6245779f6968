"""Values: an expression for a hint.

What can be written down (constants, containers, functions, classes, enum members) is written down. Objects are results
of earlier statements: an existing one is used again if there is one, otherwise statements that build one are appended
to the draft first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

from fitgym.subject.hints import ANY, Hint
from fitgym.subject.patterns import Chance
from fitgym.subject.subject import Class, Operation, Parameter, Subject
from fitgym.testcase.draft import Draft
from fitgym.testcase.expression import Collection, CollectionKind, Expression, Lambda, Literal, Name, Ref
from fitgym.testcase.knowledge import ANY_KINDS, Knowledge, is_large
from fitgym.testcase.literals import Literals, canonical, kind_of_text
from fitgym.testcase.rates import Rates
from fitgym.testcase.subtyping import attributes, fits, simple_kind

__all__ = ["Make", "Values"]

Make = Callable[[Hint, Draft, Chance, int], Ref | None]
"""Appends statements that build an object for a hint and refers to the last one; None if that cannot be done."""

_SIZES = (0.15, 0.4, 0.65, 0.88, 1.0)  # cumulative: containers of 0 to 4 elements
_AS_ITERATOR = 0.1
_UNLIKELY = 0.6  # how often "or anything" is passed over at the end of a union: the other parts were asked for
_UNKNOWN_KINDS = list(ANY_KINDS)
_UNKNOWN_WEIGHTS = list(accumulate(ANY_KINDS.values()))
_ELEMENT_KINDS = ("int", "int", "int", "str", "str", "str", "float", "bool", "none", "tuple", "list", "dict")
_FLAT_KINDS = 9  # of them; deeper than two levels containers of unknown elements hold no further containers
# Not here: `pow`, whose result can be too large for any limit, and `repr`, which doubles its text when it is repeated.
_FUNCTIONS = {
    0: ("dict", "list", "int", "str"),
    1: ("str", "int", "len", "abs", "bool", "list", "float", "sorted", "sum", "tuple", "set"),
    2: ("max", "min", "divmod", "isinstance"),
    3: ("max", "min"),
}
_CLASSES = ("int", "str", "float", "list", "dict", "tuple", "bool", "bytes", "set", "object", "ValueError", "Exception")
# One public class of the standard library for each kind that code may ask about.
_KINDS_OF_CLASS = (
    Name("pstats", "FunctionProfile"),  # a dataclass
    Name("pstats", "StatsProfile"),  # one with containers of others
    Name("uuid", "SafeUUID"),  # an enum
    Name("inspect", "ArgInfo"),  # a named tuple
    Name("numbers", "Number"),  # abstract
    Name("collections", "OrderedDict"),  # a subclass of a builtin
)
_OTHER_CLASS = 0.25
_ERRORS = ("ValueError", "TypeError", "KeyError", "IndexError", "RuntimeError", "OSError", "StopIteration", "Exception")


class Values:
    """Expressions for the parameters of one subject's operations.

    Args:
        subject: whose operations.
        knowledge: what was learnt about them.
        literals: where constants come from.
        make: how objects are built.
        rates: how often arguments are unusual, repeated or None, and how deep they nest.
    """

    def __init__(
        self,
        subject: Subject,
        knowledge: Knowledge,
        literals: Literals,
        make: Make,
        rates: Rates,
    ) -> None:
        self.subject = subject
        self.knowledge = knowledge
        self.literals = literals
        self.make = make
        self.rates = rates
        tested = {operation.owner for operation in subject.operations if operation.under_test}
        self._own = [
            Hint("class", known.name)
            for known in subject.classes.values()
            if (known.name in tested or known.module == subject.reference.module) and not known.demands
        ]
        self._callables = [
            operation
            for operation in subject.operations
            if operation.kind in ("function", "static_method", "constructor") and operation.drive == ""
        ]
        self._providers: dict[Hint, frozenset[int]] = {}
        # A hash may come from an address, another one in every process, so nothing is made from it.
        self._unstable = frozenset(one.id for one in subject.operations if one.operator == "__hash__")
        self._version = knowledge.version
        self._protocols: dict[Hint, tuple[Hint, ...]] = {}
        self._subclasses: dict[str, tuple[Class, ...]] = {}

    # What a parameter gets

    def argument(self, operation: Operation, parameter: Parameter, draft: Draft, rng: Chance, depth: int) -> Expression:
        """An argument for a parameter: as annotated, as demanded at run time, or what has worked so far."""
        return self.tamed(operation, self._argument(operation, parameter, draft, rng, depth), rng)

    def tamed(self, operation: Operation, argument: Expression, rng: Chance) -> Expression:
        """The argument, mostly without large numbers where those have hit a limit before."""
        if self.knowledge.is_costly(operation.id) and is_large(argument) and rng.random() < 0.95:
            return Literal(str(int(rng.random() * 100)))
        return argument

    def _argument(
        self, operation: Operation, parameter: Parameter, draft: Draft, rng: Chance, depth: int
    ) -> Expression:
        hint = parameter.hint
        if operation.under_test and rng.random() < self.rates.accepted_rate:
            accepted = self.knowledge.accepted(parameter, rng)
            if accepted is not None:
                return accepted if rng.random() < 0.5 else self.changed(accepted, hint, draft, rng, depth)
        if hint.kind == "any":
            demanded = self.knowledge.demanded(operation.id, parameter.name)
            if demanded is not None and rng.random() < self.rates.trust:
                return self._as_iterator(self.of(demanded, draft, rng, depth), rng)
            weights, kinds = self.knowledge.mixture(operation.id, parameter.name)
            return self._of_kind(kinds[bisect_right(weights, rng.random())], draft, rng, depth)
        if operation.under_test and rng.random() < self.rates.ill_typed:
            return Literal("None") if rng.random() < self.rates.null_probability else self.anything(draft, rng, depth)
        value = self.of(hint, draft, rng, depth)
        if not parameter.declared:
            value = self._as_iterator(value, rng)
        return value

    def _as_iterator(self, value: Expression, rng: Chance) -> Expression:
        """Now and then an iterator over a list: code that goes over one may treat it differently, and no demand can tell."""
        if isinstance(value, Collection) and value.kind == "list" and rng.random() < _AS_ITERATOR:
            return Collection("iter", value.items)
        return value

    def anything(self, draft: Draft, rng: Chance, depth: int) -> Expression:
        """Any value at all."""
        kind = _UNKNOWN_KINDS[min(bisect_right(_UNKNOWN_WEIGHTS, rng.random()), len(_UNKNOWN_KINDS) - 1)]
        return self._of_kind(kind, draft, rng, depth)

    def of(self, hint: Hint, draft: Draft, rng: Chance, depth: int) -> Expression:
        """A value that `hint` describes; anything if there is no way to make one.

        Args:
            hint: what is wanted.
            draft: what may be referred to; statements that build objects are appended to it.
            rng: source of chance.
            depth: nesting so far, from 0.
        """
        kind = simple_kind(hint)
        if kind in self._LITERAL_KINDS:
            return self._literal(kind, draft, rng, depth)
        form = self._FORMS.get(kind)
        return self.anything(draft, rng, depth + 1) if form is None else form(self, hint, draft, rng, depth)

    def providers(self, hint: Hint) -> frozenset[int]:
        """Ids of the operations whose result can be used where `hint` is asked for."""
        if self._version != self.knowledge.version:
            self._version = self.knowledge.version
            self._providers.clear()
        found = self._providers.get(hint)
        if found is None:
            found = self._providers[hint] = frozenset(
                operation.id
                for operation in self.subject.operations
                if operation.kind != "setter"
                and operation.id not in self._unstable
                and fits(self.knowledge.returns(operation.id), hint, self.subject.classes)
            )
        return found

    def existing(self, hint: Hint, draft: Draft, rng: Chance) -> Ref | None:
        """A result of the draft that can be used where `hint` is asked for, chosen uniformly; None if there is none."""
        positions = draft.results(self.providers(hint)) if draft.statements else None
        return Ref(positions[int(rng.random() * len(positions))]) if positions else None

    # What a change makes of it

    def changed(self, expression: Expression, hint: Hint, draft: Draft, rng: Chance, depth: int = 0) -> Expression:
        """A value like `expression` but a little different, for a place that asks for `hint`.

        Constants move by a step, containers lose, gain or change one element, references point elsewhere; what has no
        neighbours is drawn anew.
        """
        if isinstance(expression, Literal):
            if hint.kind == "literal" or expression.text in ("None", "..."):
                return self._anew(hint, draft, rng, depth)
            return Literal(self.literals.perturbed(expression.text, rng))
        if isinstance(expression, Collection):
            return self._changed_collection(expression, hint, draft, rng, depth)
        if isinstance(expression, Ref) and expression.position >= 0 and draft.statements:
            alike = self.providers(self.knowledge.returns(draft.statements[expression.position].operation))
            others = [position for position in draft.results(alike) if position != expression.position]
            if others and rng.random() < 0.7:
                return Ref(others[int(rng.random() * len(others))])
        if isinstance(expression, Lambda) and isinstance(expression.body, Literal) and rng.random() < 0.5:
            body = self.changed(expression.body, hint.args[-1] if hint.args else ANY, draft, rng, depth + 1)
            if isinstance(body, Literal):
                return Lambda(expression.arity, body)
        return self._anew(hint, draft, rng, depth)

    def _anew(self, hint: Hint, draft: Draft, rng: Chance, depth: int) -> Expression:
        return self.anything(draft, rng, depth) if hint.kind == "any" else self.of(hint, draft, rng, depth)

    def _changed_collection(
        self, expression: Collection, hint: Hint, draft: Draft, rng: Chance, depth: int
    ) -> Expression:
        random = rng.random
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
            if not (hashed or (kind == "dict" and place % 2 == 0)) or self._hashable(new, draft):
                items[place] = new
        elif items and where < 0.75:
            place = int(random() * (len(items) // step)) * step
            del items[place : place + step]
        else:
            place = int(random() * (len(items) // step + 1)) * step
            key = keys[0] if keys else ANY
            like = items[int(random() * (len(items) // step)) * step] if items and random() < 0.5 else None
            first = self.changed(like, key, draft, rng, depth + 1) if like else self.of(key, draft, rng, depth + 1)
            if (hashed or kind == "dict") and not self._hashable(first, draft):
                first = Literal(self.literals.of_kind("str", rng))
            items[place:place] = [first] if values is None else [first, self.of(values, draft, rng, depth + 1)]
        if hashed:
            items = _distinct(items)
        elif kind == "dict" and len(_distinct(items[::2])) < len(items) // 2:
            return expression
        return Collection(kind, tuple(items))

    # Constants

    def _literal(self, kind: str, draft: Draft, rng: Chance, depth: int) -> Expression:
        if depth == 0 and draft.statements and rng.random() < self.rates.primitive_reuse:
            again = self._repeated(kind, draft, rng)
            if again is not None:
                return again
        return Literal(self.literals.of_kind(kind, rng))

    def _repeated(self, kind: str, draft: Draft, rng: Chance) -> Expression | None:
        """A constant or result of the wanted kind from one statement of the draft, if that one has any."""
        position = int(rng.random() * len(draft.statements))
        statement = draft.statements[position]
        if statement.operation in self._unstable:
            return None
        if simple_kind(self.knowledge.returns(statement.operation)) == kind:
            return Ref(position)
        for argument in statement.args:
            if isinstance(argument, Literal) and kind_of_text(argument.text) == kind:
                return argument
        return None

    def _of_literal(self, hint: Hint, draft: Draft, rng: Chance, depth: int) -> Expression:
        text = canonical(hint.texts[int(rng.random() * len(hint.texts))]) if hint.texts else None
        return Literal(text) if text is not None else self.anything(draft, rng, depth + 1)

    # Compound hints

    def _of_any(self, hint: Hint, draft: Draft, rng: Chance, depth: int) -> Expression:
        return self.anything(draft, rng, depth)

    def _of_union(self, hint: Hint, draft: Draft, rng: Chance, depth: int) -> Expression:
        parts = [part for part in hint.args if simple_kind(part) != "none"]
        if len(parts) < len(hint.args) and (not parts or rng.random() < self.rates.null_probability):
            return Literal("None")
        if not parts:
            return self.anything(draft, rng, depth + 1)
        if parts[-1].kind == "any" and len(parts) > 1 and rng.random() < _UNLIKELY:
            parts = parts[:-1]
        return self.of(parts[int(rng.random() * len(parts))], draft, rng, depth)

    def _of_iterable(self, hint: Hint, draft: Draft, rng: Chance, depth: int) -> Expression:
        element = hint.args[0] if hint.args else ANY
        textual = element.kind == "any" or element.name == "builtins.str"
        where = rng.random()
        if textual and where < 0.15:
            return self._literal("str", draft, rng, depth)
        kind: CollectionKind
        if simple_kind(hint) == "sequence":
            kind = "list" if where < 0.75 else "tuple"
        else:
            kind = "list" if where < 0.6 else "tuple" if where < 0.75 else "iter" if where < 0.9 else "set"
        return self._collection(kind, element, draft, rng, depth)

    def _of_elements(self, hint: Hint, draft: Draft, rng: Chance, depth: int) -> Expression:
        kind = simple_kind(hint)
        kinds: dict[str, CollectionKind] = {"list": "list", "set": "set", "frozenset": "frozenset", "iterator": "iter"}
        return self._collection(kinds[kind], hint.args[0] if hint.args else ANY, draft, rng, depth)

    def _of_mapping(self, hint: Hint, draft: Draft, rng: Chance, depth: int) -> Expression:
        key, value = hint.args if len(hint.args) == 2 else (ANY, ANY)
        size = bisect_right(_SIZES, rng.random()) if depth < self.rates.max_depth else 0
        keys = _distinct(self._items(key, size, draft, rng, depth, hashed=True))
        values = self._items(value, len(keys), draft, rng, depth, hashed=False)
        return Collection("dict", tuple(part for pair in zip(keys, values, strict=True) for part in pair))

    def _of_tuple(self, hint: Hint, draft: Draft, rng: Chance, depth: int) -> Expression:
        if not hint.args or (len(hint.args) == 2 and hint.args[1].kind == "ellipsis"):
            return self._collection("tuple", hint.args[0] if hint.args else ANY, draft, rng, depth)
        return Collection("tuple", tuple(self.of(part, draft, rng, depth + 1) for part in hint.args))

    def _collection(self, kind: CollectionKind, element: Hint, draft: Draft, rng: Chance, depth: int) -> Collection:
        size = bisect_right(_SIZES, rng.random()) if depth < self.rates.max_depth else 0
        hashed = kind in ("set", "frozenset")
        items = self._items(element, size, draft, rng, depth, hashed=hashed)
        return Collection(kind, tuple(_distinct(items) if hashed else items))

    def _items(
        self, element: Hint, size: int, draft: Draft, rng: Chance, depth: int, *, hashed: bool
    ) -> list[Expression]:
        """Elements of a container: where nothing is known of them, most containers get elements of one kind."""
        kind = ""
        if element.kind == "any" and size and (depth > 0 or rng.random() < 0.8):
            kind = _ELEMENT_KINDS[int(rng.random() * (len(_ELEMENT_KINDS) if depth < 2 else _FLAT_KINDS))]
        items: list[Expression] = []
        for _ in range(size):
            if items and not hashed and rng.random() < self.rates.repeat_items:
                items.append(items[int(rng.random() * len(items))])
                continue
            item = self._of_kind(kind, draft, rng, depth + 1) if kind else self.of(element, draft, rng, depth + 1)
            if hashed and not self._hashable(item, draft):
                item = Literal(self.literals.of_kind("str" if rng.random() < 0.6 else "int", rng))
            items.append(item)
        return items

    def _hashable(self, expression: Expression, draft: Draft) -> bool:
        if isinstance(expression, Collection):
            return expression.kind in ("tuple", "frozenset") and all(
                self._hashable(item, draft) for item in expression.items
            )
        if isinstance(expression, Ref):
            if not 0 <= expression.position < len(draft.statements):
                return False
            returned = simple_kind(self.knowledge.returns(draft.statements[expression.position].operation))
            return returned in ("class", "int", "str", "float", "bool", "bytes", "complex")
        return True

    # Functions and classes

    def _of_callable(self, hint: Hint, draft: Draft, rng: Chance, depth: int) -> Expression:
        random = rng.random
        result = hint.args[-1] if hint.args else ANY
        given = hint.args[:-1]
        if not hint.args or (given and given[0].kind == "ellipsis"):
            given = ()
            where = random()
            arity = -1 if where < 0.4 else 1 if where < 0.8 else 2
        else:
            arity = len(given)
        where = random()
        if where < 0.25 and arity in _FUNCTIONS:
            names = _FUNCTIONS[arity]
            return Name("builtins", names[int(random() * len(names))])
        if where < 0.4:
            fitting = [operation for operation in self._callables if _takes(operation, max(arity, 1))]
            if fitting:
                chosen = fitting[int(random() * len(fitting))]
                return Name(chosen.module, chosen.name)
        same = [
            place
            for place in range(max(arity, 0))
            if result.kind == "any" or (place < len(given) and fits(given[place], result, self.subject.classes))
        ]
        if same and random() < 0.5:
            return Lambda(arity, Ref(-1 - same[int(random() * len(same))]))
        if result.kind == "any" or depth >= self.rates.max_depth:
            return Lambda(arity, Literal(self.literals.of_kind(("int", "str", "bool", "none")[int(random() * 4)], rng)))
        body = self.of(result, draft, rng, depth + 1)
        return Name("builtins", "str") if _has_lambda(body) else Lambda(arity, body)

    def _of_type(self, hint: Hint, draft: Draft, rng: Chance, depth: int) -> Expression:
        wanted = hint.args[0] if hint.args else ANY
        if wanted.kind == "union" and wanted.args:
            wanted = wanted.args[int(rng.random() * len(wanted.args))]
        if wanted.kind == "class" and wanted.name != "builtins.object":
            family = self._family(wanted.name)
            module, _, name = wanted.name.rpartition(".")
            if name in ("Exception", "BaseException") and module == "builtins" and rng.random() < 0.7:
                return Name("builtins", _ERRORS[int(rng.random() * len(_ERRORS))])
            if family:
                chosen = family[int(rng.random() * len(family))]
                return Name(chosen.module, chosen.qualname)
            if module == "builtins":
                return Name("builtins", name)
            return self.anything(draft, rng, depth + 1)
        if self._own and rng.random() < 0.5:
            own = self.subject.classes[self._own[int(rng.random() * len(self._own))].name]
            return Name(own.module, own.qualname)
        if rng.random() < _OTHER_CLASS:
            return _KINDS_OF_CLASS[int(rng.random() * len(_KINDS_OF_CLASS))]
        return Name("builtins", _CLASSES[int(rng.random() * len(_CLASSES))])

    def _of_protocol(self, hint: Hint, draft: Draft, rng: Chance, depth: int) -> Expression:
        options = self._protocols.get(hint)
        if options is None:
            options = self._protocols[hint] = self._satisfying(hint)
        if not options:
            return self.anything(draft, rng, depth + 1)
        return self.of(options[int(rng.random() * len(options))], draft, rng, depth)

    def _satisfying(self, hint: Hint) -> tuple[Hint, ...]:
        """Hints of values that have the attributes a protocol demands."""
        known = self.subject.classes.get(hint.name)
        demands = set(known.demands if known else hint.texts)
        kinds = ("str", "int", "list", "dict", "tuple", "float", "bytes", "set", "iterator", "callable")
        simple = [Hint("class", f"builtins.{kind}") for kind in kinds if kind in self._LITERAL_KINDS]
        simple += [Hint(kind) for kind in kinds if kind not in self._LITERAL_KINDS]
        found = [option for option in simple if demands <= attributes(simple_kind(option))]
        members: dict[str, set[str]] = {}
        for operation in self.subject.operations:
            if operation.owner:
                members.setdefault(operation.owner, set()).add(operation.name.rpartition(".")[2])
        for name, one in self.subject.classes.items():
            inherited = {member for base in one.bases or (name,) for member in members.get(base, ())}
            if not one.demands and (hint.name in one.bases or (demands and demands <= inherited)):
                found.append(Hint("class", name))
        return tuple(found)

    # Objects

    def _of_class(self, hint: Hint, draft: Draft, rng: Chance, depth: int) -> Expression:
        random = rng.random
        if hint.name == "builtins.object":
            return self.anything(draft, rng, depth)
        old = self.existing(hint, draft, rng) if random() < self.rates.object_reuse else None
        if old is not None:
            return old
        family = self._family(hint.name)
        if family:
            members = [Name(one.module, f"{one.qualname}.{member}") for one in family for member in one.members]
            if members:
                return members[int(random() * len(members))]
            instances = [path for one in family for path in one.instances]
            if instances and random() < 0.3:
                module, _, qualname = instances[int(random() * len(instances))].partition(":")
                return Name(module, qualname)
        else:
            instances = []
        new = self.make(hint, draft, rng, depth + 1) if depth < self.rates.max_depth else None
        if new is not None:
            return new
        if instances:
            module, _, qualname = instances[int(random() * len(instances))].partition(":")
            return Name(module, qualname)
        old = self.existing(hint, draft, rng)
        return old if old is not None else self.anything(draft, rng, depth + 1)

    def _family(self, name: str) -> tuple[Class, ...]:
        """The class and its known subclasses, in the order in which the subject names them."""
        found = self._subclasses.get(name)
        if found is None:
            found = self._subclasses[name] = tuple(
                one for one in self.subject.classes.values() if one.name == name or name in one.bases
            )
        return found

    def _of_kind(self, kind: str, draft: Draft, rng: Chance, depth: int) -> Expression:
        """A value of one of the kinds that `ANY_KINDS` lists."""
        if kind in self._LITERAL_KINDS:
            return self._literal(kind, draft, rng, depth)
        if kind == "result":
            position = int(rng.random() * len(draft.statements))
            if not draft.statements or draft.statements[position].operation in self._unstable:
                return self._literal("int", draft, rng, depth)
            return Ref(position)
        if kind == "object":
            if not self._own or depth >= self.rates.max_depth:
                return self._literal("str", draft, rng, depth)
            return self._of_class(self._own[int(rng.random() * len(self._own))], draft, rng, depth)
        if kind == "callable":
            return self._of_callable(Hint("callable"), draft, rng, depth)
        if kind == "class":
            return self._of_type(Hint("type"), draft, rng, depth)
        if kind == "dict":
            return self._of_mapping(Hint("dict"), draft, rng, depth)
        kinds: dict[str, CollectionKind] = {"list": "list", "tuple": "tuple", "set": "set", "iter": "iter"}
        return self._collection(kinds[kind], ANY, draft, rng, depth)

    _LITERAL_KINDS = frozenset(("none", "bool", "int", "float", "complex", "str", "bytes", "ellipsis"))
    _FORMS: dict[str, Callable[[Values, Hint, Draft, Chance, int], Expression]] = {  # noqa: RUF012 - never changed
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


def _takes(operation: Operation, count: int) -> bool:
    """Whether the operation can be called with `count` positional arguments."""
    least = most = 0
    for parameter in operation.parameters:
        if parameter.kind in ("positional_only", "positional_or_keyword"):
            most += 1
            least += parameter.required
        elif parameter.kind == "var_positional":
            most = count
        elif parameter.kind == "keyword_only" and parameter.required:
            return False
    return least <= count <= most


def _has_lambda(expression: Expression) -> bool:
    if isinstance(expression, Collection):
        return any(_has_lambda(item) for item in expression.items)
    return isinstance(expression, Lambda)


def _distinct(items: Sequence[Expression]) -> list[Expression]:
    """The items without those that a set would drop: 1, 1.0 and True are equal there."""
    found: dict[object, Expression] = {}
    for item in items:
        key: object = item
        if isinstance(item, Literal) and kind_of_text(item.text) in ("bool", "int", "float"):
            key = _number(item.text)
        found.setdefault(key, item)
    return list(found.values())


def _number(text: str) -> float:
    """The number that a literal stands for."""
    if text.startswith("float("):
        return float(text[7:-2])
    if text in ("True", "False"):
        return float(text == "True")
    return int(text) if text.lstrip("-").isdigit() else float(text)


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
