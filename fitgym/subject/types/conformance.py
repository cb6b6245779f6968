"""Conformance: whether a value has the type of a hint.

The check runs no code of the subject: it reads types through `type` itself and does not consume iterators. If it cannot
decide, it returns True.
"""

from __future__ import annotations

import collections.abc
import itertools
import sys
import types
from builtins import id
from collections.abc import Callable
from typing import Any

from fitgym.subject.types.hints import Hint, name_of

__all__ = ["conforms"]

_LOOKED_AT = 5  # elements of a container that are checked

_WIDER = {  # values that type checkers accept although their class differs
    "builtins.float": frozenset({"builtins.int", "builtins.bool", "builtins.float"}),
    "builtins.complex": frozenset({"builtins.int", "builtins.bool", "builtins.float", "builtins.complex"}),
    "builtins.bytes": frozenset({"builtins.bytes", "builtins.bytearray", "builtins.memoryview"}),
}

# By identity, because a class may define its own hash and equality; these classes are never collected.
_PLAIN = frozenset(map(id, (type(None), bool, int, float, complex, str, bytes)))
_COUNTABLE = frozenset(map(id, (list, tuple, set, frozenset)))
_NAMES: dict[int, frozenset[str]] = {
    id(cls): frozenset(map(name_of, cls.__mro__))
    for cls in (
        type(None),
        bool,
        int,
        float,
        complex,
        str,
        bytes,
        list,
        tuple,
        dict,
        set,
        frozenset,
        types.FunctionType,
    )
}

_CONTAINERS: dict[str, type] = {
    "list": list,
    "set": set,
    "frozenset": frozenset,
    "tuple": tuple,
    "row": list,
    "dict": dict,
}


def conforms(value: object, hint: Hint) -> bool:
    """Return whether `value` has the type `hint`; True if that cannot be decided."""
    judge = _JUDGES.get(hint.kind)
    return judge is None or judge(value, hint)


def _class(value: object, hint: Hint) -> bool:
    name = hint.name
    if name == "builtins.object":
        return True
    known = _NAMES.get(id(type(value)))
    names = known if known is not None else {name_of(base) for base in _mro(value)}
    if name in names:
        return True
    if name in _WIDER:
        return not _WIDER[name].isdisjoint(names)
    is_builtin = name.startswith("builtins.")
    if is_builtin and known is not None:
        return False
    cls = _found(name)
    if cls is not None and any(base is cls for base in _mro(value)):  # a class under an unexpected name
        return True
    # A value of another class does not conform to a built-in or ordinary class. An abstract class may accept any object
    # that has its methods.
    if is_builtin or (cls is not None and _is_nominal(cls)):
        return False
    return not _plain(value)


def _found(name: str) -> type | None:
    """Return the class of that name if its module is loaded; module-level `__getattr__` is not called."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        found: object = sys.modules.get(".".join(parts[:length]))
        if found is None:
            continue
        for part in parts[length:]:
            space = type.__dict__["__dict__"].__get__(found) if isinstance(found, type) else vars(found)
            found = space.get(part)
            if not isinstance(found, type):
                return None
        return found if isinstance(found, type) else None
    return None


def _is_nominal(cls: type) -> bool:
    """Only subclasses give instances: no metaclass overrides `__instancecheck__`."""
    return not any("__instancecheck__" in vars(base) for base in _mro(cls) if base not in (type, object))


def _plain(value: object) -> bool:
    """The value has a built-in class that conforms only to itself."""
    return id(type(value)) in _PLAIN


def _union(value: object, hint: Hint) -> bool:
    for part in hint.args:
        judge = _JUDGES.get(part.kind)
        if judge is None or judge(value, part):
            return True
    return False


def _literal(value: object, hint: Hint) -> bool:
    # An object of another class may equal the literal, but its comparison would run code of the subject.
    return not _plain(value) or repr(value) in hint.texts or not hint.texts


def _container(value: object, hint: Hint) -> bool:
    kind = _CONTAINERS[hint.kind]
    if not issubclass(type(value), kind):
        return False
    if type(value) is not kind:
        return True
    items: Any = value
    if hint.kind == "dict":
        pairs = itertools.islice(dict.items(items), _LOOKED_AT)
        return len(hint.args) < 2 or all(conforms(k, hint.args[0]) and conforms(v, hint.args[1]) for k, v in pairs)
    if not hint.args:
        return True
    if hint.kind in ("tuple", "row") and hint.args[-1].kind != "ellipsis":
        return len(items) == len(hint.args) and all(map(conforms, items, hint.args))
    return all(conforms(item, hint.args[0]) for item in itertools.islice(items, _LOOKED_AT))


def _iterable(value: object, hint: Hint) -> bool:
    wanted = "__next__" if hint.kind == "iterator" else "__iter__"
    if not any(wanted in vars(base) for base in _mro(value)):
        return wanted == "__iter__" and any("__getitem__" in vars(base) for base in _mro(value))
    if hint.args and id(type(value)) in _COUNTABLE:
        items: collections.abc.Iterable[Any] = value  # type: ignore[assignment]  # its exact type was just checked
        return all(conforms(item, hint.args[0]) for item in itertools.islice(items, _LOOKED_AT))
    return True


def _sequence(value: object, hint: Hint) -> bool:
    return _iterable(value, hint) and any("__getitem__" in vars(base) for base in _mro(value))


def _mapping(value: object, hint: Hint) -> bool:
    return any("keys" in vars(base) for base in _mro(value))


def _callable(value: object, hint: Hint) -> bool:
    return any("__call__" in vars(base) for base in _mro(value))


def _type(value: object, hint: Hint) -> bool:
    return type in _mro(value)


def _none(value: object, hint: Hint) -> bool:
    return value is None


def _mro(value: object) -> tuple[type, ...]:
    """Return the classes of a value, read through `type` itself because a metaclass may lie."""
    return type.__dict__["__mro__"].__get__(type(value))  # type: ignore[no-any-return]


_JUDGES: dict[str, Callable[[object, Hint], bool]] = {
    "none": _none,
    "class": _class,
    "union": _union,
    "literal": _literal,
    "list": _container,
    "set": _container,
    "frozenset": _container,
    "tuple": _container,
    "row": _container,
    "dict": _container,
    "iterable": _iterable,
    "iterator": _iterable,
    "sequence": _sequence,
    "mapping": _mapping,
    "callable": _callable,
    "type": _type,
}
