"""Inspection: what a test can do with the subject, read off the imported module.

Runs in the worker, after the import. Objects are looked at, never called: signatures, annotations, docstrings, stub
files and the syntax tree say what parameters take. The result is plain data, and the parent knows nothing else.
"""

from __future__ import annotations

import ast
import contextlib
import enum
import functools
import importlib
import inspect
import os
import sys
import types
from builtins import id
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fitgym.errors import SubjectError
from fitgym.subject import docstrings
from fitgym.subject.callables import (
    asked,
    function_with,
    kind_of,
    says_nothing,
    signature_of,
    unwrapped,
    wrapped,
    wraps,
)
from fitgym.subject.constants import constants
from fitgym.subject.hints import (
    ANY,
    NONE,
    Hint,
    from_annotation,
    from_default,
    home,
    is_protocol,
    name_of,
    of_value,
    union,
)
from fitgym.subject.names import Known, Namespace, Nodes, assigned, plain
from fitgym.subject.patterns import patterns
from fitgym.subject.protocols import annotated, demanded, has, satisfies
from fitgym.subject.recipes import CONCRETE, RECIPES
from fitgym.subject.stubs import Stubs
from fitgym.subject.subject import (
    Branch,
    Class,
    Drive,
    Function,
    Operation,
    OperationKind,
    Parameter,
    Reference,
    Site,
    Subject,
)
from fitgym.subject.usage import Usage

__all__ = ["OPERATORS", "complete"]

_ARITHMETIC = (
    "add",
    "sub",
    "mul",
    "matmul",
    "truediv",
    "floordiv",
    "mod",
    "divmod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "or",
    "xor",
)

OPERATORS: tuple[str, ...] = (
    *("__len__", "__bool__", "__str__", "__repr__", "__bytes__", "__hash__", "__format__", "__int__", "__float__"),
    *("__complex__", "__index__", "__neg__", "__pos__", "__abs__", "__invert__", "__round__", "__trunc__", "__floor__"),
    *("__ceil__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__getitem__"),
    *("__setitem__", "__delitem__", "__iter__", "__next__", "__reversed__", "__call__", "__enter__", "__aenter__"),
    *("__aiter__", "__anext__", "__await__"),
    *(f"__{name}__" for name in _ARITHMETIC),
    *(f"__r{name}__" for name in _ARITHMETIC),
    *(f"__i{name}__" for name in _ARITHMETIC if name != "divmod"),
)
"""Special methods that a test writes as an operator, a built-in function or a statement.

Other special methods (`__missing__`, `__copy__`, ...) are operations of kind "method" and called by their name.
"""

_NOT_CALLED = frozenset(
    # Called by the language at moments that a test does not choose, or part of constructing.
    [
        "__init__",
        "__new__",
        "__post_init__",
        "__attrs_post_init__",
        "__del__",
        "__exit__",
        "__aexit__",
        "__init_subclass__",
        "__set_name__",
        "__class_getitem__",
        "__getattribute__",
        "__subclasshook__",
        "__prepare__",
        "__instancecheck__",
        "__subclasscheck__",
        "__get__",
        "__set__",
        "__delete__",
        "__reduce__",
        "__reduce_ex__",
        "__setstate__",
        "__getnewargs__",
        "__getnewargs_ex__",
        "__class__",
        "__annotate__",
    ]
)
_SMALL: dict[str, Drive] = {"__iter__": "iterate", "__reversed__": "iterate", "__enter__": "", "__aenter__": "aenter"}
_SMALL |= {"__aiter__": "aiterate", "__anext__": "await", "__await__": "await"}

_MOST_CLASSES = 200
_MOST_METHODS = 12  # of one class whose objects are only arguments
_MOST_OPERATIONS = 400
_DEEPEST = 3

REPLACED = "when it is imported, the module puts something else into sys.modules in its own place"
"""Why there is nothing to test in some modules that define functions."""


def complete(
    reference: Reference,
    source: str,
    module: types.ModuleType,
    sites: tuple[Site, ...],
    functions: tuple[Function, ...],
    branches: tuple[Branch, ...],
    dependences: tuple[tuple[tuple[int, bool], ...], ...],
) -> Subject:
    """The description of the subject, made from its imported module.

    Operations under test come first, in the order in which the module binds them; then those that only help to build
    arguments. The same module gives the same description every time.

    Args:
        reference: what the user asked for.
        source: the text that was instrumented.
        module: the imported module.
        sites, functions, branches, dependences: found by instrumentation, passed through.

    Raises:
        SubjectError: nothing is left to test.
    """
    inspector = _Inspector(reference, source, module, functions)
    inspector.look()
    return Subject(
        reference=reference,
        source=source,
        sites=sites,
        functions=functions,
        branches=branches,
        dependences=dependences,
        operations=tuple(inspector.operations),
        classes=inspector.class_entries(),
        constants=tuple(dict.fromkeys((*constants(inspector.tree), *inspector.example_literals()))),
        patterns=patterns(inspector.tree),
    )


@dataclass(frozen=True)
class _Raw:
    """A callable as found: the object to take the signature of, its code in the subject and that code's syntax."""

    target: Any
    code: types.CodeType | None = None
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None = None


class _Inspector:
    def __init__(
        self, reference: Reference, source: str, module: types.ModuleType, functions: Sequence[Function]
    ) -> None:
        self.reference = reference
        self.module = module
        self.name = module.__name__
        self.package = self.name.partition(".")[0]
        self.tree = ast.parse(source)
        self.namespace = Namespace(module, self.tree)
        self.stubs = Stubs()
        self.files = {reference.path, os.path.realpath(reference.path), getattr(module, "__file__", None)}
        self.files.add(f"<frozen {self.name}>")  # modules of the standard library that were loaded uninstrumented
        self.nodes = Nodes(self.tree)
        near = self._attributes()
        self.usage = Usage(self.tree, Known(module), near, self._far_attributes(near))
        self.function_ids: dict[str, list[Function]] = {}
        for function in functions:
            self.function_ids.setdefault(plain(function.name), []).append(function)
        self.operations: list[Operation] = []
        self.classes: dict[str, type] = {}
        self.bound: dict[str, str] = {}
        self.protocols: set[str] = set()
        self.instances: dict[str, list[str]] = {}
        self.wanted: deque[tuple[Hint, int]] = deque()
        self.built: set[str] = set()
        self.done: set[tuple[str, str]] = set()
        self.documented: list[str] = []

    # What is under test

    def look(self) -> None:
        """Fill `operations` and `classes`.

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
            if not self._has_tested():
                self.operations.clear()
                self.done.clear()
                self._module_level(tested=True, private=True)
            if not self._has_tested():
                raise SubjectError(f"'{self.reference.text}' offers nothing to test: {self._why_nothing()}")
        self._instances()
        self._helpers()

    def _has_tested(self) -> bool:
        return any(operation.under_test and operation.function >= 0 for operation in self.operations)

    def _named_class(self) -> type:
        found: Any = self.module
        for part in self.reference.class_name.split("."):
            found = vars(found).get(part) if isinstance(found, type | types.ModuleType) else None
        if not isinstance(found, type):
            raise SubjectError(f"'{self.reference.text}' is not a class after the import of '{self.name}'")
        return found

    def _why_nothing(self) -> str:
        """The end of the sentence that refuses a module without functions of its own."""
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
                return f"the package only passes on names of its modules; test one of {names}"
            return "the package defines no function and no class; name one of its modules"
        written = {node.name for node in self.tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        if written and not written & set(vars(self.module)):
            return REPLACED
        return "the module defines no function and no class whose code a test could call"

    def _module_level(self, tested: bool, private: bool) -> None:
        seen: set[int] = set()
        for name, value in list(vars(self.module).items()):
            if (name.startswith("_") and not private) or _is_special(name) or id(value) in seen:
                continue
            # An object of the subject's own that fails when it is looked at is no operation.
            with contextlib.suppress(Exception):
                if self._module_member(name, value, tested, private):
                    seen.add(id(value))

    def _module_member(self, name: str, value: Any, tested: bool, private: bool) -> bool:
        """The operations of one name of the module; whether there are any."""
        if isinstance(value, type):
            if self._is_ours(value):
                self._class(value, tested, private, name)
                return True
        elif callable(value) or isinstance(value, staticmethod | classmethod):
            raw = self._raw(value)
            if raw.code is not None:
                self._add("function", name, raw, tested)
                return True
        return False

    def _is_ours(self, cls: type) -> bool:
        """The class is defined by the source under test."""
        return cls.__module__ == self.name or (
            plain(cls.__qualname__) in self.nodes.classes
            and any(
                isinstance(value, types.FunctionType) and value.__code__.co_filename in self.files
                for value in vars(cls).values()
            )
        )

    def _class(self, cls: type, tested: bool, private: bool, name: str = "") -> None:
        """The operations of one class: its constructor, its own members and those inherited inside the module."""
        qualname = self._qualname(cls, name)
        key = self._register(cls)
        self.bound.setdefault(key, qualname)
        if ("constructor", key) not in self.done:
            self.done.add(("constructor", key))
            self._constructor(cls, qualname, tested)
        for owner in cls.__mro__:
            if not self._is_ours(owner) or (owner is not cls and not _is_private(owner.__name__) and not private):
                continue  # a public base inside the module has its turn itself
            self._members(cls, owner, qualname, tested, private)

    def _members(self, cls: type, owner: type, qualname: str, tested: bool, private: bool) -> None:
        owner_key = self._register(owner)
        for name, raw in list(vars(owner).items()):
            if _is_private(name) and not (private and not self.reference.class_name) and not _is_special(name):
                continue
            if name in _NOT_CALLED or (owner_key, name) in self.done:
                continue
            self.done.add((owner_key, name))
            if isinstance(raw, type):
                if self._is_ours(raw) and raw.__qualname__.startswith(owner.__qualname__ + "."):
                    self._class(raw, tested, private)
                continue
            with contextlib.suppress(Exception):  # as above
                self._member(owner_key, name, raw, f"{qualname}.{name}", tested, owner)

    def _member(self, key: str, name: str, raw: Any, qualname: str, tested: bool, owner: type) -> None:
        if isinstance(raw, property):
            getter = self._raw(raw.fget)
            if getter.code is not None:
                self._add("property", qualname, getter, tested, key, owner=owner, bound=True)
            setter = self._raw(raw.fset)
            if setter.code is not None:
                self._add("setter", qualname, setter, tested, key, owner=owner, bound=True)
        elif isinstance(raw, functools.cached_property):
            getter = self._raw(raw.func)
            if getter.code is not None:
                self._add("property", qualname, getter, tested, key, owner=owner, bound=True)
        elif isinstance(raw, staticmethod | classmethod):
            static = isinstance(raw, staticmethod)
            inner = self._raw(raw.__func__)
            if inner.code is not None:
                kind: OperationKind = "static_method" if static else "class_method"
                self._add(kind, qualname, inner, tested, key, owner=owner, bound=not static)
        elif isinstance(raw, functools.singledispatchmethod):
            inner = self._raw(raw.func)
            if inner.code is not None:
                self._add("method", qualname, inner, tested, key, owner=owner, bound=True)
        elif isinstance(raw, types.FunctionType) or callable(raw) or hasattr(type(raw), "__get__"):
            inner = self._raw(raw)
            if inner.code is None:
                return
            if not callable(raw):  # a descriptor of the subject's own that wraps a function
                self._add("property", qualname, inner, tested, key, owner=owner, bound=True)
            elif name in OPERATORS:
                self._add("operator", qualname, inner, tested, key, owner=owner, bound=True, operator=name)
            else:
                self._add("method", qualname, inner, tested, key, owner=owner, bound=True)

    def _constructor(self, cls: type, qualname: str, tested: bool) -> None:
        if inspect.isabstract(cls) or is_protocol(cls):
            return
        raw = _Raw(cls)
        for name in ("__init__", "__new__", "__post_init__", "__attrs_post_init__"):
            found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
            found = found.__func__ if isinstance(found, staticmethod) else found
            inner = self._raw(found) if found is not None else _Raw(None)
            if inner.code is not None:
                raw = _Raw(cls, inner.code, inner.node)
                break
        key = name_of(cls)
        if issubclass(cls, enum.Enum):
            if len(cls) == 0:
                return  # an enum without members cannot be called
            texts = tuple(repr(m.value) for m in cls if type(m.value) in (int, str, float, bytes, bool))
            hint = Hint("literal", texts=texts) if texts else union(of_value(member.value) for member in cls)
            parameters: tuple[Parameter, ...] = (Parameter("value", "positional_or_keyword", hint),)
        else:
            parameters = self._parameters(raw, qualname, key, bound=False, owner=cls)[0]
        self._append("constructor", qualname, raw, tested, key, parameters, Hint("class", key), "", "", cls.__doc__)

    # One operation

    def _add(
        self,
        kind: OperationKind,
        qualname: str,
        raw: _Raw,
        tested: bool,
        key: str = "",
        owner: type | None = None,
        bound: bool = False,
        operator: str = "",
    ) -> None:
        parameters, returns = self._parameters(raw, qualname, key, bound, owner)
        if kind == "property":
            parameters = ()
        drive, returns = self._drive(raw, returns, operator)
        if operator and operator not in ("__call__", "__getitem__", "__setitem__", "__delitem__", "__contains__"):
            parameters = _operands(raw, parameters, Hint("class", key))
        doc = inspect.getdoc(raw.target) if not isinstance(raw.target, type) else raw.target.__doc__
        self._append(kind, qualname, raw, tested, key, parameters, returns, drive, operator, doc)

    def _append(
        self,
        kind: OperationKind,
        qualname: str,
        raw: _Raw,
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
            self.wanted.append((parameter.hint, 0))
        if key:
            self.wanted.append((Hint("class", key), 0))
        self.operations.append(
            Operation(
                id=len(self.operations),
                kind=kind,
                module=self.name,
                name=qualname,
                owner=key,
                parameters=parameters,
                returns=returns,
                function=self._function_id(raw.code),
                under_test=tested,
                drive=drive,
                declared=docstrings.declared(text),
                operator=operator,
            )
        )

    def _drive(self, raw: _Raw, returns: Hint, operator: str) -> tuple[Drive, Hint]:
        """What has to be done with the result so that the body runs, and what that gives."""
        if operator in _SMALL:
            drive = _SMALL[operator]
            if drive in ("iterate", "aiterate"):
                return drive, _drained(returns)
            return drive, returns
        target = raw.target
        inner = unwrapped(target) if isinstance(target, types.FunctionType) else target
        code = asked(target, "__code__")
        if isinstance(code, types.CodeType) and code.co_filename == contextlib.__file__ and inner is not target:
            is_async = inspect.isasyncgenfunction(inner)
            element = returns.args[0] if returns.kind in ("iterator", "iterable") and returns.args else ANY
            return ("aenter" if is_async else "enter"), element
        flags = target if isinstance(target, types.FunctionType) else inner
        if inspect.iscoroutinefunction(flags):
            return "await", returns
        if inspect.isasyncgenfunction(flags):
            return "aiterate", _drained(returns)
        if inspect.isgeneratorfunction(flags) or returns.kind == "iterator":
            return "iterate", _drained(returns)
        return "", returns

    def _parameters(
        self, raw: _Raw, qualname: str, key: str, bound: bool, owner: type | None
    ) -> tuple[tuple[Parameter, ...], Hint]:
        """The parameters without receiver, and what is returned, from everything that says something about them."""
        target = raw.target
        signature = signature_of(target)
        if signature is not None and says_nothing(signature) and raw.code is not None and not isinstance(target, type):
            # A wrapper that passes everything on: what it wraps knows better.
            inside = function_with(target, raw.code)
            better = signature_of(inside) if inside is not None else None
            signature = better or signature
        stub = self.stubs.signature(self.name, qualname)
        if signature is None:
            if stub is None:
                return (
                    Parameter("args", "var_positional", ANY, False),
                    Parameter("kwargs", "var_keyword", ANY, False),
                ), ANY
            return tuple(Parameter(p.name, p.kind, p.hint, p.required, True) for p in stub.parameters), stub.returns
        entries = list(signature.parameters.values())
        if bound and entries and entries[0].kind in (entries[0].POSITIONAL_ONLY, entries[0].POSITIONAL_OR_KEYWORD):
            entries = entries[1:]
        found = asked(target, "__doc__")
        doc = found if isinstance(found, str) else None
        if isinstance(target, type):
            initial = inspect.getattr_static(target, "__init__", None)
            doc = (doc or "") + "\n\n" + (asked(initial, "__doc__") or "")
        space = self.namespace.within(unwrapped(target) if callable(target) else target, owner)
        prose = docstrings.types(doc)
        shown = self._examples(doc, qualname, entries)
        used = self.usage.demands(raw.node) if raw.node is not None else {}
        parameters: list[Parameter] = []
        for entry in entries:
            hint = ANY
            if entry.annotation is not entry.empty:
                hint = from_annotation(entry.annotation, space, owner)
            if hint.kind == "any" and stub is not None:
                hint = stub.hint(entry.name)
            if hint.kind == "any" and entry.name in prose:
                hint = from_annotation(prose[entry.name], space, owner)
            declared = hint.kind != "any"
            if hint.kind == "any" and entry.annotation is entry.empty:
                default = ANY if entry.default is entry.empty else from_default(entry.default)
                guesses = [default, used.get(entry.name, ANY), *shown.get(entry.name, [])]
                known = [guess for guess in guesses if guess.kind != "any"]
                if entry.default is None and known:
                    known.append(NONE)
                hint = union(known)
            elif entry.default is None and hint.kind not in ("any", "none"):
                hint = union([hint, NONE])  # the implicit Optional that type checkers used to assume
            required = entry.default is entry.empty and not entry.kind.name.startswith("VAR_")
            if entry.kind is entry.VAR_KEYWORD:
                # Keys that the body takes out of `**interface` are keyword arguments in all but name.
                for name, wanted in used.items():
                    if name.startswith(f"{entry.name}[") and name[:-1].isascii():
                        key = name[len(entry.name) + 1 : -1]
                        if key.isidentifier() and key not in signature.parameters:
                            parameters.append(Parameter(key, "keyword_only", wanted, required=True))
                if stub is not None:  # what the code takes as `**kwargs` and the stub spells out
                    spelt = [
                        Parameter(p.name, "keyword_only", p.hint, p.required, True)
                        for p in stub.parameters
                        if p.kind == "keyword_only" and p.name not in signature.parameters
                    ]
                    names = {parameter.name for parameter in spelt}
                    parameters = [parameter for parameter in parameters if parameter.name not in names] + spelt
            parameters.append(Parameter(entry.name, kind_of(entry), hint, required, declared))
        returns = ANY
        if signature.return_annotation is not signature.empty:
            returns = from_annotation(signature.return_annotation, space, owner)
        if returns.kind == "any" and stub is not None:
            returns = stub.returns
        return tuple(parameters), returns

    def _examples(self, doc: str | None, qualname: str, entries: list[inspect.Parameter]) -> dict[str, list[Hint]]:
        """The types of the arguments in the doctests of an operation, by parameter."""
        found: dict[str, list[Hint]] = {}
        positional = [e for e in entries if e.kind in (e.POSITIONAL_ONLY, e.POSITIONAL_OR_KEYWORD)]
        variable = next((e for e in entries if e.kind is e.VAR_POSITIONAL), None)
        for call in docstrings.calls(doc, qualname.rpartition(".")[2]):
            for index, argument in enumerate(call.args):
                entry = positional[index] if index < len(positional) else variable
                if entry is not None and (hint := _of_node(argument)).kind != "any":
                    found.setdefault(entry.name, []).append(hint)
            for word in call.keywords:
                if word.arg is not None and (hint := _of_node(word.value)).kind != "any":
                    found.setdefault(word.arg, []).append(hint)
        return found

    def example_literals(self) -> Iterator[str]:
        """Literals in the doctests of what is under test: arguments that the author thought of."""
        for doc in self.documented:
            yield from docstrings.literals(doc)

    # From objects to code

    def _raw(self, target: Any) -> _Raw:
        code = self._code(target)
        return _Raw(target, code, self.nodes.find(code) if code is not None else None)

    def _code(self, target: Any, depth: int = 4) -> types.CodeType | None:
        """The code in the subject's source that runs when `target` is called, decorators peeled off."""
        if target is None or depth == 0:
            return None
        if isinstance(target, types.MethodType):
            return self._code(target.__func__, depth)
        own = target.__code__ if isinstance(target, types.FunctionType) else None
        for inner in wrapped(target):
            found = self._code(inner, depth - 1)
            if found is not None and (own is None or own.co_filename not in self.files or wraps(target, found)):
                return found
        if own is not None:
            return own if own.co_filename in self.files else None
        method = inspect.getattr_static(type(target), "__call__", None)
        if isinstance(method, types.FunctionType) and method.__code__.co_filename in self.files:
            return method.__code__
        return None

    def _function_id(self, code: types.CodeType | None) -> int:
        if code is None:
            return -1
        known = self.function_ids.get(plain(code.co_qualname), [])
        near = min(known, key=lambda function: abs(function.line - code.co_firstlineno), default=None)
        return near.id if near is not None else -1

    def _attributes(self) -> dict[str, frozenset[str]]:
        """The attributes of objects of each class that the module knows by name, by the class's name in hints."""
        found: dict[str, frozenset[str]] = {}
        for value in list(vars(self.module).values()):
            with contextlib.suppress(Exception):  # it does not let itself be looked at
                if isinstance(value, type) and str(value.__module__).partition(".")[0] == self.package:
                    found[name_of(value)] = self._attributes_of(value)
        return found

    def _attributes_of(self, cls: type) -> frozenset[str]:
        names = set(dir(cls))
        for base in cls.__mro__:
            names |= set(annotated(base))
            node = self.nodes.classes.get(base.__qualname__) if base.__module__ == self.name else None
            names |= set(assigned(node)) if node is not None else set()
        return frozenset(names - set(dir(object)))

    def _far_attributes(self, near: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
        """The same for the public classes of the other loaded modules of the package."""
        found: dict[str, frozenset[str]] = {}
        for name, module in sorted(sys.modules.items()):
            if name.partition(".")[0] != self.package or not isinstance(module, types.ModuleType):
                continue
            for value in list(vars(module).values()):
                if len(found) >= _MOST_CLASSES:
                    return found
                with contextlib.suppress(Exception):
                    if isinstance(value, type) and value.__module__ == name and not _is_private(value.__name__):
                        found.setdefault(name_of(value), self._attributes_of(value))
        return {name: attributes for name, attributes in found.items() if name not in near}

    # What is needed to build arguments

    def _qualname(self, cls: type, bound_name: str = "") -> str:
        """Where the class is found in the module: its qualified name unless that leads elsewhere."""
        found: Any = self.module
        for part in cls.__qualname__.split("."):
            found = vars(found).get(part) if isinstance(found, type | types.ModuleType) else None
        return cls.__qualname__ if found is cls or not bound_name else bound_name

    def _register(self, cls: type) -> str:
        key = name_of(cls)
        self.classes.setdefault(key, cls)
        return key

    def _instances(self) -> None:
        """Objects that exist at module level, by class."""
        for name, value in list(vars(self.module).items()):
            cls = type(value)
            if (
                _is_special(name)
                or cls.__module__ == "builtins"
                or issubclass(cls, type | types.ModuleType | enum.Enum)
            ):
                continue
            if cls.__module__ in ("__future__", "typing", "types"):
                continue
            self.instances.setdefault(name_of(cls), []).append(f"{self.name}:{name}")

    def _helpers(self) -> None:
        """Operations that build objects of the classes that parameters ask for, breadth first."""
        while self.wanted and len(self.classes) < _MOST_CLASSES and len(self.operations) < _MOST_OPERATIONS:
            hint, depth = self.wanted.popleft()
            for name in _names_in(hint):
                if name not in self.built:
                    self.built.add(name)
                    self._build(name, depth)

    def _build(self, name: str, depth: int) -> None:
        name = CONCRETE.get(name, name)
        cls = self.classes.get(name) or _find_class(name)
        if cls is None or name in _LITERAL_CLASSES:
            return
        self.classes.setdefault(name, cls)
        if name in CONCRETE.values():
            self.built.add(name)
        if name in RECIPES:
            self._recipes(name, depth)
            return
        if ("constructor", name) not in self.done and depth <= _DEEPEST:
            self.done.add(("constructor", name))
            self._constructor_of(cls, name, depth)
        if is_protocol(cls):
            self._satisfying(cls, name, depth)
        elif str(cls.__module__).partition(".")[0] == self.package or inspect.isabstract(cls):
            for sub in _subclasses(cls):
                if str(sub.__module__).partition(".")[0] == self.package:
                    self.wanted.append((Hint("class", self._register(sub)), depth + 1))

    def _recipes(self, name: str, depth: int) -> None:
        for recipe in RECIPES[name]:
            parameters = tuple(
                Parameter(n, "positional_only", hint, required) for n, hint, required in recipe.parameters
            )
            owner = name if recipe.kind != "function" else ""
            self._helper(recipe.kind, recipe.module, recipe.name, owner, parameters, Hint("class", name), depth)

    def _constructor_of(self, cls: type, name: str, depth: int) -> None:
        """The constructor and the class-method factories of a class that is not under test."""
        module, qualname = (self.name, cls.__qualname__) if cls.__module__ == self.name else home(cls)
        if "<locals>" in qualname or inspect.isabstract(cls) or is_protocol(cls):
            return
        if issubclass(cls, enum.Enum):
            return  # members are named, not built
        returns = Hint("class", name)
        if issubclass(cls, BaseException) and cls.__module__ == "builtins":
            text = Parameter("message", "positional_only", Hint("class", "builtins.str"), False)
            self._helper("constructor", module, qualname, name, (text,), returns, depth)
            return
        parameters = self._foreign_parameters(cls, module, qualname, cls)
        if parameters is not None:
            self._helper("constructor", module, qualname, name, parameters, returns, depth)
        if module.partition(".")[0] in sys.stdlib_module_names:
            return
        for member, raw in list(vars(cls).items()):
            if isinstance(raw, classmethod) and not member.startswith("_"):
                signature = signature_of(raw.__func__)
                result = ANY
                if signature is not None and signature.return_annotation is not signature.empty:
                    space = self.namespace.within(raw.__func__, cls)
                    result = from_annotation(signature.return_annotation, space, cls)
                found = self._foreign_parameters(raw.__func__, module, f"{qualname}.{member}", cls, bound=True)
                if result == returns and found is not None:
                    self._helper("class_method", module, f"{qualname}.{member}", name, found, returns, depth)
        if depth <= 1 and str(cls.__module__).partition(".")[0] == self.package:
            self._changing_methods(cls, module, qualname, name, depth)

    def _changing_methods(self, cls: type, module: str, qualname: str, name: str, depth: int) -> None:
        """Public methods of a class of the same package whose objects are arguments: they bring them into states that
        no constructor gives.
        """
        methods = [
            (member, raw)
            for base in cls.__mro__
            if str(base.__module__).partition(".")[0] == self.package
            for member, raw in vars(base).items()
            if isinstance(raw, types.FunctionType) and not member.startswith("_")
        ]
        for member, raw in list(dict(reversed(methods)).items())[:_MOST_METHODS]:
            found = self._foreign_parameters(raw, module, f"{qualname}.{member}", cls, bound=True)
            if found is not None:
                self._helper("method", module, f"{qualname}.{member}", name, found, ANY, depth + 1)

    def _foreign_parameters(
        self, target: Any, module: str, qualname: str, owner: type, bound: bool = False
    ) -> tuple[Parameter, ...] | None:
        """Parameters of something outside the source under test, None if nothing is known about them."""
        signature = signature_of(target)
        stub = self.stubs.signature(module, qualname)
        if signature is None or (says_nothing(signature) and stub is not None):
            if stub is None:
                return None
            return tuple(
                Parameter(p.name, p.kind, p.hint, p.required, True)
                for p in stub.parameters
                if not p.kind.startswith("var_")
            )
        entries = list(signature.parameters.values())[1 if bound else 0 :]
        space = self.namespace.within(target, owner)
        found: list[Parameter] = []
        for entry in entries:
            if entry.kind in (entry.VAR_POSITIONAL, entry.VAR_KEYWORD):
                continue
            hint = ANY
            if entry.annotation is not entry.empty:
                hint = from_annotation(entry.annotation, space, owner)
            if hint.kind == "any" and stub is not None:
                hint = stub.hint(entry.name)
            declared = hint.kind != "any"
            if not declared and entry.default is not entry.empty:
                hint = from_default(entry.default)
            found.append(Parameter(entry.name, kind_of(entry), hint, entry.default is entry.empty, declared))
        return tuple(found)

    def _helper(
        self,
        kind: OperationKind,
        module: str,
        name: str,
        owner: str,
        parameters: tuple[Parameter, ...],
        returns: Hint,
        depth: int,
    ) -> None:
        for parameter in parameters:
            if parameter.required or depth == 0:
                self.wanted.append((parameter.hint, depth + 1))
        self.operations.append(
            Operation(
                id=len(self.operations),
                kind=kind,
                module=module,
                name=name,
                owner=owner,
                parameters=parameters,
                returns=returns,
                under_test=False,
            )
        )

    def _satisfying(self, protocol: type, name: str, depth: int) -> None:
        """Classes of the subject's package that have the attributes which a protocol demands."""
        wanted = demanded(protocol)
        self.protocols.add(name)
        if not wanted:
            return
        for module_name, module in list(sys.modules.items()):
            if module_name.partition(".")[0] != self.package or not isinstance(module, types.ModuleType):
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
                        self.wanted.append((Hint("class", self._register(value)), depth + 1))

    def class_entries(self) -> dict[str, Class]:
        """`Subject.classes`: every class that was met, sorted by name."""
        entries: dict[str, Class] = {}
        for key in sorted(self.classes):
            cls = self.classes[key]
            module, qualname = (self.name, cls.__qualname__) if cls.__module__ == self.name else home(cls)
            if key in self.bound:
                module, qualname = self.name, self.bound[key]
            bases = [name_of(base) for base in cls.__mro__]
            structural = [
                name
                for name in sorted(self.protocols)
                if name not in bases and name in self.classes and satisfies(cls, self.classes[name])
            ]
            entries[key] = Class(
                name=key,
                module=module,
                qualname=qualname,
                bases=(*bases[:-1], *structural, *bases[-1:]),
                members=tuple(cls.__members__) if issubclass(cls, enum.Enum) else (),
                demands=demanded(cls) if is_protocol(cls) else (),
                abstract=inspect.isabstract(cls) or is_protocol(cls),
                instances=tuple(self.instances.get(key, ())),
            )
        return entries


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


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and len(name) > 4


def _is_private(name: str) -> bool:
    return name.startswith("_") and not _is_special(name)


def _operands(raw: _Raw, parameters: tuple[Parameter, ...], own: Hint) -> tuple[Parameter, ...]:
    """An operand without annotation is most often another object of the class, and must be able to be anything."""
    declared = asked(unwrapped(raw.target), "__annotations__") or {}
    return tuple(
        parameter
        if parameter.name in declared
        else replace(parameter, hint=union([own, *(() if parameter.hint.kind == "any" else (parameter.hint,)), ANY]))
        for parameter in parameters
    )


def _drained(returns: Hint) -> Hint:
    """What the list of everything that an iterator gives is."""
    element = returns.args[0] if returns.kind in ("iterator", "iterable") and returns.args else ANY
    return Hint("list", args=(element,))


def _of_node(node: ast.expr) -> Hint:
    """The type of an argument in an example: literals, lambdas and functions of `builtins`."""
    if isinstance(node, ast.Lambda):
        count = len(node.args.args)
        return Hint("callable", args=(*(ANY for _ in range(count)), ANY))
    if isinstance(node, ast.Name):
        found = vars(__builtins__ if isinstance(__builtins__, types.ModuleType) else sys.modules["builtins"]).get(
            node.id
        )
        if isinstance(found, types.BuiltinFunctionType):
            return Hint("callable", args=(Hint("ellipsis"), ANY))
        return ANY
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        if isinstance(node, ast.List | ast.ListComp):
            return Hint("list", args=(ANY,))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return {
                "range": Hint("sequence", args=(Hint("class", "builtins.int"),)),
                "iter": Hint("iterator", args=(ANY,)),
            }.get(node.func.id, ANY)
        return ANY
    if isinstance(value, tuple):
        return Hint("tuple", args=(union(of_value(item) for item in value[:5]), Hint("ellipsis"))) if value else ANY
    return of_value(value)


def _names_in(hint: Hint) -> Iterator[str]:
    if hint.kind in ("class", "protocol"):
        yield hint.name
    for part in hint.args:
        yield from _names_in(part)


def _find_class(name: str) -> type | None:
    """The class with this name; the longest prefix that is a module is taken as its module."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        module = sys.modules.get(".".join(parts[:cut]))
        if module is None and parts[0] in sys.stdlib_module_names:
            with contextlib.suppress(Exception):
                module = importlib.import_module(".".join(parts[:cut]))
        found: Any = module
        for part in parts[cut:]:
            found = vars(found).get(part) if isinstance(found, type | types.ModuleType) else None
        if isinstance(found, type):
            return found
    return None


def _subclasses(cls: type) -> list[type]:
    """All loaded subclasses, parents before children, in order of creation."""
    found: dict[type, None] = {}
    queue = deque([cls])
    while queue and len(found) < _MOST_CLASSES:
        children: list[type] = type.__subclasses__(queue.popleft())
        for sub in children:
            if sub not in found:
                found[sub] = None
                queue.append(sub)
    return list(found)
