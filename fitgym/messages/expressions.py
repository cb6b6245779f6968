"""Expressions: source code that evaluates to the same value as an observed result."""

from __future__ import annotations

import collections
import enum
import itertools
import math
import types
from collections.abc import Iterable
from typing import Any

from fitgym.determinism.fleeting import is_fleeting_number, is_fleeting_text
from fitgym.messages.reflection import among, constant, is_class, mro, name_of, static
from fitgym.testcase.expression import Collection, CollectionKind, Expression, Literal, Name

__all__ = [
    "ATOMS",
    "CONTAINERS",
    "DICTS",
    "MAX_ITEMS",
    "MAX_TEXT",
    "atom",
    "enum_member",
    "expression_of",
    "has_float",
    "is_flat_numbers",
]

MAX_ITEMS = 12  # items; a longer container is described by its length
MAX_TEXT = 200  # characters of the source text of one expected value
ATOMS = (int, float, complex, str, bytes, bytearray)
CONTAINERS: dict[type, CollectionKind] = {
    list: "list",
    tuple: "tuple",
    set: "set",
    frozenset: "frozenset",
    dict: "dict",
    collections.OrderedDict: "dict",
    collections.defaultdict: "dict",
    collections.Counter: "dict",
    types.MappingProxyType: "dict",
}
DICTS = tuple(cls for cls, kind in CONTAINERS.items() if kind == "dict")
_EXACT_FROM, _EXACT_TO = 1000, 2**53  # whole floats beyond are no longer next to each other
_WORDS = ("True", "False", "None")


def expression_of(value: object, home: str, depth: int) -> Expression | None:
    """Return an expression that evaluates to `value`; None if it would be too long or differ in the next process.

    Args:
        value: the observed value.
        home: name of the module under test, see `name_of`.
        depth: maximal nesting of containers.
    """
    expression = _expression(value, home, depth)
    return expression if expression is not None and _size(expression) <= MAX_TEXT else None


def atom(value: Any) -> Literal | None:
    """Return a number or text as a literal, None if it is too long or differs in the next process."""
    cls = type(value)
    if cls is int:
        if value.bit_length() > 3 * MAX_TEXT or is_fleeting_number(value):
            return None
        return Literal(f"{value!r}")  # an f-string, because the name `repr` may be replaced by the subject
    if cls is float:
        return None if is_fleeting_number(value) else Literal(_float_text(value))
    if cls is complex:
        finite = math.isfinite(value.real) and math.isfinite(value.imag)
        return Literal(f"{value!r}") if finite else None
    if cls is bytearray:
        value = bytes(value[: MAX_TEXT + 1])
    if len(value) > MAX_TEXT or len(text := f"{value!r}") > MAX_TEXT:
        return None
    if is_fleeting_text(value if cls is str else value.decode("latin-1")):
        return None
    return Literal(text)


def enum_member(value: object, home: str) -> Name | None:
    """Return an enumeration member as an importable name, None if there is none."""
    cls = type(value)
    if not among(enum.Enum, mro(cls)):
        return None
    members = static(cls, "_member_map_")
    owner = name_of(cls, home)
    if type(members) is not dict or owner is None:
        return None
    for name, member in members.items():
        if member is value and type(name) is str and name.isidentifier():
            return Name(owner.module, f"{owner.qualname}.{name}")
    return None


def has_float(expression: Expression) -> bool:
    """Return True if the expression contains a number that can only be compared approximately."""
    if isinstance(expression, Collection):
        return any(has_float(item) for item in expression.items)
    return isinstance(expression, Literal) and _is_inexact(expression.text)


def is_flat_numbers(expression: Expression) -> bool:
    """Return True if `pytest.approx` accepts the expression: a list, a tuple or a dict whose values are all numbers."""
    if not isinstance(expression, Collection) or expression.kind not in ("list", "tuple", "dict"):
        return False
    numbers = expression.items[1::2] if expression.kind == "dict" else expression.items
    keys = expression.items[::2] if expression.kind == "dict" else ()
    return all(
        isinstance(n, Literal) and n.text not in _WORDS and n.text[:1] not in "'\"b" for n in numbers
    ) and not any(has_float(key) for key in keys)


def _expression(value: Any, home: str, depth: int) -> Expression | None:
    cls = type(value)
    if value is None or cls is bool:
        return Literal(f"{value!r}")
    if among(cls, ATOMS):
        return None if cls is float and math.isnan(value) else atom(value)
    if among(cls, CONTAINERS):
        if depth == 0 or len(value) > MAX_ITEMS:
            return None
        parts: Iterable[object] = itertools.chain.from_iterable(value.items()) if among(cls, DICTS) else value
        items: list[Expression] = []
        for part in parts:
            item = _expression(part, home, depth - 1)
            if item is None:
                return None
            items.append(item)
        if among(cls, (set, frozenset)):
            if any(has_float(item) for item in items):
                return None  # a set cannot be compared with a tolerance
            items.sort(key=repr)  # the iteration order depends on the hash seed
        return Collection(CONTAINERS[cls], tuple(items))
    if is_class(value):
        return name_of(value, home)
    return enum_member(value, home) or constant(value, home)


def _float_text(value: float) -> str:
    return f"{value!r}" if math.isfinite(value) else f'float("{value!r}")'


def _is_inexact(text: str) -> bool:
    """Return True if the literal is a finite float or a complex number. Infinities compare exactly.

    So do whole numbers from `_EXACT_FROM` on: they count seconds or cents, and `pytest.approx` would take a timestamp
    for another one that is a quarter of an hour away.
    """
    if text[:1] in "'\"bB" or text.startswith("float("):
        return False
    if text.endswith(("j", "j)")):
        return True
    if text in _WORDS or not any(c in text for c in ".e"):
        return False
    value = float(text)
    return not (_EXACT_FROM <= abs(value) <= _EXACT_TO and value.is_integer())


def _size(expression: Expression) -> int:
    """Return the approximate length of the source text."""
    if isinstance(expression, Collection):
        return 2 + sum(_size(item) + 2 for item in expression.items)
    if isinstance(expression, Literal):
        return len(expression.text)
    return len(expression.qualname) if isinstance(expression, Name) else 4
