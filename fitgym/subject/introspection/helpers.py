"""Helpers: operations that are not under test, but build arguments for operations under test."""

from __future__ import annotations

import contextlib
import enum
import inspect
import sys
import types
from collections import deque
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace

from fitgym.subject.introspection.callables import unwrapped
from fitgym.subject.introspection.catalogue import Catalogue
from fitgym.subject.introspection.factories import Factories, is_factory_name
from fitgym.subject.introspection.hooks import with_hooks
from fitgym.subject.introspection.names import find_class
from fitgym.subject.introspection.parameters import Parameters
from fitgym.subject.introspection.recipes import (
    CONCRETE,
    RECIPES,
    Recipe,
    clock_setter,
    command_line_setter,
    input_setter,
    variable_setter,
)
from fitgym.subject.introspection.special import CHANGING, is_special
from fitgym.subject.mentions import Mentions
from fitgym.subject.subject import Drive, OperationKind, Parameter
from fitgym.subject.types.hints import ANY, ELLIPSIS, NAMESPACES, NONE, Hint, choices, is_protocol, name_of
from fitgym.subject.types.protocols import demanded, has

__all__ = ["Helpers"]

_MOST_CLASSES = 200
_MOST_SUBCLASSES = 12  # of one class: those whose constructors need the fewest arguments
_MOST_METHODS = 12  # of one class whose objects are only used as arguments
_MOST_OPERATIONS = 400
_MOST_DOUBLED = 6  # attributes of a protocol; a double with more of them would not be a plain object
_DEEPEST = 3
_MOST_MENTIONED = 80  # further operations that examples use
_MOST_FACTORIES = 6  # functions and methods elsewhere that build objects of one class

_LITERAL_CLASSES = frozenset(
    f"builtins.{name}"
    for name in [
        "int",
        "str",
        "float",
        "bool",
        "bytes",
        "complex",
        "list",
        "dict",
        "set",
        "frozenset",
        "tuple",
        "type",
        "NoneType",
        "ellipsis",
        "function",
    ]
)
"""Classes whose objects are written as literals or displays."""


class Helpers:
    """Adds operations that build objects of the classes in parameter hints.

    Args:
        package: of the module under test.
        catalogue: receives the helpers.
        parameters: of the module.
    """

    def __init__(self, package: str, catalogue: Catalogue, parameters: Parameters) -> None:
        self._package = package
        self._catalogue = catalogue
        self._parameters = parameters
        self._factories = Factories(package)
        self._built: set[str] = set()

    def add(self) -> None:
        """Add helpers, breadth first, until no type is wanted or a limit is reached."""
        catalogue = self._catalogue
        while (
            catalogue.wanted and len(catalogue.classes) < _MOST_CLASSES and len(catalogue.operations) < _MOST_OPERATIONS
        ):
            hint, depth = catalogue.wanted.popleft()
            for name in _names_in(hint):
                if name not in self._built:
                    self._built.add(name)
                    self._build(name, depth)
            for namespace in _namespaces_in(hint):
                self._namespace(namespace, depth)

    def add_variables(self, names: Sequence[str]) -> None:
        """Add the operation that sets these environment variables."""
        self._recipe(variable_setter(names), "", NONE, 0)

    def add_clock(self, kinds: Iterable[str]) -> None:
        """Add the operation that stops the clock: of `time`, of `datetime`, or of both."""
        setter = clock_setter(kinds)
        parameters = [
            Parameter(name, "keyword_only" if at else "positional_only", hint, declared=True)
            for at, (name, hint, _) in enumerate(setter.parameters)
        ]
        self._helper("function", setter.module, setter.name, "", tuple(parameters), NONE, 0)

    def add_command_lines(self, lines: Sequence[tuple[Hint, ...]]) -> None:
        """Add the operation that sets one of these command lines."""
        self._recipe(command_line_setter(lines), "", NONE, 0)
        self.add()

    def add_input(self) -> None:
        """Add the operation that sets the text of the standard input."""
        self._recipe(input_setter(), "", NONE, 0)

    def add_mentioned(self, mentioned: Mentions) -> None:
        """Add the operations that examples of the package use and the catalogue lacks.

        They are functions, classes and methods of the package, and objects of the standard library that have a recipe.
        The added operations have `Operation.exampled` set.
        """
        operations = self._catalogue.operations
        before = len(operations)
        known = {(one.module, one.name) for one in operations}
        methods = frozenset(mentioned.members)
        for path in mentioned.paths:
            if len(operations) - before >= _MOST_MENTIONED:
                break
            with contextlib.suppress(Exception):  # an object of the package that fails when it is inspected
                self._mentioned(path, known)
        self.add()
        for key, cls in list(self._catalogue.classes.items()):
            if str(cls.__module__).partition(".")[0] == self._package and len(operations) - before < _MOST_MENTIONED:
                with contextlib.suppress(Exception):
                    module, qualname = self._catalogue.home(cls)
                    self._methods(cls, module, qualname, key, methods)
        self.add()
        operations[before:] = [replace(one, exampled=True) for one in operations[before:]]

    def _mentioned(self, path: str, known: set[tuple[str, str]]) -> None:
        module_name, _, name = path.rpartition(".")
        module = sys.modules.get(module_name)
        value = None if module is None else vars(module).get(name)
        if isinstance(value, type):
            key = name_of(value)
            if key in RECIPES or str(value.__module__).partition(".")[0] == self._package:
                self._catalogue.wanted.append((Hint("class", self._catalogue.register(value)), 1))
        elif module_name.partition(".")[0] == self._package and callable(value) and not name.startswith("_"):
            if (module_name, name) in known or (getattr(value, "__module__", ""), name) in known:
                return
            known.add((module_name, name))
            parameters = self._parameters.foreign(value, module_name, name, None)
            if parameters is not None:
                returns = self._parameters.returned(unwrapped(value), None)
                self._helper("function", module_name, name, "", parameters, returns, 1)

    def _methods(self, cls: type, module: str, qualname: str, key: str, wanted: Container[str]) -> None:
        """Add methods of a class of the package that examples call, unless the class or a base already has them."""
        bases = {name_of(base) for base in cls.__mro__}
        there = {one.name.rpartition(".")[2] for one in self._catalogue.operations if one.owner in bases}
        for base in cls.__mro__:
            for member, raw in list(vars(base).items()):
                if member not in wanted or member in there or member.startswith("_"):
                    continue
                there.add(member)
                if isinstance(raw, types.FunctionType):
                    found = self._parameters.foreign(raw, module, f"{qualname}.{member}", cls, bound=True)
                    if found is not None:
                        self._helper("method", module, f"{qualname}.{member}", key, found, ANY, 2)

    def _build(self, name: str, depth: int) -> None:
        name = CONCRETE.get(name, name)
        cls = self._catalogue.classes.get(name) or find_class(name)
        if cls is None and name in RECIPES:  # no class, but something that a recipe makes, such as the text of a path
            self._recipes(name, depth)
        if cls is None or name in _LITERAL_CLASSES:
            return
        self._catalogue.classes.setdefault(name, cls)
        if name in CONCRETE.values():
            self._built.add(name)
        if name in RECIPES:
            self._recipes(name, depth)
            return
        if ("constructor", name) not in self._catalogue.done and depth <= _DEEPEST:
            self._catalogue.done.add(("constructor", name))
            self._constructor_of(cls, name, depth)
            if depth < _DEEPEST and str(cls.__module__).partition(".")[0] == self._package:
                self._factories_of(cls, name, depth, only_parsers=not self._is_hard_to_build(cls, name))
        if is_protocol(cls):
            self._satisfying(cls, name, depth)
        elif str(cls.__module__).partition(".")[0] == self._package or inspect.isabstract(cls):
            subclasses = [sub for sub in _subclasses(cls) if str(sub.__module__).partition(".")[0] == self._package]
            for sub in sorted(subclasses, key=_required)[:_MOST_SUBCLASSES]:
                self._catalogue.wanted.append((Hint("class", self._catalogue.register(sub)), depth + 1))

    def _namespace(self, hint: Hint, depth: int) -> None:
        """Add the constructor of a plain holder of attributes, called with the used attributes."""
        done = ("namespace", repr(hint))
        if done in self._catalogue.done or depth > _DEEPEST:
            return
        self._catalogue.done.add(done)
        module, _, name = hint.name.rpartition(".")
        cls = find_class(hint.name)
        assert cls is not None
        self._catalogue.classes.setdefault(hint.name, cls)
        parameters = tuple(
            Parameter(attribute, "keyword_only", part, required=True)
            for attribute, part in zip(hint.texts, hint.args, strict=True)
        )
        self._helper("constructor", module, name, hint.name, parameters, hint, depth)

    def _recipes(self, name: str, depth: int) -> None:
        for recipe in RECIPES[name]:
            owner = name if recipe.kind != "function" else ""
            self._recipe(recipe, owner, NONE if recipe.kind == "method" else Hint("class", name), depth)

    def _recipe(self, recipe: Recipe, owner: str, returns: Hint, depth: int) -> None:
        parameters = tuple(
            Parameter(name, "positional_only", hint, required, declared=True)
            for name, hint, required in recipe.parameters
        )
        self._helper(recipe.kind, recipe.module, recipe.name, owner, parameters, returns, depth)

    def _constructor_of(self, cls: type, name: str, depth: int) -> None:
        """Add the constructor and the class-method factories of a class that is not under test."""
        module, qualname = self._catalogue.home(cls)
        if "<locals>" in qualname or is_protocol(cls):
            return
        hooks: tuple[Parameter, ...] = ()
        if inspect.isabstract(cls):
            own = str(cls.__module__).partition(".")[0] == self._package
            hooks = tuple(self._parameters.hooks(cls)) if own else ()
            if not hooks:
                return
        if issubclass(cls, enum.Enum):
            return  # members are referenced by name, not built
        returns = Hint("class", name)
        if issubclass(cls, BaseException) and cls.__module__ == "builtins":
            text = Parameter("message", "positional_only", Hint("class", "builtins.str"), False)
            self._helper("constructor", module, qualname, name, (text,), returns, depth)
            return
        parameters = self._parameters.foreign(cls, module, qualname, cls)
        if parameters is not None:
            self._helper("constructor", module, qualname, name, with_hooks(parameters, hooks), returns, depth)
        if module.partition(".")[0] in sys.stdlib_module_names:
            return
        for member, raw in list(vars(cls).items()):
            if isinstance(raw, classmethod) and not member.startswith("_"):
                result = self._parameters.returned(raw.__func__, cls)
                found = self._parameters.foreign(raw.__func__, module, f"{qualname}.{member}", cls, bound=True)
                built = result == returns or (result.kind == "any" and is_factory_name(member))
                if built and found is not None:
                    self._helper("class_method", module, f"{qualname}.{member}", name, found, returns, depth)
        if depth <= 1 and str(cls.__module__).partition(".")[0] == self._package:
            self._changing_methods(cls, depth)

    def _is_hard_to_build(self, cls: type, name: str) -> bool:
        """The constructor of the class is unknown or needs more than constants."""
        if issubclass(cls, enum.Enum):
            return False
        known = [one for one in self._catalogue.operations if one.kind == "constructor" and one.owner == name]
        return not known or any(
            parameter.required and not all(map(_is_plain, choices(parameter.hint))) for parameter in known[0].parameters
        )

    def _factories_of(self, cls: type, name: str, depth: int, *, only_parsers: bool) -> None:
        """Add functions and methods of other modules of the package that are annotated to return the class.

        Args:
            cls, name: the class.
            depth: number of steps from the code under test.
            only_parsers: only functions named like factories that take a text: they fill an object that its constructor
                leaves empty.
        """
        operations = self._catalogue.operations
        known = {(one.module, one.name) for one in operations}
        before = len(operations)
        for factory in self._factories.mentioning(cls):
            if len(operations) - before >= _MOST_FACTORIES:
                break
            function, owner = factory.function, factory.owner
            if owner is not None and depth > 1:
                continue  # its owner would be another object to build
            if (factory.module, factory.name) in known or function.__module__ == self._parameters.module:
                continue
            if only_parsers and (owner is not None or not is_factory_name(factory.name)):
                continue
            drive, returns = _item(self._parameters.returned(function, owner))
            if {choice.name for choice in choices(returns) if choice != NONE} != {name}:
                continue
            found = self._parameters.foreign(function, factory.module, factory.name, owner, bound=owner is not None)
            if found is None or any(name in _names_in(parameter.hint) for parameter in found):
                continue  # it changes an object of the class instead of building one
            if only_parsers and not any(
                one.required and Hint("class", "builtins.str") in choices(one.hint) for one in found
            ):
                continue
            kind: OperationKind = "function" if owner is None else "method"
            key = "" if owner is None else self._catalogue.register(owner)
            self._helper(kind, factory.module, factory.name, key, found, Hint("class", name), depth + 1, drive)
            if owner is not None:
                self._catalogue.wanted.append((Hint("class", key), depth + 1))

    def _changing_methods(self, cls: type, depth: int) -> None:
        """Add public methods of a class of the package whose objects are arguments, and operators that change these.

        They bring the objects into states that no constructor creates. An inherited method is added once for all
        subclasses.
        """
        methods = {
            member: (base, raw)
            for base in reversed(cls.__mro__)
            if str(base.__module__).partition(".")[0] == self._package
            for member, raw in reversed(list(vars(base).items()))
            if isinstance(raw, types.FunctionType) and (member in CHANGING or not member.startswith("_"))
        }
        for member, (base, raw) in list(methods.items())[:_MOST_METHODS]:
            owner = self._catalogue.register(base)
            if (owner, member) in self._catalogue.done:
                continue
            self._catalogue.done.add((owner, member))
            module, qualname = self._catalogue.home(base)
            found = self._parameters.foreign(raw, module, f"{qualname}.{member}", base, bound=True)
            if found is not None:
                kind: OperationKind = "operator" if member in CHANGING else "method"
                self._helper(kind, module, f"{qualname}.{member}", owner, found, ANY, depth + 1)

    def _helper(
        self,
        kind: OperationKind,
        module: str,
        name: str,
        owner: str,
        parameters: tuple[Parameter, ...],
        returns: Hint,
        depth: int,
        drive: Drive = "",
    ) -> None:
        for parameter in parameters:
            if parameter.required or depth == 0:
                self._catalogue.wanted.append((parameter.hint, depth + 1))
        self._catalogue.add(kind, module, name, owner, parameters, returns, under_test=False, drive=drive)

    def _satisfying(self, protocol: type, name: str, depth: int) -> None:
        """Add the classes of the package that have all attributes required by a protocol, and a plain double of it."""
        wanted = demanded(protocol)
        self._catalogue.protocols.add(name)
        if not wanted:
            return
        if len(wanted) <= _MOST_DOUBLED and all(name.isidentifier() and not is_special(name) for name in wanted):
            parts = [self._parameters.attribute(protocol, attribute) for attribute in wanted]
            known = tuple(part for part in parts if part is not None)
            if len(known) == len(wanted):
                double = Hint("class", NAMESPACES[0], known, wanted)
                self._catalogue.doubles[name] = double
                self._namespace(double, depth)
        for module_name, module in list(sys.modules.items()):
            if module_name.partition(".")[0] != self._package or not isinstance(module, types.ModuleType):
                continue
            for value in list(vars(module).values()):
                with contextlib.suppress(Exception):
                    if (
                        isinstance(value, type)
                        and value.__module__ == module_name
                        and value is not protocol
                        and not is_protocol(value)
                        and all(has(value, attribute) for attribute in wanted)
                    ):
                        self._catalogue.wanted.append((Hint("class", self._catalogue.register(value)), depth + 1))


def _item(returns: Hint) -> tuple[Drive, Hint]:
    """Return how a test gets an object from a result, and its type: from a list or tuple it takes the first item."""
    listed = returns.kind in ("list", "sequence") or (returns.kind == "tuple" and returns.args[1:] == (ELLIPSIS,))
    return ("first", returns.args[0]) if listed and returns.args else ("", returns)


def _is_plain(hint: Hint) -> bool:
    """Values of the hint can be written without objects."""
    return hint.kind in ("none", "literal") or hint.name in _LITERAL_CLASSES


def _namespaces_in(hint: Hint) -> Iterator[Hint]:
    if hint.kind == "class" and hint.texts:
        yield hint
        return  # its parts are the hints of the constructor's parameters
    for part in hint.args:
        yield from _namespaces_in(part)


def _names_in(hint: Hint) -> Iterator[str]:
    if hint.kind == "class" and hint.texts:
        return
    if hint.kind in ("class", "protocol"):
        yield hint.name
    for part in hint.args:
        yield from _names_in(part)


def _required(cls: type) -> int:
    """Return the number of arguments that a class must be called with; many if its signature is unknown."""
    try:
        parameters = inspect.signature(cls).parameters.values()
    except Exception:  # a class with a metaclass or a signature of its own
        return _MOST_OPERATIONS
    return sum(one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in parameters)


def _subclasses(cls: type) -> list[type]:
    """Return all loaded subclasses, parents before children, in order of creation."""
    found: dict[type, None] = {}
    queue = deque([cls])
    while queue and len(found) < _MOST_CLASSES:
        children: list[type] = type.__subclasses__(queue.popleft())
        for sub in children:
            if sub not in found:
                found[sub] = None
                queue.append(sub)
    return list(found)
