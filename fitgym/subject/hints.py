"""Hints: which values a parameter takes, as plain data."""

from __future__ import annotations

import ast
import builtins
import collections
import contextlib
import dataclasses
import enum
import functools
import inspect
import io
import itertools
import numbers
import os
import re
import sys
import types
import typing
from builtins import id
from collections import abc
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from fitgym.immutable import immutable

__all__ = [
    "ANY",
    "NONE",
    "Hint",
    "choices",
    "from_annotation",
    "from_default",
    "from_node",
    "home",
    "is_protocol",
    "name_of",
    "of_class",
    "of_value",
    "union",
]


@immutable
class Hint(NamedTuple):
    """Which values a parameter takes or a call returns.

    A named tuple, because hints are keys: their hash and comparison run in C.

    Attributes:
        kind: one of
            "any"       nothing is known;
            "none"      only `None`;
            "class"     an object of the class `name` (`builtins.int`, `package.module.Class`) or of a subclass;
            "union"     one of `args`;
            "literal"   one of the literals `texts`, each as Python source text;
            "list", "set", "frozenset", "iterable", "iterator", "sequence"  of elements `args[0]`;
            "dict", "mapping"  from keys `args[0]` to values `args[1]`;
            "tuple"     of exactly `args`, or of any length when `args` is `(element, Hint("ellipsis"))`;
            "callable"  taking `args[:-1]` (any arguments when the first is `Hint("ellipsis")`), returning `args[-1]`;
            "type"      the class `args[0]` itself or a subclass;
            "protocol"  an object with the attributes that the class `name` demands;
            "ellipsis"  only inside "tuple" and "callable".
        name: class name for "class" and "protocol", else "".
        args: parts of a compound hint.
        texts: literals for "literal".
    """

    kind: str
    name: str = ""
    args: tuple[Hint, ...] = ()
    texts: tuple[str, ...] = ()


ANY = Hint("any")


def union(hints: Iterable[Hint]) -> Hint:
    """One hint for "any of these": nested unions are flattened, repetitions dropped, the order kept.

    An empty choice says nothing, so it is `ANY`; a choice of one is that one.
    """
    parts: dict[Hint, None] = {}
    for hint in hints:
        for part in choices(hint):
            parts.setdefault(part)
    if not parts:
        return ANY
    return next(iter(parts)) if len(parts) == 1 else Hint("union", args=tuple(parts))


def choices(hint: Hint) -> tuple[Hint, ...]:
    """What a union allows, in order; any other hint allows itself."""
    return hint.args if hint.kind == "union" else (hint,)


def of_class(cls: type) -> Hint:
    """The hint for objects of `cls`: containers and abstract collections by their own kind, others by name."""
    return _object(cls, None, frozenset())


def home(cls: type) -> tuple[str, str]:
    """Module and qualified name by which a test imports a class.

    The standard library defines many public classes in private modules (`_io.StringIO`, `pathlib._local.Path`);
    where the public module holds the same class under the same name, that one is named.
    """
    module, qualname = str(cls.__module__), str(cls.__qualname__)
    top = module.partition(".")[0]
    if top not in sys.stdlib_module_names:
        return module, qualname
    if module == "builtins" and not hasattr(builtins, qualname):
        return next((("types", name) for name, known in vars(types).items() if known is cls), (module, qualname))
    if module in ("posix", "nt"):
        candidates = ["os"]
    elif "._" in module or module.startswith("_"):
        shown = module.lstrip("_")
        candidates = [shown.partition("._")[0], shown, shown.replace("._", ".")]
    else:
        return module, qualname
    for candidate in candidates:
        if getattr(sys.modules.get(candidate), qualname, None) is cls:
            return candidate, qualname
    return module, qualname


def name_of(cls: type) -> str:
    """`module.qualname` of a class: its key in `Subject.classes` and its name in a hint."""
    return ".".join(home(cls))


def is_protocol(cls: type) -> bool:
    """The class is a protocol itself; looked up without running a metaclass of the subject."""
    return next((bool(vars(base)["_is_protocol"]) for base in cls.__mro__ if "_is_protocol" in vars(base)), False)


def from_annotation(annotation: Any, namespace: Mapping[str, Any], owner: type | None = None) -> Hint:
    """What an annotation says.

    Args:
        annotation: a class, a `typing` object, or text (a postponed or forward annotation). Text is read name by
            name: a name that cannot be found makes only its own part unknown.
        namespace: where names in text are looked up, before `builtins` and `typing`; a value may itself be a `Hint`.
        owner: the class that `Self` means.
    """
    return _whole(_Reader(namespace, owner).read(annotation))


def from_node(node: ast.expr, namespace: Mapping[str, Any], owner: type | None = None) -> Hint:
    """What an annotation says, given as syntax tree (of a stub file, or of text)."""
    return _whole(_Reader(namespace, owner).node(node))


def from_default(value: Any) -> Hint:
    """What a default value says about its parameter: its type, and nothing at all if it is `None` or a sentinel."""
    if value is None or type(value) is object or value is Ellipsis:
        return ANY
    if isinstance(value, type):
        # `class_=dict` usually wants something to call, `errors=ValueError` a class of that family.
        root = next((base for base in (BaseException, enum.Enum) if issubclass(value, base)), None)
        return Hint("type", args=(of_class(value),)) if root else union([Hint("type", args=(ANY,)), _CALLABLE])
    if type(value) in (tuple, list, set, frozenset, dict) and not value:
        return {"tuple": Hint("tuple", args=(ANY, _ELLIPSIS))}.get(type(value).__name__, of_class(type(value)))
    if type(value) is tuple:
        return Hint("tuple", args=(union(of_value(item) for item in value[:_ITEMS]), _ELLIPSIS))
    return of_value(value)


def of_value(value: Any, depth: int = 3) -> Hint:
    """The observed type of a value; of a container also the types of its first items.

    Runs no code of the subject: only exact builtin containers are looked into, and an iterator is never advanced.
    """
    cls = type(value)
    if value is None:
        return NONE
    if cls in (list, set, frozenset, collections.deque):
        kind = "sequence" if cls is collections.deque else cls.__name__
        items = list(itertools.islice(value, _ITEMS)) if depth else []
        return Hint(kind, args=(union(of_value(item, depth - 1) for item in items),))
    if cls is tuple:
        if not depth or len(value) > 2 * _ITEMS:
            return Hint("tuple", args=(ANY, _ELLIPSIS))
        return Hint("tuple", args=tuple(of_value(item, depth - 1) for item in value))
    if cls is dict:
        items = list(itertools.islice(value.items(), _ITEMS)) if depth else []
        keys = union(of_value(key, depth - 1) for key, _ in items)
        return Hint("dict", args=(keys, union(of_value(item, depth - 1) for _, item in items)))
    if issubclass(cls, type):
        return Hint("type", args=(Hint("class", name_of(value)),))
    if cls in _FUNCTION_TYPES:
        return _CALLABLE
    if cls in _ITERATOR_TYPES:
        return Hint("iterator", args=(ANY,))
    return Hint("class", name_of(cls))


_ITEMS = 5
"""How many items of a container are looked at: enough for the mixtures that occur, constant for a long list."""

NONE = Hint("none")
_ELLIPSIS = Hint("ellipsis")
_CALLABLE = Hint("callable", args=(_ELLIPSIS, ANY))
_INT, _FLOAT, _STR, _BYTES, _BOOL = (
    Hint("class", f"builtins.{name}") for name in ("int", "float", "str", "bytes", "bool")
)
_NUMBER = Hint("union", args=(_INT, _FLOAT))

_FUNCTION_TYPES = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
    functools.partial,
    type(re.compile("").match),  # a method of a heap type: no name in `types`
    type(functools.lru_cache(lambda: None)),
)
_ITERATOR_TYPES = (
    types.GeneratorType,
    map,
    filter,
    zip,
    enumerate,
    reversed,
    type(iter([])),
    type(iter(())),
    type(iter("")),
    type(iter({})),
    type(iter(set())),
    type(iter({}.values())),
    type(iter({}.items())),
    type(iter(range(0))),
    *(cls for cls in vars(itertools).values() if isinstance(cls, type)),
)

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
    Ellipsis: _ELLIPSIS,
    any: ANY,
    callable: _CALLABLE,
    types.FunctionType: _CALLABLE,
    types.MethodType: _CALLABLE,
    types.BuiltinFunctionType: _CALLABLE,
    abc.Hashable: Hint("union", args=(_INT, _STR, Hint("tuple", args=(_INT, _STR)))),
    abc.Sized: Hint("sequence", args=(ANY,)),
    abc.Callable: _CALLABLE,
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
    """A hint that can stand alone: `...` and parameter lists mean something only inside another one."""
    return ANY if hint.kind in ("ellipsis", "arguments") else hint


class _Reader:
    """Reads annotations in one namespace. `_seen` stops aliases and type variables that contain themselves."""

    def __init__(self, namespace: Mapping[str, Any], owner: type | None) -> None:
        self.namespace = namespace
        self.owner = owner
        self.seen: frozenset[int] = frozenset()

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
        except Exception:  # annotations are arbitrary objects of the subject: a strange one says nothing
            return ANY
        finally:
            self.seen = before

    def runtime(self, annotation: Any) -> Hint:
        """A runtime object: a class, or something made with `typing` or `types`."""
        if isinstance(annotation, dataclasses.InitVar):
            return self.read(annotation.type)
        if _is_typing(annotation, "TypeAliasType"):
            return self.read(annotation.__value__)
        if isinstance(annotation, typing.TypeVar):
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
            return self.read(origin.__value__)
        return self.generic(origin, [self.read(argument) for argument in typing.get_args(annotation)])

    def node(self, node: ast.expr) -> Hint:
        """A syntax tree, part by part."""
        match node:
            case ast.Constant(value=None):
                return NONE
            case ast.Constant(value=str(text)):
                return self.read(text)
            case ast.Constant(value=value) if value is Ellipsis:
                return _ELLIPSIS
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
                return self.generic(typing.get_origin(origin) or origin, [self.node(part) for part in parts])
            case ast.Name() | ast.Attribute():
                found = self.lookup(node)
                return ANY if found is _UNKNOWN else self.read(found)
            case ast.Starred():
                return ANY
        return ANY

    def lookup(self, node: ast.expr) -> Any:
        """The object that a dotted name means, `_UNKNOWN` if it cannot be found."""
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

    def generic(self, origin: Any, args: list[Hint]) -> Hint:
        """A generic with its arguments already read."""
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
            return Hint("callable", args=(_ELLIPSIS, args[-1] if len(args) > 1 else ANY))
        if isinstance(origin, typing.NewType | typing.TypeVar):
            return self.read(origin)
        return _object(origin, tuple(args), self.seen, self.owner)


def _object(found: Any, args: tuple[Hint, ...] | None, seen: frozenset[int], owner: type | None = None) -> Hint:
    """A class or special form, with the arguments it was given (None if it was not subscripted)."""
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
            return Hint("tuple", args=(ANY, _ELLIPSIS))
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


def _is_typing(found: Any, name: str) -> bool:
    """`found` is an object of a class of `typing` that this version of Python may not have."""
    return type(found).__name__ == name and type(found).__module__ in ("typing", "typing_extensions")
