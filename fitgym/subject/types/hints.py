"""Hints: types as plain data, and the hint for an observed value.

`declarations` reads annotations and defaults.
"""

from __future__ import annotations

import builtins
import collections
import functools
import itertools
import re
import sys
import types
from collections.abc import Iterable
from typing import Any, NamedTuple

from fitgym.immutable import immutable

__all__ = [
    "ANY",
    "CALLABLE",
    "ELLIPSIS",
    "MOST_ITEMS",
    "NAMESPACES",
    "NONE",
    "PATH",
    "PATH_TEXT",
    "SEVERAL",
    "Hint",
    "choices",
    "home",
    "is_protocol",
    "listed_in",
    "name_of",
    "of_value",
    "union",
]


@immutable
class Hint(NamedTuple):
    """The type of a parameter or of a result.

    A named tuple, because hints are keys: their hash and comparison run in C.

    Attributes:
        kind: one of
            "any"       unknown type;
            "none"      only `None`;
            "class"     an object of the class `name` (`builtins.int`, `package.module.Class`) or of a subclass;
            "union"     one of `args`;
            "literal"   one of the literals `texts`, each as Python source text;
            "list", "set", "frozenset", "iterable", "iterator", "sequence"  of elements `args[0]`;
            "dict", "mapping"  from keys `args[0]` to values `args[1]`;
            "row"       a list of exactly `args`;
            "record"    a dict with the optional keys `texts`; `args` has the hint of each value at the same position;
            "tuple"     of exactly `args`, or of any length when `args` is `(element, Hint("ellipsis"))`;
            "callable"  taking `args[:-1]` (any arguments when the first is `Hint("ellipsis")`), returning `args[-1]`;
            "type"      the class `args[0]` itself or a subclass;
            "protocol"  an object with the attributes that the class `name` requires;
            "ellipsis"  only inside "tuple" and "callable".
        name: class name for "class" and "protocol", else "".
        args: parts of a compound hint.
        texts: literals for "literal"; keys for "record", as source text. For "class", if the class is a plain holder of
            attributes (`NAMESPACES`), the attributes of the object; `args` has their hints at the same positions.
    """

    kind: str
    name: str = ""
    args: tuple[Hint, ...] = ()
    texts: tuple[str, ...] = ()


ANY = Hint("any")
NONE = Hint("none")
ELLIPSIS = Hint("ellipsis")
CALLABLE = Hint("callable", args=(ELLIPSIS, ANY))
"""A callable with any arguments and any result."""

PATH = Hint("class", "pathlib.Path")
PATH_TEXT = Hint("class", "os.fspath")
"""The path of a file as text. It is no other text, so that a test can create the file before."""

NAMESPACES = ("types.SimpleNamespace", "argparse.Namespace")
"""Classes whose objects have exactly the attributes that their constructor receives."""

MOST_ITEMS = 5
"""Maximum number of items examined in a container: enough for common mixtures, fast for a long list."""


def union(hints: Iterable[Hint]) -> Hint:
    """Return the union of hints; nested unions are flattened, repetitions dropped, the order kept.

    The union of no hints is `ANY`; the union of one hint is that hint.
    """
    parts: dict[Hint, None] = {}
    for hint in hints:
        for part in choices(hint):
            parts.setdefault(part)
    if not parts:
        return ANY
    return next(iter(parts)) if len(parts) == 1 else Hint("union", args=tuple(parts))


def choices(hint: Hint) -> tuple[Hint, ...]:
    """Return the alternatives of a union, in order; for any other hint, the hint alone."""
    return hint.args if hint.kind == "union" else (hint,)


SEVERAL = 3
"""The number of constants from which on they are the values that the code expects; fewer are special cases of it."""


def listed_in(hint: Hint) -> list[str]:
    """Return the literals among the alternatives, as source text."""
    return [text for one in choices(hint) if one.kind == "literal" for text in one.texts]


def home(cls: type) -> tuple[str, str]:
    """Return the module and qualified name by which a test imports a class.

    The standard library defines many public classes in private modules (`_io.StringIO`, `pathlib._local.Path`). If a
    public module has the same class under the same name, that module is returned.
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
    """Return `module.qualname` of a class: its key in `Subject.classes` and its name in a hint."""
    return ".".join(home(cls))


def is_protocol(cls: type) -> bool:
    """The class itself is a protocol; the check runs no metaclass of the subject."""
    return next((bool(vars(base)["_is_protocol"]) for base in cls.__mro__ if "_is_protocol" in vars(base)), False)


def of_value(value: Any, depth: int = 3) -> Hint:
    """Return the observed type of a value; for a container also the types of its first items.

    Runs no code of the subject: only exact builtin containers are examined, and an iterator is never advanced.
    """
    cls = type(value)
    if value is None:
        return NONE
    if cls in (list, set, frozenset, collections.deque):
        kind = "sequence" if cls is collections.deque else cls.__name__
        items = list(itertools.islice(value, MOST_ITEMS)) if depth else []
        return Hint(kind, args=(union(of_value(item, depth - 1) for item in items),))
    if cls is tuple:
        if not depth or len(value) > 2 * MOST_ITEMS:
            return Hint("tuple", args=(ANY, ELLIPSIS))
        return Hint("tuple", args=tuple(of_value(item, depth - 1) for item in value))
    if cls is dict:
        items = list(itertools.islice(value.items(), MOST_ITEMS)) if depth else []
        keys = union(of_value(key, depth - 1) for key, _ in items)
        return Hint("dict", args=(keys, union(of_value(item, depth - 1) for _, item in items)))
    if issubclass(cls, type):
        return Hint("type", args=(Hint("class", name_of(value)),))
    if cls in _FUNCTION_TYPES:
        return CALLABLE
    if cls in _ITERATOR_TYPES:
        return Hint("iterator", args=(ANY,))
    return Hint("class", name_of(cls))


_FUNCTION_TYPES = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
    functools.partial,
    type(re.compile("").match),  # a method of a heap type, which `types` has no name for
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
