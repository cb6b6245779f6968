"""Arithmetic infection: which other operators would have given another result.

A mutant that replaces an operator of arithmetic is infected by a visit if the visit would have ended differently: with
another value, with an exception instead of a value, or with a value instead of an exception. All alternatives are tried
where the operator itself is applied, on the same operands, so one execution tells about all mutants of a site.

    family        operators, bit 0 first               operands that are looked at
    arithmetic    +   -   *   /   //   %   **          int, bool and float
    bitwise       &   |   ^   <<   >>                  int and bool

An operand is looked at if it is exactly of such a type and, if it is an integer, at most `WIDTH` bits long; if one of the
two is not, the visit infects nothing, because arithmetic on objects is code of the program. Bit i of a site's mask is set
if the i-th operator of its family gave another result at some visit; the bit of the operator itself stays 0.

    original      alternative     another result
    value         value           unless they are equal (`==`, so 2 and 2.0, or -0.0 and 0.0, are not told apart) or both NaN
    value         raises          yes
    raises        value           yes
    raises        raises          no, whatever they raise

An augmented assignment is the same as its operator. `left ** right` and `left << right` of integers are not computed where
the result would be longer than about 1000 bits: it differs from what every other operator of the family gives.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from fitgym.subject.operators import ARITHMETIC, family

__all__ = [
    "APPLY",
    "IN_PLACE",
    "WIDTH",
    "attribute",
    "infected",
    "item",
    "with_attribute",
    "with_item",
]

WIDTH = 64
"""How long an integer may be, in bits without the sign."""

APPLY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
"""What the operators do."""

IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "**": operator.ipow,
    "&": operator.iand,
    "|": operator.ior,
    "^": operator.ixor,
    "<<": operator.ilshift,
    ">>": operator.irshift,
}
"""What they do in an augmented assignment."""

_WIDEST = 1024  # bits of a result that is computed


def infected(sign: str, left: Any, right: Any, result: Any, raised: bool) -> int:
    """The mask of the alternatives that would have given another result than one visit did.

    Args:
        sign: the operator, without the `=` of an augmented assignment.
        left, right: its operands.
        result: what it gave, anything if it raised.
        raised: it raised an exception.
    """
    signs = family(sign)
    if not (_is_looked_at(left, signs) and _is_looked_at(right, signs)):
        return 0
    mask = 0
    for bit, other in enumerate(signs):
        if other != sign and _differs(other, left, right, result, raised):
            mask |= 1 << bit
    return mask


def _is_looked_at(value: Any, signs: tuple[str, ...]) -> bool:
    kind = type(value)
    if kind is int:
        return bool(value.bit_length() <= WIDTH)
    return kind is bool or (kind is float and signs is ARITHMETIC)


def _differs(sign: str, left: Any, right: Any, result: Any, raised: bool) -> bool:
    if type(left) is not float and type(right) is not float:
        if sign == "**" and left.bit_length() > 1 and left.bit_length() * right > _WIDEST:
            return True
        if sign == "<<" and left and right > _WIDEST:
            return True
    try:
        other = APPLY[sign](left, right)
    except (ArithmeticError, ValueError):
        return not raised
    if raised:
        return True
    return bool(other != result) and not (other != other and result != result)


# `container[index] += value` as `with_item(probe)(item(container, index), value)`, and the same with an attribute: the
# container and the index are evaluated once, and the old value is read before the right side is evaluated.

Place = tuple[Any, Any, Any]


def item(container: Any, index: Any) -> Place:
    """A place in a container, and what is there."""
    return container, index, container[index]


def attribute(owner: Any, name: str) -> Place:
    """An attribute, and what it is."""
    return owner, name, getattr(owner, name)


def with_item(probe: Callable[[Any, Any], Any]) -> Callable[[Place, Any], None]:
    """The probe of an augmented assignment that also stores what comes out, in a container."""

    def store(place: Place, value: Any) -> None:
        container, index, old = place
        container[index] = probe(old, value)

    return store


def with_attribute(probe: Callable[[Any, Any], Any]) -> Callable[[Place, Any], None]:
    """The probe of an augmented assignment that also stores what comes out, as an attribute."""

    def store(place: Place, value: Any) -> None:
        owner, name, old = place
        setattr(owner, name, probe(old, value))

    return store
