"""Inspection: the operations that a test can perform on the subject, read off the imported module.

Runs in the worker, after the import. Objects are inspected, never called. Types of parameters come from signatures,
annotations, docstrings, stub files and the syntax tree. The result is plain data, the parent's only information about
the subject.
"""

from __future__ import annotations

import ast
import contextlib
import enum
import functools
import inspect
import os
import sys
import types
from builtins import id
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from fitgym.errors import SubjectError
from fitgym.subject.code.built_names import completions
from fitgym.subject.code.clocks import clocks
from fitgym.subject.code.constants import constants
from fitgym.subject.code.environment import variables
from fitgym.subject.code.patterns import patterns
from fitgym.subject.code.syntax import deep_trees, parse
from fitgym.subject.examples import examples
from fitgym.subject.introspection import docstrings
from fitgym.subject.introspection.argument_parsers import reads
from fitgym.subject.introspection.bindings import Bindings
from fitgym.subject.introspection.callables import asked, unwrapped
from fitgym.subject.introspection.catalogue import Catalogue
from fitgym.subject.introspection.codes import Codes, Found
from fitgym.subject.introspection.command_lines import INVOKE, commands_in, is_command_line, runner_of, words_of
from fitgym.subject.introspection.drive import driven
from fitgym.subject.introspection.helpers import Helpers
from fitgym.subject.introspection.hooks import with_hooks
from fitgym.subject.introspection.inner import returned_function
from fitgym.subject.introspection.names import Nodes, plain
from fitgym.subject.introspection.parameters import Parameters
from fitgym.subject.introspection.special import NOT_CALLED, OPERATORS, is_mangled, is_private, is_special
from fitgym.subject.introspection.standard_input import reads_input
from fitgym.subject.introspection.templates import template_methods
from fitgym.subject.introspection.unsearched import add_observers, add_setters
from fitgym.subject.mentions import mentions
from fitgym.subject.subject import (
    Branch,
    Drive,
    EntryKind,
    Function,
    Operation,
    OperationKind,
    Parameter,
    Reference,
    Site,
    Subject,
)
from fitgym.subject.types.hints import ANY, Hint, is_protocol, name_of, of_value, union

__all__ = ["REPLACED", "complete"]

REPLACED = "the module replaces itself in sys.modules during its import"
"""The reason why some modules that define functions have nothing to test."""


def complete(
    reference: Reference,
    source: str,
    module: types.ModuleType,
    sites: tuple[Site, ...],
    functions: tuple[Function, ...],
    branches: tuple[Branch, ...],
    dependences: tuple[tuple[tuple[int, bool], ...], ...],
    fleeting: Callable[[str], bool] = lambda literal: False,
) -> Subject:
    """Return the description of the subject, from its imported module.

    Operations under test come first, in the order in which the module binds them. Helpers that build arguments follow.
    The same module gives the same description every time.

    Args:
        reference: the module or class that the user named.
        source: the text that was instrumented.
        module: the imported module.
        sites, functions, branches, dependences: from the instrumentation, passed through.
        fleeting: whether a literal depends on this run or this machine, so that no argument should have it.

    Raises:
        SubjectError: nothing is left to test.
    """
    tree = parse(source)
    catalogue = Catalogue(module)
    with deep_trees():
        inspector = _Inspector(reference, tree, module, functions, catalogue)
    inspector.look()
    inspector.find_entry_points()
    inspector.help(source)
    bindings = Bindings(tree, module, fleeting)
    return Subject(
        reference=reference,
        source=source,
        sites=sites,
        functions=functions,
        branches=branches,
        dependences=dependences,
        operations=tuple(catalogue.operations),
        classes=catalogue.entries(),
        constants=tuple(
            dict.fromkeys(
                (*constants(tree), *map(repr, completions(tree)), *bindings.literals, *inspector.example_literals())
            )
        ),
        patterns=tuple(dict.fromkeys((*patterns(tree), *bindings.patterns))),
    )


class _Inspector:
    """Inspects the code under test and fills a catalogue."""

    def __init__(
        self,
        reference: Reference,
        tree: ast.Module,
        module: types.ModuleType,
        functions: Sequence[Function],
        catalogue: Catalogue,
    ) -> None:
        self.reference = reference
        self.tree = tree
        self.module = module
        self.name = module.__name__
        self.catalogue = catalogue
        self.nodes = Nodes(tree)
        files = {reference.path, os.path.realpath(reference.path), getattr(module, "__file__", None)}
        files.add(f"<frozen {self.name}>")  # modules of the standard library that were loaded without instrumentation
        self.codes = Codes(frozenset(files), self.nodes, functions)
        self.parameters = Parameters(module, tree, self.nodes)
        self.documented: list[str] = []
        self._classes: list[tuple[type, str]] = []  # classes of the source, with the names by which a test calls them
        self._command_lines: list[Any] = []
        self._entry_kind: EntryKind = ""  # of the operations being added
        self._only_private = False

    def look(self) -> None:
        """Find the operations under test.

        Raises:
            SubjectError: there is nothing to test.
        """
        if self.reference.class_name:
            cls = self._named_class()
            self._class(cls, tested=True, private=True)
            if not self._has_tested():
                raise SubjectError(
                    f"'{self.reference.text}' offers nothing to test: the class has no method of its own"
                )
            self._module_level(tested=False, private=False)
        else:
            self._module_level(tested=True, private=False)
            self._add_command_lines()
            if not self._has_tested():
                self.catalogue.forget_operations()
                self._only_private = True
                self._module_level(tested=True, private=True)
            if not self._has_tested():
                raise SubjectError(f"'{self.reference.text}' offers nothing to test: {self._why_nothing()}")

    def find_entry_points(self) -> None:
        """Find operations that are not under test but call code under test, see `Operation.entry_kind`."""
        self._entry_kind = "private"
        if self.reference.class_name:
            cls = self._named_class()
            self._members(cls, cls, self._qualname(cls), tested=False, private=True)
            tested = [(cls, self._qualname(cls))]
        else:
            if not self._only_private:
                self._module_level(tested=False, private=True)
            tested = list(dict.fromkeys(self._classes))
        for cls, qualname in tested:
            self._entry_kind = "private" if any(map(is_private, qualname.split("."))) else "inherited"
            self._templates(cls, qualname)

    def _templates(self, cls: type, qualname: str) -> None:
        """Add inherited methods of classes elsewhere that call a method which the class overrides."""
        own = {name for owner in cls.__mro__ if self._is_ours(owner) for name in vars(owner)}
        elsewhere = [owner for owner in cls.__mro__ if not self._is_ours(owner)]
        key = self.catalogue.register(cls)
        for name, function in template_methods(own, elsewhere):
            found = self.parameters.foreign(function, self.name, f"{qualname}.{name}", cls, bound=True)
            if found is not None and (key, name) not in self.catalogue.done:
                self.catalogue.done.add((key, name))
                self._append("method", f"{qualname}.{name}", Found(function), False, key, found, ANY, "", "", None)

    def help(self, source: str) -> None:
        """Find operations that build arguments for those under test."""
        helpers = Helpers(self.name.partition(".")[0], self.catalogue, self.parameters)
        helpers.add()
        # Walking the tree takes a hundred times as long as searching the text.
        if "env" in source and (names := variables(self.tree)):
            helpers.add_variables(names)
        if read := clocks(self.tree, self.name):
            helpers.add_clock(sorted({clock.kind for clock in read}))
        if lines := reads(self.tree, self.parameters.command_lines):
            helpers.add_command_lines(lines)
        if ("input" in source or "stdin" in source) and reads_input(self.tree):
            helpers.add_input()
        helpers.add_mentioned(mentions(examples(self.name, self.reference.path, source)))
        add_observers(self.catalogue, self.name)
        add_setters(self.catalogue)

    def _has_tested(self) -> bool:
        return any(
            operation.under_test and (operation.function >= 0 or operation.name == INVOKE)
            for operation in self.catalogue.operations
        )

    def _named_class(self) -> type:
        found: Any = self.module
        for part in self.reference.class_name.split("."):
            found = vars(found).get(part) if isinstance(found, type | types.ModuleType) else None
        if not isinstance(found, type):
            raise SubjectError(f"'{self.reference.text}' is not a class after the import of '{self.name}'")
        return found

    def _why_nothing(self) -> str:
        """Return the reason in the error message for a module without its own functions."""
        if os.path.basename(self.reference.path) == "__init__.py":
            exported = Counter(
                value.__module__
                for value in vars(self.module).values()
                if isinstance(value, type | types.FunctionType)
                and isinstance(value.__module__, str)
                and value.__module__.startswith(self.name + ".")
            )
            if exported:
                names = ", ".join(f"'{name}'" for name, _ in exported.most_common(6))
                return f"the package only re-exports names of its modules; test one of {names}"
            return "the package defines no function and no class; name one of its modules"
        written = {node.name for node in self.tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        if written and not written & set(vars(self.module)):
            return REPLACED
        if any(inspect.isabstract(cls) for cls, _ in self._classes):
            return "its abstract classes have no code besides abstract members; test a module with a subclass"
        return "the module defines no function and no class whose code a test could call"

    def _module_level(self, tested: bool, private: bool) -> None:
        seen: set[int] = set()
        for name, value in list(vars(self.module).items()):
            if (name.startswith("_") and not private) or is_special(name) or id(value) in seen:
                continue
            # An object of the subject that fails when it is inspected is not an operation.
            with contextlib.suppress(Exception):
                if self._entry_kind and not (name.startswith("_") or isinstance(value, type)):
                    continue  # it was already added
                if self._module_member(name, value, tested, private):
                    seen.add(id(value))

    def _module_member(self, name: str, value: Any, tested: bool, private: bool) -> bool:
        """Add the operations of one name of the module. Returns whether there are any."""
        if isinstance(value, type):
            if self._is_ours(value) and not _is_test_case(value):
                self._class(value, tested, private, name)
                return True
        elif is_command_line(value):
            if tested and not self._entry_kind:
                self._command_lines.append(value)
            return True
        elif callable(value) or isinstance(value, staticmethod | classmethod):
            raw = self.codes.find(value)
            if raw.code is not None:
                self._add("function", name, raw, tested)
                return True
        return False

    def _add_command_lines(self) -> None:
        """Add the top-level commands of the module; tests run each by the runner of its library."""
        inner = {id(command) for group in self._command_lines for command in commands_in(group)}
        for value in self._command_lines:
            if id(value) in inner:
                continue
            module = runner_of(value)
            runner, result = f"{module}.CliRunner", Hint("class", "click.testing.Result")
            kind = Hint("class", self.catalogue.register(type(value)))
            self.catalogue.register(sys.modules[module].CliRunner)
            if ("constructor", runner) not in self.catalogue.done:
                self.catalogue.done.add(("constructor", runner))
                made = Hint("class", runner)
                self.catalogue.add("constructor", module, "CliRunner", runner, (), made, under_test=False)
            cli = Parameter("cli", "positional_or_keyword", kind, declared=True)
            args = Parameter("args", "positional_or_keyword", words_of(value), declared=True)
            self.catalogue.add("method", module, INVOKE, runner, (cli, args), result, under_test=True)

    def _is_ours(self, cls: type) -> bool:
        """The class is defined by the source under test."""
        return cls.__module__ == self.name or (
            plain(cls.__qualname__) in self.nodes.classes
            and any(
                isinstance(value, types.FunctionType) and value.__code__.co_filename in self.codes.files
                for value in vars(cls).values()
            )
        )

    def _class(self, cls: type, tested: bool, private: bool, name: str = "") -> None:
        """Add the operations of one class: its constructor, its own members and members inherited inside the module."""
        qualname = self._qualname(cls, name)
        self._classes.append((cls, qualname))
        key = self.catalogue.register(cls)
        self.catalogue.bound.setdefault(key, qualname)
        if ("constructor", key) not in self.catalogue.done:
            self.catalogue.done.add(("constructor", key))
            self._constructor(cls, qualname, tested)
        for owner in cls.__mro__:
            if not self._is_ours(owner) or (owner is not cls and not is_private(owner.__name__) and not private):
                continue  # a public base inside the module is handled separately
            self._members(cls, owner, qualname, tested, private)

    def _members(self, cls: type, owner: type, qualname: str, tested: bool, private: bool) -> None:
        owner_key = self.catalogue.register(owner)
        for name, raw in list(vars(owner).items()):
            if is_private(name) and not (private and (self._entry_kind or not self.reference.class_name)):
                continue
            if self._entry_kind and is_mangled(name, owner):
                continue
            if name in NOT_CALLED or (owner_key, name) in self.catalogue.done:
                continue
            self.catalogue.done.add((owner_key, name))
            if isinstance(raw, type):
                if self._is_ours(raw) and raw.__qualname__.startswith(owner.__qualname__ + "."):
                    self._class(raw, tested, private)
                continue
            with contextlib.suppress(Exception):  # as above
                self._member(owner_key, name, raw, f"{qualname}.{name}", tested, owner)

    def _member(self, key: str, name: str, raw: Any, qualname: str, tested: bool, owner: type) -> None:
        for kind, target in _accesses(name, raw):
            found = self.codes.find(target)
            if found.code is not None:
                self._add(kind, qualname, found, tested, key, owner, operator=name if kind == "operator" else "")

    def _constructor(self, cls: type, qualname: str, tested: bool) -> None:
        key = name_of(cls)
        hooks = tuple(self.parameters.hooks(cls))
        if is_protocol(cls) or (inspect.isabstract(cls) and not hooks):
            return
        needed = {hook.name for hook in hooks if hook.required}  # calls of these would test what the test defines
        self.catalogue.done.update((name_of(base), name) for base in cls.__mro__ for name in needed)
        raw = Found(cls)
        for name in ("__init__", "__new__", "__post_init__", "__attrs_post_init__"):
            found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
            found = found.__func__ if isinstance(found, staticmethod) else found
            inner = self.codes.find(found) if found is not None else Found(None)
            if inner.code is not None:
                raw = Found(cls, inner.code, inner.node)
                break
        if issubclass(cls, enum.Enum):
            if len(cls) == 0:
                return  # an enum without members cannot be called
            texts = tuple(repr(m.value) for m in cls if type(m.value) in (int, str, float, bytes, bool))
            hint = Hint("literal", texts=texts) if texts else union(of_value(member.value) for member in cls)
            parameters: tuple[Parameter, ...] = (Parameter("value", "positional_or_keyword", hint),)
        else:
            parameters = with_hooks(self.parameters.of(raw, qualname, cls)[0], hooks)
        self._append("constructor", qualname, raw, tested, key, parameters, Hint("class", key), "", "", cls.__doc__)

    def _add(
        self,
        kind: OperationKind,
        qualname: str,
        raw: Found,
        tested: bool,
        key: str = "",
        owner: type | None = None,
        operator: str = "",
    ) -> None:
        bound = kind not in ("function", "static_method") and "<locals>" not in key
        parameters, returns = self.parameters.of(raw, qualname, owner, bound)
        if kind == "property":
            parameters = ()
        drive, returns = driven(raw.target, returns, operator)
        if operator and operator not in ("__call__", "__getitem__", "__setitem__", "__delitem__", "__contains__"):
            parameters = _operands(raw, parameters, Hint("class", key))
        doc = inspect.getdoc(raw.target) if not isinstance(raw.target, type) else raw.target.__doc__
        inner = None
        if not drive and returns.kind in ("any", "callable"):
            inner = returned_function(raw, vars(self.module), self.codes.find)
        if inner is not None and inner.code is not None:
            returns = Hint("class", f"{self.name}.{inner.code.co_qualname}")
        self._append(kind, qualname, raw, tested, key, parameters, returns, drive, operator, doc)
        if inner is not None and (returns.name, "__call__") not in self.catalogue.done:
            # A class of its own, which has this function as its only object, makes results of one factory the
            # receivers of this operation.
            self.catalogue.done.add((returns.name, "__call__"))
            self._add("operator", f"{qualname}.__call__", inner, tested, returns.name, operator="__call__")

    def _append(
        self,
        kind: OperationKind,
        qualname: str,
        raw: Found,
        tested: bool,
        key: str,
        parameters: tuple[Parameter, ...],
        returns: Hint,
        drive: Drive,
        operator: str,
        doc: Any,
    ) -> None:
        text = doc if isinstance(doc, str) else None
        if text and tested:
            self.documented.append(text)
        for parameter in parameters:
            self.catalogue.wanted.append((parameter.hint, 0))
            if parameter.double is not None:
                self.catalogue.wanted.append((parameter.double, 0))
        if key:
            self.catalogue.wanted.append((Hint("class", key), 0))
        self.catalogue.operations.append(
            Operation(
                id=len(self.catalogue.operations),
                kind=kind,
                module=self.name,
                name=qualname,
                owner=key,
                parameters=parameters,
                returns=returns,
                function=self.codes.function(raw.code),
                under_test=tested,
                drive=drive,
                declared=docstrings.declared(text),
                operator=operator,
                entry_kind="" if tested else self._entry_kind,
            )
        )

    def example_literals(self) -> Iterator[str]:
        """Yield the literals in the doctests of the code under test: arguments that the author chose."""
        for doc in self.documented:
            yield from docstrings.literals(doc)

    def _qualname(self, cls: type, bound_name: str = "") -> str:
        """Return the name of the class in the module: its qualified name, unless that name refers to something else."""
        found: Any = self.module
        for part in cls.__qualname__.split("."):
            found = vars(found).get(part) if isinstance(found, type | types.ModuleType) else None
        return cls.__qualname__ if found is cls or not bound_name else bound_name


def _accesses(name: str, raw: Any) -> Iterator[tuple[OperationKind, Any]]:
    """Yield the kinds of operation for a member of a class, each with the object that runs."""
    if isinstance(raw, property):
        yield "property", raw.fget
        yield "setter", raw.fset
    elif isinstance(raw, functools.cached_property):
        yield "property", raw.func
    elif isinstance(raw, staticmethod):
        yield "static_method", raw.__func__
    elif isinstance(raw, classmethod):
        yield "class_method", raw.__func__
    elif isinstance(raw, functools.singledispatchmethod):
        yield "method", raw.func
    elif callable(raw):
        yield "operator" if name in OPERATORS else "method", raw
    elif hasattr(type(raw), "__get__"):  # a descriptor of the subject that wraps a function
        yield "property", raw


def _operands(raw: Found, parameters: tuple[Parameter, ...], own: Hint) -> tuple[Parameter, ...]:
    """Replace the hints of operands without annotation: most often the same class, but any value is possible."""
    declared = asked(unwrapped(raw.target), "__annotations__") or {}
    return tuple(
        parameter
        if parameter.name in declared
        else replace(parameter, hint=union([own, *(() if parameter.hint.kind == "any" else (parameter.hint,)), ANY]))
        for parameter in parameters
    )


def _is_test_case(cls: type) -> bool:
    """Return whether a class holds tests of unittest, which are not to be tested themselves."""
    return any((base.__module__, base.__qualname__) == ("unittest.case", "TestCase") for base in cls.__mro__)
