"""Feedback: facts about the operations of the subject that running test cases has shown."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping

from fitgym.subject.subject import Operation
from fitgym.subject.types.hints import Hint, choices, of_value, union

__all__ = ["Feedback", "joined"]

_MOST_TYPES = 8  # that one operation is said to return

# Asked past whatever a class of the subject says about itself.
_MRO: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_QUALNAME: Callable[[type], str] = type.__dict__["__qualname__"].__get__
_MODULE: Callable[[type], object] = type.__dict__["__module__"].__get__
_SPACE: Callable[[type], Mapping[str, object]] = type.__dict__["__dict__"].__get__
_FLAGS: Callable[[type], int] = type.__dict__["__flags__"].__get__
_MADE_AT_RUN_TIME = 1 << 9  # Py_TPFLAGS_HEAPTYPE


class Feedback:
    """Facts about the subject that running has shown since the last `drain`.

    Attributes:
        returns: for each operation what it was seen to return.
        iterators: operations that returned an iterator though their signature does not say so.
    """

    def __init__(self) -> None:
        self.returns: dict[int, Hint] = {}
        self.iterators: list[int] = []
        self._known: dict[int, Hint] = {}
        self._empty: set[tuple[int, type]] = set()

    def note(self, operation: Operation, value: object, seen: set[type], drained: bool) -> None:
        """An operation returned a value of a type that is not in `seen`."""
        cls = type(value)
        if any(cls is exact for exact in (list, set, frozenset, dict, tuple)) and not value:
            # An empty container does not say what it holds: wait for a better one.
            if (operation.id, cls) in self._empty:
                return
            self._empty.add((operation.id, cls))
        elif _outlives(cls):
            seen.add(cls)
        if not drained and operation.id not in self.iterators and _is_iterator(cls):
            self.iterators.append(operation.id)
        if "<locals>" in _QUALNAME(cls):
            return
        known = self._known.get(operation.id)
        hint = joined(known, of_value(value))
        if hint != known:
            self._known[operation.id] = self.returns[operation.id] = hint

    def drain(self) -> tuple[dict[int, Hint], list[int]]:
        """What is new; it is forgotten here."""
        new = (self.returns, self.iterators)
        self.returns, self.iterators = {}, []
        return new


def joined(known: Hint | None, seen: Hint) -> Hint:
    """What an operation returns by all that was known and what was seen now.

    Each class counts once, with the items of the first container that had any. A process looks at the first value of
    each class only, so what it sees depends on when it was forked; what is made of it here does not.
    """
    parts = [] if known is None else [*choices(known)]
    for hint in choices(seen):
        alike = [part for part in parts if _sort(part) == _sort(hint)]
        is_new = len({*map(_sort, parts)}) < _MOST_TYPES if not alike else _tells(hint) and not any(map(_tells, alike))
        if is_new:
            parts.append(hint)
    return union(parts)


def _sort(hint: Hint) -> tuple[str, str]:
    return hint.kind, hint.name


def _tells(container: Hint) -> bool:
    """It says what is in it."""
    return any(item.kind != "any" for item in container.args)


def _outlives(cls: type) -> bool:
    """The class does not end with the test case that may have made it: it is built in, or a module has it by name."""
    if not _FLAGS(cls) & _MADE_AT_RUN_TIME:
        return True
    module = _MODULE(cls)
    found: object = sys.modules.get(module) if type(module) is str else None
    space: Mapping[str, object] = found.__dict__ if type(found) is types.ModuleType else {}
    for part in _QUALNAME(cls).split("."):
        found = space.get(part)
        space = _SPACE(found) if isinstance(found, type) else {}
    return found is cls


def _is_iterator(cls: type) -> bool:
    return any("__next__" in type.__getattribute__(base, "__dict__") for base in _MRO(cls))
