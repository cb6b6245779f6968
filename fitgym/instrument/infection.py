"""Infection: whether a mutant of an expression would have changed its result.

All mutants of an expression are evaluated at the expression, with the same operands, so one execution covers all of
them. A visit infects a mutant if the expression would have ended differently: with another value, with an exception
instead of a value, or with a value instead of an exception.

    mutated                     is infected, as bit i
    arithmetic, other operator  if the i-th operator of the family gives another result
    value, a number             -x, x + 1, x - 1 differs from x                                          bits 0, 1, 2
    value, other variable       the other variable has another value                                     bits 3, 4, ...
    comparison                  by the order of the operands, see `fitgym.fitness.weak_mutation`

    family        operators, bit 0 first               operands that are evaluated
    arithmetic    +   -   *   /   //   %   **          int, bool and float
    bitwise       &   |   ^   <<   >>                  int and bool

An operand is evaluated if it has exactly one of these types and, if it is an integer, fits into 64 bits. Arithmetic on
other operands may run code of the program, which must not run again. Then all mutants count as infected. So a mutant
that a test kills is always infected by the test.

    original      alternative     infected
    value         value           unless they are the same: of one type, equal, with one sign of zero; or both NaN
    value         raises          yes
    raises        value           yes
    raises        raises          no: the operators of a family raise the same exception if several raise

An augmented assignment is treated like its operator. `left ** right` and `left << right` of integers are not computed
if the result would be longer than about 1000 bits: it differs from the result of every other operator of the family.
"""

from __future__ import annotations

import math
from typing import Any, Final

from fitgym.instrument.arithmetic import APPLY
from fitgym.mutants.operators import ARITHMETIC, family

__all__ = ["RAISED", "by_operator", "by_value", "have_order", "others", "same"]

RAISED: Final = object()
"""Represents the result of an operation that raised an exception."""

_WIDEST = 1024  # bits of a result; longer results are not computed
_LEAST, _GREATEST = -(1 << 63), (1 << 63) - 1
_NUMBERS = (int, float, bool)
_PLAIN = (int, str, float, bool, bytes, type(None))


def have_order(left: Any, right: Any) -> bool:
    """Return True if <, = or > holds: for two numbers except NaN, two strings or two bytes, exactly of these types."""
    kind, other = type(left), type(right)
    if kind in _NUMBERS and other in _NUMBERS:
        return bool(left == left and right == right)
    return kind is other and (kind is str or kind is bytes)


def others(sign: str) -> int:
    """Return the bits of all operators that can replace `sign`."""
    signs = family(sign)
    return (1 << len(signs)) - 1 - (1 << signs.index(sign))


def by_operator(sign: str, left: Any, right: Any, result: Any) -> int:
    """Return the bits of the operators whose result differs from the result of one visit.

    Args:
        sign: the operator, without the `=` of an augmented assignment.
        left, right: its operands.
        result: its result; `RAISED` if it raised an exception.
    """
    signs = family(sign)
    if not (_is_evaluated(left, signs) and _is_evaluated(right, signs)):
        return others(sign)
    mask = 0
    for bit, other in enumerate(signs):
        if other != sign and _differs(other, left, right, result):
            mask |= 1 << bit
    return mask


def by_value(value: Any, alternatives: tuple[Any, ...]) -> int:
    """Return the bits of replacements that differ from a value: its negation, plus 1, minus 1, and the alternatives."""
    kind = type(value)
    if kind is int:
        mask = 7 if value else 6
    elif kind is float:
        mask = (value == value) | (value + 1.0 != value == value) << 1 | (value - 1.0 != value == value) << 2
    else:
        mask = 7
    bit = 8
    for other in alternatives:
        if not (value is other or (type(other) is kind and kind in _PLAIN and same(value, other))):
            mask |= bit
        bit <<= 1
    return mask


def same(value: Any, other: Any) -> bool:
    """Return True if two numbers, strings or bytes are indistinguishable."""
    if type(value) is not type(other):
        return False
    if type(value) is float and not (value and other):
        return bool(value == other and math.copysign(1.0, value) == math.copysign(1.0, other))
    return bool(value == other or (type(value) is float and value != value and other != other))


def _is_evaluated(value: Any, signs: tuple[str, ...]) -> bool:
    kind = type(value)
    if kind is int:
        return bool(_LEAST <= value <= _GREATEST)
    return kind is bool or (kind is float and signs is ARITHMETIC)


def _differs(sign: str, left: Any, right: Any, result: Any) -> bool:
    if type(left) is not float and type(right) is not float:
        if sign == "**" and left.bit_length() > 1 and left.bit_length() * right > _WIDEST:
            return True
        if sign == "<<" and left and right > _WIDEST:
            return True
    try:
        other = APPLY[sign](left, right)
    except (ArithmeticError, ValueError):
        return result is not RAISED
    return result is RAISED or not same(result, other)
