"""Feedback: facts about the operations of the subject, collected from executions."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping

from fitgym.subject.subject import Operation
from fitgym.subject.types.hints import Hint, choices, of_value, union

__all__ = ["Feedback", "joined"]

_MOST_TYPES = 8  # return types recorded per operation

# Read directly from `type`, so that metaclasses of the subject cannot change the answer.
_MRO: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_QUALNAME: Callable[[type], str] = type.__dict__["__qualname__"].__get__
_MODULE: Callable[[type], object] = type.__dict__["__module__"].__get__
_SPACE: Callable[[type], Mapping[str, object]] = type.__dict__["__dict__"].__get__
_FLAGS: Callable[[type], int] = type.__dict__["__flags__"].__get__
_MADE_AT_RUN_TIME = 1 << 9  # Py_TPFLAGS_HEAPTYPE


class Feedback:
    """Facts about the subject collected since the last `drain`.

    Attributes:
        returns: observed return type by operation.
        iterators: operations that returned an iterator although their signature does not say so. If it declares
            another type, they do not count: the operation has returned an argument of a wrong type.
    """

    def __init__(self) -> None:
        self.returns: dict[int, Hint] = {}
        self.iterators: list[int] = []
        self._known: dict[int, Hint] = {}
        self._empty: set[tuple[int, type]] = set()

    def note(self, operation: Operation, value: object, seen: set[type], drained: bool) -> None:
        """Record a returned value whose type is not in `seen`."""
        cls = type(value)
        if any(cls is exact for exact in (list, set, frozenset, dict, tuple)) and not value:
            # An empty container does not show its item types: wait for a container with items.
            if (operation.id, cls) in self._empty:
                return
            self._empty.add((operation.id, cls))
        elif _outlives(cls):
            seen.add(cls)
        is_new = not drained and operation.id not in self.iterators
        if is_new and _is_iterator(cls) and _is_allowed(cls, operation.returns):
            self.iterators.append(operation.id)
        if "<locals>" in _QUALNAME(cls):
            return
        known = self._known.get(operation.id)
        hint = joined(known, of_value(value))
        if hint != known:
            self._known[operation.id] = self.returns[operation.id] = hint

    def drain(self) -> tuple[dict[int, Hint], list[int]]:
        """Return the new facts and clear them."""
        new = (self.returns, self.iterators)
        self.returns, self.iterators = {}, []
        return new


def joined(known: Hint | None, seen: Hint) -> Hint:
    """Return the return type of an operation from the known type and a newly observed one.

    Each class counts once, with the item types of the first container that had items. A process looks only at the first
    value of each class, so its observations depend on when it was forked. The joined result does not.
    """
    parts = [] if known is None else [*choices(known)]
    for hint in choices(seen):
        alike = [part for part in parts if _class_key(part) == _class_key(hint)]
        is_new = (
            len({*map(_class_key, parts)}) < _MOST_TYPES
            if not alike
            else _has_item_types(hint) and not any(map(_has_item_types, alike))
        )
        if is_new:
            parts.append(hint)
    return union(parts)


def _class_key(hint: Hint) -> tuple[str, str]:
    return hint.kind, hint.name


def _has_item_types(container: Hint) -> bool:
    """Return True if the item types of the container are known."""
    return any(item.kind != "any" for item in container.args)


def _outlives(cls: type) -> bool:
    """Return True if the class exists longer than a test case: it is built in, or a module holds it by name."""
    if not _FLAGS(cls) & _MADE_AT_RUN_TIME:
        return True
    module = _MODULE(cls)
    found: object = sys.modules.get(module) if type(module) is str else None
    space: Mapping[str, object] = found.__dict__ if type(found) is types.ModuleType else {}
    for part in _QUALNAME(cls).split("."):
        found = space.get(part)
        space = _SPACE(found) if isinstance(found, type) else {}
    return found is cls


def _is_allowed(cls: type, declared: Hint) -> bool:
    """The declared type of a result leaves room for an iterator of the class."""
    name = f"{_MODULE(cls)}.{_QUALNAME(cls)}"
    return any(one.kind in ("any", "iterable", "iterator") or one.name == name for one in choices(declared))


def _is_iterator(cls: type) -> bool:
    """Return whether objects of the class are iterators, and no files: these show more than their lines."""
    names = [type.__getattribute__(base, "__dict__") for base in _MRO(cls)]
    return any("__next__" in some for some in names) and not any("readline" in some for some in names)
