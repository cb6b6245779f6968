"""Abstraction: partitions of values that a test generator distinguishes, such as "negative int" or "empty str".

A *partition* is named `family:part`, for example `int:negative` or `container:empty`; the families `none` and `object`
have one part and no colon. Each attribute of objects has its own families, such as `object.NAME:bool`.

| family | parts |
|---|---|
| `bool` | `true`, `false` |
| `int` | `negative`, `zero`, `positive` |
| `float` | `negative`, `zero`, `positive` (all finite), `nan`, `inf` (either sign) |
| `str`, `bytes`, `container` | `empty`, `non-empty` |
| `none` | `None` itself |
| `object` | any other object |
| `object.NAME:bool`, `:int`, `:float` | as above, for a public attribute (an *observer*) |

References:
    Almulla and Gay 2022, Learning How to Search, section 3.3, Output Coverage: return types are mapped to lists of
    abstract values. The paper lists no values; these are EvoSuite's, adapted to Python.
Differs from EvoSuite: `bool`, `int` and `float` replace nine primitive types. Floats have `nan` and `inf`. None is a
partition only if the type allows it, because Python has no nullable types by default. Observers are attributes that can
be read without running code of the subject, not methods that an analysis considers pure.
"""

from __future__ import annotations

import ast
import math
import sys
import weakref
from builtins import id
from collections import deque
from collections.abc import Callable, Mapping
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

from fitgym.subject.types.hints import Hint

__all__ = ["OBSERVERS", "Places", "abstract", "family", "partitions", "place", "siblings", "wider"]

OBSERVERS = 10
"""Maximal number of observers of one object, taken in alphabetical order."""

_SIGNS = ("negative", "zero", "positive")
_FILLED = ("empty", "non-empty")
_PARTS: dict[str, tuple[str, ...]] = {
    "bool": ("true", "false"),
    "int": _SIGNS,
    "float": (*_SIGNS, "nan", "inf"),
    "str": _FILLED,
    "bytes": _FILLED,
    "container": _FILLED,
}
_WIDER: dict[str, tuple[str, ...]] = {
    "bool": ("int", "float", "object"),
    "int": ("float", "object"),
    "float": ("object",),
    "str": ("container", "object"),
    "bytes": ("container", "object"),
    "container": ("object",),
}

# `type.__len__(value)` of these types runs no code of the subject, even if a subclass overrides `__len__`.
_SIZED: tuple[tuple[type, str], ...] = (
    (str, "str"),
    (bytes, "bytes"),
    (bytearray, "bytes"),
    (list, "container"),
    (tuple, "container"),
    (dict, "container"),
    (set, "container"),
    (frozenset, "container"),
    (deque, "container"),
    (range, "container"),
    (type({}.keys()), "container"),
    (type({}.values()), "container"),
    (type({}.items()), "container"),
)
_SIZED_EXACTLY = dict(_SIZED)
_PLAIN: dict[type, tuple[tuple[tuple[str, float], ...], ...]] = {
    kind: tuple(((f"{base}:{part}", 0.0),) for part in _FILLED)
    for kind, base in _SIZED
    if kind in (str, bytes, list, tuple, dict, set, frozenset)
}
_SIGNED = {kind: tuple(f"{kind.__name__}:{part}" for part in _SIGNS) for kind in (int, float)}
_MRO: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_SPACE: Callable[[type], Mapping[str, object]] = type.__dict__["__dict__"].__get__
_MOST_PLACES = 1000
_WIDE = 1 << 64  # smaller integers are surely in the range of floats
_LIST_ITERATOR: type = type([].__iter__())

_FAMILY_OF_CLASS = {
    **{f"builtins.{name}": name for name in ("bool", "int", "float", "str", "bytes")},
    "builtins.bytearray": "bytes",
    **{f"builtins.{name}": "container" for name in ("list", "tuple", "dict", "set", "frozenset", "range")},
    **{f"collections.{name}": "container" for name in ("deque", "Counter", "OrderedDict", "defaultdict")},
}
_CONTAINER_HINTS = frozenset({"list", "set", "frozenset", "dict", "sequence", "mapping", "iterable", "iterator"})
_OBJECT_HINTS = frozenset({"callable", "type", "protocol"})


def family(partition: str) -> str:
    """Return the family of a partition: `int` for `int:zero`, `none` for `none`."""
    return partition.rpartition(":")[0] or partition


def siblings(partition: str) -> tuple[str, ...]:
    """Return all partitions of the same family, including this one."""
    base = family(partition)
    parts = _PARTS.get(base.rpartition(":")[2], ())
    return tuple(f"{base}:{part}" for part in parts) or (partition,)


def wider(base: str) -> tuple[str, ...]:
    """Return the families that also contain the values of `base`, narrowest first: `float`, `object` for `int`."""
    return _WIDER.get(base, ())


def place(partition: str, base: str) -> str:
    """Return the partition of the family `base` that contains the values of `partition`.

    For example `place("int:positive", "float")` is `float:positive`, `place("bool:false", "int")` is `int:zero`, and
    `object` contains everything except None. `base` is the family of `partition` or one of `wider(...)`.
    """
    if base in (partition, "object"):
        return base
    part = partition.rpartition(":")[2]
    if family(partition) == "bool" and base != "bool":
        part = "positive" if part == "true" else "zero"
    return f"{base}:{part}"


def partitions(hint: Hint) -> tuple[str, ...] | None:
    """Return the possible partitions of values of the type `hint`, None if the type does not determine them.

    Only partitions that the type allows are returned. `str` has no partition `none`, but `str | None` has. A literal
    type has the partitions of its literals. A non-empty tuple of fixed length is never empty.
    """
    match hint.kind:
        case "none":
            return ("none",)
        case "class" if hint.name == "builtins.object":
            return None
        case "class":
            base = _FAMILY_OF_CLASS.get(hint.name, "object")
            return tuple(f"{base}:{part}" for part in _PARTS.get(base, ())) or (base,)
        case "literal":
            return tuple(dict.fromkeys(_literal(text) for text in hint.texts))
        case "union":
            members = [partitions(member) for member in hint.args]
            if any(member is None for member in members):
                return None
            return tuple(dict.fromkeys(part for member in members for part in member or ()))
        case "row" | "tuple" if hint.args and hint.args[-1].kind != "ellipsis":
            return ("container:non-empty",)
        case kind if kind in ("row", "tuple") or kind in _CONTAINER_HINTS:
            return ("container:empty", "container:non-empty")
        case kind if kind in _OBJECT_HINTS:
            return ("object",)
    return None


class Places:
    """Cache of the places where objects of each class store observable attributes. Does not keep classes alive."""

    def __init__(self) -> None:
        # Keys are ids, because a class may define its own hash and equality.
        self._known: dict[int, tuple[weakref.ref[type], list[tuple[int, str]]]] = {}

    def have(self, kind: type) -> bool:
        """Return True if `of` was called for this class. `abstract` calls it for no number and no container."""
        known = self._known.get(id(kind))
        return known is not None and known[0]() is kind

    def of(self, kind: type) -> list[tuple[int, str]]:
        """Return the observable members of a class: position of the declaring class in the MRO, and name.

        A member is the instance dictionary or a public slot.
        """
        known = self._known.get(id(kind))
        if known is not None and known[0]() is kind:
            return known[1]
        places = [
            (position, name)
            for position, parent in enumerate(_MRO(kind))
            for name, member in _SPACE(parent).items()
            if (name == "__dict__" and type(member) is GetSetDescriptorType)
            or (type(member) is MemberDescriptorType and not name.startswith("_"))
        ]
        if len(self._known) >= _MOST_PLACES:
            self._known.clear()
        self._known[id(kind)] = weakref.ref(kind), places
        return places


def abstract(value: object, places: Places | None = None) -> tuple[tuple[str, float], ...]:
    """Return the partition of a value and the partitions of its observers, each with a number.

    The number is the value itself for bool (0 or 1), int (clipped to the finite floats) and float, and 0.0 otherwise.
    Never raises and never runs code of the subject: types are compared by identity and inheritance, sizes come from the
    built-in base class, and attributes are read only from the instance dictionary and slots.

    Args:
        value: any object.
        places: cache that speeds up objects of known classes.
    """
    kind = type(value)
    plain = _PLAIN.get(kind)
    if plain is not None:
        return plain[len(value) > 0]  # type: ignore[arg-type]  # these types have a length
    if value is None:
        return (("none", 0.0),)
    if kind is bool:
        return (("bool:true", 1.0),) if value else (("bool:false", 0.0),)
    if kind is float or (kind is int and -_WIDE < value < _WIDE):  # type: ignore[operator]
        number = float(value)  # type: ignore[arg-type]
        if number - number == 0.0:  # neither nan nor inf
            return ((_SIGNED[kind][(number > 0) - (number < 0) + 1], number),)
    places = places or Places()
    if not places.have(kind):
        if issubclass(kind, int):
            return (_integer("int", value),)
        if issubclass(kind, float):
            return (_real("float", value),)
        size = _sized(kind, value)
        if size is not None:
            base, length = size
            return ((f"{base}:{_FILLED[length > 0]}", 0.0),)
    try:
        return (("object", 0.0), *_observers(kind, value, places))
    except Exception:  # an object whose attributes cannot be read
        return (("object", 0.0),)


def _sign(number: float) -> str:
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf"
    return _SIGNS[(number > 0) - (number < 0) + 1]


def _integer(base: str, value: Any) -> tuple[str, float]:
    try:
        number = float(int.__int__(value))
    except OverflowError:
        number = sys.float_info.max if int.__gt__(value, 0) else -sys.float_info.max
    return f"{base}:{_sign(number)}", number


def _real(base: str, value: Any) -> tuple[str, float]:
    number = float.__float__(value)
    return f"{base}:{_sign(number)}", number


def _sized(kind: type, value: Any) -> tuple[str, int] | None:
    """Return the family and length of a container, None if it is not one."""
    if kind is _LIST_ITERATOR:
        return "container", value.__length_hint__()
    base = _SIZED_EXACTLY.get(kind)
    if base is not None:
        return base, _length(kind, value)
    for parent, base in _SIZED:
        if issubclass(kind, parent):
            return base, _length(parent, value)
    return None


def _length(kind: Any, value: Any) -> int:
    try:
        return int(kind.__len__(value))
    except OverflowError:  # a range can be longer than `sys.maxsize`
        return sys.maxsize


def _observers(kind: type, value: object, places: Places) -> list[tuple[str, float]]:
    """Return the partitions of public attributes that hold a bool or a number, sorted by name."""
    held: dict[str, object] = {}
    parents = _MRO(kind)
    for position, name in places.of(kind):
        member = _SPACE(parents[position]).get(name)
        if type(member) is MemberDescriptorType:
            try:
                held[name] = member.__get__(value)
            except AttributeError:  # an unset slot
                continue
        elif type(member) is GetSetDescriptorType:
            attributes = member.__get__(value)
            if type(attributes) is dict:
                held.update(attributes)
    shown = [
        (name, content)
        for name, content in held.items()
        if (type(content) is int or type(content) is bool or type(content) is float)
        and type(name) is str
        and not name.startswith("_")
        and name.isidentifier()
    ]
    found: list[tuple[str, float]] = []
    for name, content in sorted(shown)[:OBSERVERS]:
        if type(content) is bool:
            found.append((f"object.{name}:bool:{'true' if content else 'false'}", float(content)))
        elif type(content) is int:
            found.append(_integer(f"object.{name}:int", content))
        else:
            found.append(_real(f"object.{name}:float", content))
    return found


def _literal(text: str) -> str:
    try:
        return abstract(ast.literal_eval(text))[0][0]
    except (ValueError, SyntaxError):  # for example a member of an enumeration
        return "object"
