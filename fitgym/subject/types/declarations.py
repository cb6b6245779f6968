"""Declarations: hints from annotations, default values and classes.

Annotations are arbitrary objects of the subject. An annotation that cannot be read gives `ANY`, never an error.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import dataclasses
import enum
import inspect
import io
import numbers
import os
import sys
import types
import typing
from builtins import id
from collections import abc
from collections.abc import Mapping
from typing import Any

from fitgym.subject.types.hints import (
    ANY,
    CALLABLE,
    ELLIPSIS,
    MOST_ITEMS,
    NONE,
    Hint,
    is_protocol,
    name_of,
    of_value,
    union,
)

__all__ = ["from_annotation", "from_default", "from_node", "of_class"]


def from_annotation(annotation: Any, namespace: Mapping[str, Any], owner: type | None = None) -> Hint:
    """Return the hint for an annotation.

    Args:
        annotation: a class, a `typing` object, or text (a postponed or forward annotation). Names in text are resolved
            one by one: an unknown name makes only its own part unknown.
        namespace: where names in text are looked up, before `builtins` and `typing`; a value may itself be a `Hint`.
        owner: the class that `Self` refers to.
    """
    return _whole(_Reader(namespace, owner).read(annotation))


def from_node(node: ast.expr, namespace: Mapping[str, Any], owner: type | None = None) -> Hint:
    """Return the hint for an annotation given as a syntax tree (from a stub file or from text)."""
    return _whole(_Reader(namespace, owner).node(node))


def from_default(value: Any) -> Hint:
    """Return the type of a default value; `ANY` for `None` and sentinels, which show nothing about other values."""
    if value is None or type(value) is object or value is Ellipsis:
        return ANY
    if isinstance(value, type):
        # `class_=dict` usually expects a callable, `errors=ValueError` a subclass of the same base.
        root = next((base for base in (BaseException, enum.Enum) if issubclass(value, base)), None)
        return Hint("type", args=(of_class(value),)) if root else union([Hint("type", args=(ANY,)), CALLABLE])
    if type(value) in (tuple, list, set, frozenset, dict) and not value:
        return {"tuple": Hint("tuple", args=(ANY, ELLIPSIS))}.get(type(value).__name__, of_class(type(value)))
    if type(value) is tuple:
        return Hint("tuple", args=(union(of_value(item) for item in value[:MOST_ITEMS]), ELLIPSIS))
    return of_value(value)


def of_class(cls: type) -> Hint:
    """Return the hint for objects of `cls`: containers and abstract collections by their own kind, others by name."""
    return _object(cls, None, frozenset())


_INT, _FLOAT, _STR, _BYTES, _BOOL = (
    Hint("class", f"builtins.{name}") for name in ("int", "float", "str", "bytes", "bool")
)
_NUMBER = Hint("union", args=(_INT, _FLOAT))

# One argument: the elements.
_ELEMENTS = {
    list: "list",
    set: "set",
    frozenset: "frozenset",
    abc.Iterable: "iterable",
    abc.Collection: "iterable",
    abc.Container: "iterable",
    abc.Reversible: "sequence",
    abc.Iterator: "iterator",
    abc.Generator: "iterator",
    abc.AsyncIterable: "iterator",
    abc.AsyncIterator: "iterator",
    abc.AsyncGenerator: "iterator",
    contextlib.AbstractContextManager: "",
    abc.Sequence: "sequence",
    abc.MutableSequence: "list",
    abc.Set: "set",
    abc.MutableSet: "set",
    abc.KeysView: "iterable",
    abc.ValuesView: "iterable",
}
_PAIRS = {dict: "dict", abc.Mapping: "mapping", abc.MutableMapping: "dict"}
_FIXED: dict[Any, Hint] = {
    Any: ANY,
    object: ANY,
    inspect.Parameter.empty: ANY,
    None: NONE,
    type(None): NONE,
    Ellipsis: ELLIPSIS,
    any: ANY,
    callable: CALLABLE,
    types.FunctionType: CALLABLE,
    types.MethodType: CALLABLE,
    types.BuiltinFunctionType: CALLABLE,
    abc.Hashable: Hint("union", args=(_INT, _STR, Hint("tuple", args=(_INT, _STR)))),
    abc.Sized: Hint("sequence", args=(ANY,)),
    abc.Callable: CALLABLE,
    abc.Awaitable: ANY,
    abc.Coroutine: ANY,
    abc.ItemsView: Hint("iterable", args=(Hint("tuple", args=(ANY, ANY)),)),
    numbers.Number: _NUMBER,
    numbers.Complex: _NUMBER,
    numbers.Real: _NUMBER,
    numbers.Rational: Hint("union", args=(_INT, Hint("class", "fractions.Fraction"))),
    numbers.Integral: _INT,
    typing.SupportsInt: _NUMBER,
    typing.SupportsFloat: _NUMBER,
    typing.SupportsComplex: _NUMBER,
    typing.SupportsIndex: _INT,
    typing.SupportsAbs: _NUMBER,
    typing.SupportsRound: _NUMBER,
    typing.SupportsBytes: _BYTES,
    typing.LiteralString: _STR,
    typing.NoReturn: ANY,
    typing.Never: ANY,
    typing.Generic: ANY,
    typing.Protocol: ANY,
    os.PathLike: Hint("class", "pathlib.Path"),
    typing.IO: Hint("class", "io.StringIO"),
    typing.TextIO: Hint("class", "io.StringIO"),
    typing.BinaryIO: Hint("class", "io.BytesIO"),
    io.IOBase: Hint("class", "io.StringIO"),
    io.TextIOBase: Hint("class", "io.StringIO"),
    io.TextIOWrapper: Hint("class", "io.StringIO"),
    io.RawIOBase: Hint("class", "io.BytesIO"),
    io.BufferedIOBase: Hint("class", "io.BytesIO"),
}
_TRANSPARENT = frozenset({"Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "InitVar"})
_UNKNOWN = object()


def _whole(hint: Hint) -> Hint:
    """Replace a hint that is only valid inside another one (`...` and parameter lists) by `ANY`."""
    return ANY if hint.kind in ("ellipsis", "arguments") else hint


class _Reader:
    """Reads annotations in one namespace.

    `seen` stops the recursion of aliases and type variables that contain themselves. `given` has the arguments of the
    generic alias that is being read, by the type variable that they take the place of.
    """

    def __init__(self, namespace: Mapping[str, Any], owner: type | None) -> None:
        self.namespace = namespace
        self.owner = owner
        self.seen: frozenset[int] = frozenset()
        self.given: Mapping[Any, Hint] = {}

    def read(self, annotation: Any) -> Hint:
        if isinstance(annotation, Hint):
            return annotation
        if isinstance(annotation, typing.ForwardRef):
            annotation = annotation.__forward_arg__
        if isinstance(annotation, str):
            try:
                return self.node(ast.parse(annotation.strip(), mode="eval").body)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return ANY
        if id(annotation) in self.seen:
            return ANY
        before, self.seen = self.seen, self.seen | {id(annotation)}
        try:
            return self.runtime(annotation)
        except Exception:  # annotations are arbitrary objects of the subject: an unreadable one gives no information
            return ANY
        finally:
            self.seen = before

    def runtime(self, annotation: Any) -> Hint:
        """Read a runtime object: a class, or an object of `typing` or `types`."""
        if isinstance(annotation, dataclasses.InitVar):
            return self.read(annotation.type)
        if _is_typing(annotation, "TypeAliasType"):
            return self.read(annotation.__value__)
        if isinstance(annotation, typing.TypeVar):
            if annotation in self.given:
                return self.given[annotation]
            if annotation.__constraints__:
                return union(self.read(constraint) for constraint in annotation.__constraints__)
            return self.read(annotation.__bound__) if annotation.__bound__ is not None else ANY
        if isinstance(annotation, typing.NewType):
            return self.read(annotation.__supertype__)
        if isinstance(annotation, list):  # the parameters of a Callable
            return Hint("arguments", args=tuple(self.read(item) for item in annotation))
        origin = typing.get_origin(annotation)
        if origin is None:
            return _object(annotation, None, self.seen, self.owner)
        if origin is typing.Annotated:
            return self.read(annotation.__origin__)
        if origin is typing.Literal:
            return _literal(typing.get_args(annotation))
        if _is_typing(origin, "TypeAliasType"):
            args = [self.read(argument) for argument in typing.get_args(annotation)]
            return self.alias(origin, dict(zip(_variables(origin), args, strict=False)))
        return self.generic(origin, [self.read(argument) for argument in typing.get_args(annotation)])

    def node(self, node: ast.expr) -> Hint:
        """Read a syntax tree, part by part."""
        match node:
            case ast.Constant(value=None):
                return NONE
            case ast.Constant(value=str(text)):
                return self.read(text)
            case ast.Constant(value=value) if value is Ellipsis:
                return ELLIPSIS
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return union([self.node(left), self.node(right)])
            case ast.List(elts=items):
                return Hint("arguments", args=tuple(self.node(item) for item in items))
            case ast.Tuple(elts=items):
                return Hint("tuple", args=tuple(self.node(item) for item in items))
            case ast.Subscript(value=base, slice=inner):
                origin = self.lookup(base)
                if origin is typing.Literal:
                    items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                    return self.literal_nodes(items)
                parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                if origin is _UNKNOWN:
                    return ANY
                if isinstance(origin, Hint):
                    return origin
                if getattr(origin, "__name__", "") == "Annotated" or origin is typing.Annotated:
                    parts = parts[:1]
                args = [self.node(part) for part in parts]
                if variables := _variables(origin):
                    return self.alias(origin, dict(zip(variables, args, strict=False)))
                return self.generic(typing.get_origin(origin) or origin, args)
            case ast.Name() | ast.Attribute():
                found = self.lookup(node)
                return ANY if found is _UNKNOWN else self.read(found)
            case ast.Starred():
                return ANY
        return ANY

    def lookup(self, node: ast.expr) -> Any:
        """Return the object that a dotted name refers to, `_UNKNOWN` if it cannot be found."""
        if isinstance(node, ast.Name):
            for space in (self.namespace, vars(builtins), vars(typing)):
                try:
                    return space[node.id]
                except Exception:  # a namespace may import on demand
                    continue
            return _UNKNOWN
        if isinstance(node, ast.Attribute):
            base = self.lookup(node.value)
            if base is _UNKNOWN or isinstance(base, Hint):
                return _UNKNOWN
            try:
                return getattr(base, node.attr)
            except Exception:  # modules may have a `__getattr__`
                return _UNKNOWN
        return _UNKNOWN

    def literal_nodes(self, items: list[ast.expr]) -> Hint:
        values: list[Any] = []
        for item in items:
            try:
                values.append(ast.literal_eval(item))
            except (ValueError, TypeError, SyntaxError):
                found = self.lookup(item)
                if found is not _UNKNOWN:
                    values.append(found)
        return _literal(tuple(values))

    def alias(self, found: Any, given: Mapping[Any, Hint]) -> Hint:
        """Read a generic alias, such as `Pair = tuple[T, T]`, with these types for its variables."""
        before, self.given = self.given, given
        try:
            return self.read(found)
        finally:
            self.given = before

    def generic(self, origin: Any, args: list[Hint]) -> Hint:
        """Read a generic whose arguments were already read."""
        name = getattr(origin, "_name", None) or getattr(origin, "__name__", "")
        first = args[0] if args else ANY
        if origin in (typing.Union, types.UnionType):
            return union(args)
        if name == "Optional":
            return union([first, NONE])
        if name in _TRANSPARENT:
            return first
        if name in ("TypeGuard", "TypeIs"):
            return _BOOL
        if name in ("Unpack", "Concatenate", "Generic", "Protocol"):
            return ANY
        if origin is abc.Callable or origin is typing.Callable:
            if first.kind == "arguments" or first.kind == "tuple":
                return Hint("callable", args=(*first.args, args[-1] if len(args) > 1 else ANY))
            if len(args) > 2 or (len(args) > 1 and first.kind != "any" and first.kind != "ellipsis"):
                return Hint("callable", args=tuple(args))  # `get_args` of collections.abc.Callable[[A], R] is flat here
            return Hint("callable", args=(ELLIPSIS, args[-1] if len(args) > 1 else ANY))
        if isinstance(origin, typing.NewType | typing.TypeVar):
            return self.read(origin)
        return _object(origin, tuple(args), self.seen, self.owner)


def _object(found: Any, args: tuple[Hint, ...] | None, seen: frozenset[int], owner: type | None = None) -> Hint:
    """Return the hint for a class or special form with its arguments (None if it is not subscripted)."""
    first = args[0] if args else ANY
    try:
        fixed = _FIXED.get(found)
    except TypeError:  # unhashable
        return ANY
    if fixed is not None:
        if found is typing.IO and first == _BYTES:
            return Hint("class", "io.BytesIO")
        return fixed
    name = getattr(found, "_name", None) or getattr(found, "__name__", "")
    if name == "Self" and not isinstance(found, type):
        return Hint("class", name_of(owner)) if owner is not None else ANY
    if found is tuple:
        if args is None:
            return Hint("tuple", args=(ANY, ELLIPSIS))
        return Hint("tuple", args=args)
    if found is type:
        return Hint("type", args=(first,))
    if found in _ELEMENTS:
        kind = _ELEMENTS[found]
        return Hint(kind, args=(first,)) if kind else ANY
    if found in _PAIRS:
        return Hint(_PAIRS[found], args=(first, args[1] if args is not None and len(args) > 1 else ANY))
    if not isinstance(found, type):
        origin = typing.get_origin(found)
        return _object(origin, args, seen, owner) if origin is not None and origin is not found else ANY
    if typing.is_typeddict(found):
        hints = getattr(found, "__annotations__", {})
        reader = _Reader(vars(sys.modules.get(found.__module__, builtins)), found)
        reader.seen = seen | {id(found)}
        keys = Hint("literal", texts=tuple(repr(key) for key in hints)) if hints else _STR
        return Hint("dict", args=(keys, union(reader.read(value) for value in hints.values())))
    if is_protocol(found):
        return Hint("protocol", name_of(found))
    return Hint("class", name_of(found))


def _literal(values: tuple[Any, ...]) -> Hint:
    plain = [value for value in values if isinstance(value, int | str | bytes) and not isinstance(value, enum.Enum)]
    parts = [Hint("literal", texts=tuple(repr(value) for value in plain))] if plain else []
    parts += [NONE for value in values if value is None]
    parts += [Hint("class", name_of(type(value))) for value in values if isinstance(value, enum.Enum)]
    parts += [_literal(typing.get_args(value)) for value in values if typing.get_origin(value) is typing.Literal]
    return union(parts)


def _variables(found: Any) -> tuple[Any, ...]:
    """Return the type variables of a generic alias, none for a class or a special form."""
    if _is_typing(found, "TypeAliasType"):
        return tuple(found.__type_params__)
    return tuple(getattr(found, "__parameters__", ())) if typing.get_origin(found) is not None else ()


def _is_typing(found: Any, name: str) -> bool:
    """`found` is an object of a class of `typing` that this version of Python may lack."""
    return type(found).__name__ == name and type(found).__module__ in ("typing", "typing_extensions")
