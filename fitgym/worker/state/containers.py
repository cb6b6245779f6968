"""Containers: compares each built-in container with a saved copy, and restores its content.

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
"""Restores the saved content of a container in place. Returns False if that cannot be done exactly."""

EMPTY = object()
"""Represents the content of an empty slot or cell, or a missing name."""


def comparable(thing: Any, base: type) -> Any:
    """Return the container if comparing it runs no code of a subclass, else a wrapper that compares as `base`."""
    return thing if type(thing).__eq__ is base.__eq__ else _Base(thing, base)


def differs(live: Any, saved: Any) -> bool:
    """Return True if the container differs from its saved copy. An `__eq__` that raises counts as a difference."""
    try:
        return bool(live != saved)
    except BaseException:  # an `__eq__` of the subject raises
        return True


def is_reordered(live: Any, saved: Any, fix: Fix) -> bool:
    """Return True if a dictionary has its keys in another order than the saved copy; False for other containers."""
    return fix is fix_dict and list(dict.__iter__(_target(live))) != list(saved)


def is_copied_exactly(thing: Any, copy: set[Any]) -> bool:
    """Return True if every item of a set has the same place in its copy, and after refilling the set from the copy.

    The iteration order of a set depends on its history. An empty set copies the hash table of another set, including
    the hashes, if its own table would have the same size. This holds for most sets of literals and for all small sets.
    If the import has removed items, items that are added later may come in another order.
    """
    return set.__sizeof__(thing) == set.__sizeof__(copy) and all(
        map(operator.is_, set.__iter__(thing), set.__iter__(copy))
    )


def fix_namespace(live: dict[str, object], saved: dict[str, object]) -> bool:
    """Restore a dictionary of names. Unchanged names are not rebound."""
    for name in [name for name in live if name not in saved]:
        del live[name]
    for name, value in saved.items():
        if live.get(name, EMPTY) is not value:
            live[name] = value
    if list(live) != list(saved):  # a name was deleted and added again, so its position differs
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
    """Report that a container cannot be restored exactly."""
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
    """Restore a set. Also needed if its items are equal: removed items change the order in which new items come."""
    target = _target(live)
    set.clear(target)
    set.update(target, saved)
    return True


def _target(live: Any) -> Any:
    return live.thing if type(live) is _Base else live


class _Base:
    """Compares a container with the equality of its built-in base class instead of its own."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, thing: Any, base: Any) -> None:
        self.thing = thing
        self.base = base

    def __eq__(self, other: object) -> bool:
        return self.base.__eq__(self.thing, other) is True


# Each class with a copy function that runs no code of a subclass. The first match counts.
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
