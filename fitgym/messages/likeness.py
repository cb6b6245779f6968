"""Likeness: which result of a test case is equal to an earlier one, told without running code of the subject.

A saved object that is loaded again is another object with the same content. `assert loaded == saved` says so in one line,
and fails for every attribute that went wrong.
"""

from __future__ import annotations

import sys
import types
from builtins import id
from collections.abc import Callable, Sequence

from fitgym.messages.expressions import ATOMS, MAX_ITEMS, atom
from fitgym.messages.reflection import among, static
from fitgym.testcase.expression import Collection, Expression, Literal, Ref

__all__ = ["Content", "Likeness"]

Content = Callable[[object], Sequence[tuple[object, ...]]]
"""What is known of an object, comparable; nothing if that is not all."""


class Likeness:
    """Finds an earlier result that a new one is equal to.

    Args:
        content: tells what is known of an object.
    """

    def __init__(self, content: Content) -> None:
        self._content = content
        self._known: dict[int, int] = {}  # positions of objects, by identity
        self._by_class: dict[int, list[tuple[int, Sequence[tuple[object, ...]]]]] = {}

    def add(self, value: object, position: int) -> None:
        """Another result."""
        if id(value) in self._known or not _is_object(value):
            return
        self._known[id(value)] = position
        if _compares_fields(type(value)):
            content = self._content(value)
            if content:
                self._by_class.setdefault(id(type(value)), []).append((position, content))

    def of(self, value: object) -> Expression | None:
        """What a result is equal to: an earlier one, or a list or tuple of earlier ones; None if nothing is.

        An object is equal to another one of its class if the class compares field by field (a data class, attrs), and
        the same is known of both.
        """
        if among(type(value), (list, tuple)):
            items: Sequence[object] = value  # type: ignore[assignment]  # its exact type was just checked
            parts = [self._item(item) for item in items] if 0 < len(items) <= MAX_ITEMS else []
            if any(isinstance(part, Ref) for part in parts) and None not in parts:
                return Collection("list" if type(value) is list else "tuple", tuple(part for part in parts if part))
            return None
        return self._equal(value)

    def _item(self, value: object) -> Expression | None:
        if value is None or value is True or value is False:
            return Literal(f"{value!r}")
        if among(type(value), ATOMS):
            return None if type(value) in (float, complex) else atom(value)
        return Ref(self._known[id(value)]) if id(value) in self._known else self._equal(value)

    def _equal(self, value: object) -> Ref | None:
        known = self._by_class.get(id(type(value)))
        if not known or id(value) in self._known:
            return None
        content = self._content(value)
        return next((Ref(position) for position, other in known if other == content), None)


def _is_object(value: object) -> bool:
    plain = (type(None), bool, *ATOMS, list, tuple, dict, set, frozenset, type, types.FunctionType)
    return not among(type(value), plain)


def _compares_fields(cls: type) -> bool:
    """Whether objects of a class are compared field by field: by an `__eq__` that `dataclasses` or attrs wrote."""
    equal = static(cls, "__eq__")
    if type(equal) is not types.FunctionType:
        return False
    if "__attrs_attrs__" in type.__getattribute__(cls, "__dict__"):
        return equal.__code__.co_filename.startswith("<attrs generated")
    dataclasses = sys.modules.get("dataclasses")
    fields = static(cls, "__dataclass_fields__")
    return dataclasses is not None and type(fields) is dict and equal.__code__.co_filename == "<string>"
