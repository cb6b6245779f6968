"""Containers: how each built-in container is compared with a saved copy, and how its content is put back.

No function here runs code of a subclass: all of them call the methods of the built-in base class.
"""

from __future__ import annotations

import array
import collections
import operator
from collections.abc import Callable, Mapping
from typing import Any

__all__ = [
    "CONTAINERS",
    "EMPTY",
    "Fix",
    "comparable",
    "differs",
    "fix_class",
    "fix_namespace",
    "fix_set",
    "is_copied_exactly",
    "is_reordered",
    "no_fix",
]

Fix = Callable[[Any, Any], bool]
"""Puts the saved content back into the living container; False if that cannot be done exactly."""

EMPTY = object()
"""Stands for the content of an empty slot or cell, and for a missing name."""


def comparable(thing: Any, base: type) -> Any:
    """The object to compare in place of a container: itself, if comparing it runs no code of a subclass."""
    return thing if type(thing).__eq__ is base.__eq__ else _Base(thing, base)


def differs(live: Any, saved: Any) -> bool:
    """Whether the container is unequal to its saved copy; an `__eq__` that raises counts as unequal."""
    try:
        return bool(live != saved)
    except BaseException:  # an `__eq__` of the subject refuses
        return True


def is_reordered(live: Any, saved: Any, fix: Fix) -> bool:
    """Whether a dictionary holds its keys in another order than the saved copy; False for other containers."""
    return fix is fix_dict and list(dict.__iter__(_target(live))) != list(saved)


def is_copied_exactly(thing: Any, copy: set[Any]) -> bool:
    """Every item of a set has the same place in a copy, and so in itself when it is filled from that again.

    The order of iteration depends on the history of a set. An empty set takes the table of another one as it is, hashes
    included, if its own comes out at the same size; most sets of literals and all small ones have such a size. (Where
    the import has removed items, what is added later may come in another order.)
    """
    return set.__sizeof__(thing) == set.__sizeof__(copy) and all(
        map(operator.is_, set.__iter__(thing), set.__iter__(copy))
    )


def fix_namespace(live: dict[str, object], saved: dict[str, object]) -> bool:
    """Restore a dictionary of names without rebinding what is unchanged."""
    for name in [name for name in live if name not in saved]:
        del live[name]
    for name, value in saved.items():
        if live.get(name, EMPTY) is not value:
            live[name] = value
    if list(live) != list(saved):  # a name was deleted in between
        live.clear()
        live.update(saved)
    return True


def fix_class(cls: type, live: Mapping[str, object], saved: dict[str, object]) -> bool:
    """Restore the attributes of a class."""
    for name in [name for name in live if name not in saved]:
        type.__delattr__(cls, name)
    for name, value in saved.items():
        if live.get(name, EMPTY) is not value:
            type.__setattr__(cls, name, value)
    return True


def no_fix(live: Any, saved: Any) -> bool:
    """For containers that cannot be restored exactly."""
    return False


def fix_dict(live: Any, saved: dict[Any, Any]) -> bool:
    target = _target(live)
    dict.clear(target)
    dict.update(target, saved)
    return True


def fix_ordered(live: Any, saved: Any) -> bool:
    target = _target(live)
    collections.OrderedDict.clear(target)
    for key, value in saved.items():
        collections.OrderedDict.__setitem__(target, key, value)
    return True


def fix_list(live: Any, saved: Any) -> bool:
    list.__setitem__(_target(live), slice(None), saved)
    return True


def fix_bytes(live: Any, saved: Any) -> bool:
    bytearray.__setitem__(_target(live), slice(None), saved)
    return True


def fix_array(live: Any, saved: Any) -> bool:
    array.array.__setitem__(_target(live), slice(None), saved)
    return True


def fix_deque(live: Any, saved: Any) -> bool:
    target = _target(live)
    collections.deque.clear(target)
    collections.deque.extend(target, saved)
    return True


def fix_set(live: Any, saved: set[Any]) -> bool:
    """Also of use for a set that holds what it held: where items came and went, others are added in another order."""
    target = _target(live)
    set.clear(target)
    set.update(target, saved)
    return True


def _target(live: Any) -> Any:
    return live.thing if type(live) is _Base else live


class _Base:
    """Compares a container whose class redefines equality as its built-in base class would."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, thing: Any, base: Any) -> None:
        self.thing = thing
        self.base = base

    def __eq__(self, other: object) -> bool:
        return self.base.__eq__(self.thing, other) is True


# Each with a copy that runs no code of a subclass. The first that fits counts.
CONTAINERS: tuple[tuple[type, Callable[[Any], Any], Fix], ...] = (
    (
        collections.OrderedDict,
        lambda thing: collections.OrderedDict(collections.OrderedDict.items(thing)),
        fix_ordered,
    ),
    (dict, dict.copy, fix_dict),
    (list, lambda thing: list.__getitem__(thing, slice(None)), fix_list),
    (set, set, fix_set),
    (
        collections.deque,
        lambda thing: collections.deque(collections.deque.__iter__(thing), thing.maxlen),
        fix_deque,
    ),
    (bytearray, lambda thing: bytearray.__getitem__(thing, slice(None)), fix_bytes),
    (array.array, lambda thing: array.array.__getitem__(thing, slice(None)), fix_array),
)
