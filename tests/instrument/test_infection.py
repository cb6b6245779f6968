"""Infection: the mutants of an expression that would give another result on the same operands."""

from __future__ import annotations

import math
import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.instrument.arithmetic import APPLY, IN_PLACE
from fitgym.instrument.infection import RAISED, by_operator, by_value, have_order, others, same
from fitgym.mutants.operators import ARITHMETIC, BITWISE, family


def named(sign: str, mask: int) -> str:
    return " ".join(other for bit, other in enumerate(family(sign)) if mask >> bit & 1)


def alternatives(sign: str, left: Any, right: Any) -> str:
    """The operators that would have given another result, as one text."""
    try:
        result = APPLY[sign](left, right)
    except Exception:
        result = RAISED
    return named(sign, by_operator(sign, left, right, result))


@pytest.mark.parametrize(
    ("sign", "left", "right", "expected"),
    [
        ("+", 5, 3, "- * / // % **"),  # 8: 2 15 1.67 1 2 125
        ("+", 2, 2, "- / // %"),  # 4: 0 4 1.0 1 0 4
        ("+", 7, 0, "* / // % **"),  # 7: 7 0 raises raises raises 1
        ("*", 1, 1, "+ - / %"),  # 1: 2 0 1.0 1 0 1
        ("/", 6, 2, "+ - * // % **"),  # 3.0: 8 4 12 3 0 36
        ("/", 6.0, 2, "+ - * % **"),  # 3.0: 8.0 4.0 12.0 3.0 0.0 36.0
        ("//", 4, 2, "+ * / % **"),  # 2: 6 2 8 2.0 0 16
        ("/", 1, 0, "+ - * **"),  # raises, as // and % do
        ("%", -7, 2, "+ - * / // **"),
        ("**", 2, 0.5, "+ - * / // %"),
        ("-", 0.0, -0.0, "* / // % **"),  # 0.0: 0.0, -0.0, raises, raises, raises, 1.0
        ("+", 0.0, 0.0, "/ // % **"),  # 0.0: 0.0 0.0 raises raises raises 1.0
        ("+", math.inf, math.inf, "- / // %"),
        ("-", math.inf, math.inf, "+ * **"),  # NaN, as / // % are
        ("*", True, 2.0, "+ - / // % **"),
        ("&", 6, 3, "| ^ << >>"),  # 2: 7 5 48 0
        ("&", True, True, "^ << >>"),  # True: True False 2 0
        ("|", 1, True, "^ << >>"),  # 1: 1 0 2 0
        ("<<", 1, -1, "& | ^"),  # raises, as >> does
        (">>", 0, 5, "| ^"),
        ("|", 0, 1 << 40, "& << >>"),
        ("+", 10**6, 10**6, "- * / // % **"),
        ("-", 2, 10**15, "+ * / // % **"),
        ("*", 3, 2**62, "+ - / // % **"),
        ("|", 3, 2**62, "& << >>"),
        ("*", -(2**63), 1, "+ - / %"),  # -2**63: one more, one less, -2.0**63, the same, 0, the same
    ],
)
def test_another_result_infects(sign: str, left: Any, right: Any, expected: str) -> None:
    assert alternatives(sign, left, right) == expected


@pytest.mark.parametrize(
    ("sign", "left", "right"),
    [("+", "a", "b"), ("+", 1, "b"), ("*", 2**63, 3), ("+", 1j, 2), ("&", 1.0, 2), ("|", {1}, {2}), ("+", None, 1)],
)
def test_what_is_not_looked_at_infects_all(sign: str, left: Any, right: Any) -> None:
    assert alternatives(sign, left, right) == " ".join(other for other in family(sign) if other != sign)


def test_every_operator_has_a_family_and_can_be_applied() -> None:
    assert set(ARITHMETIC) | set(BITWISE) == set(APPLY) == set(IN_PLACE)
    for sign, apply in APPLY.items():
        assert sign in family(sign) and sign not in named(sign, others(sign)).split()
        assert apply(13, 5) == IN_PLACE[sign](13, 5) == eval(f"13 {sign} 5")


class Object:
    """Counts what is done with it."""

    def __init__(self) -> None:
        self.done = 0

    def _act(self, other: object) -> Any:
        self.done += 1
        return self

    __add__ = __sub__ = __mul__ = __truediv__ = __pow__ = __radd__ = __rsub__ = __and__ = __eq__ = __ne__ = _act
    __neg__ = __bool__ = __lt__ = __gt__ = _act
    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("other", [3, 2.5, "a", None, Object()])
def test_nothing_is_tried_on_objects_of_the_program(other: Any) -> None:
    thing = Object()
    assert by_operator("+", thing, other, thing) == by_operator("+", other, thing, thing) == others("+")
    assert by_value(thing, (other, thing)) == 0b01111 and by_value(other, (thing,)) == by_value(other, ()) | 8
    assert not have_order(thing, other)
    assert thing.done == 0


class Number(int):
    """A subclass may do anything."""

    __add__ = __sub__ = __eq__ = __ne__ = __neg__ = __lt__ = property(lambda self: pytest.fail("it was asked"))
    __hash__ = None  # type: ignore[assignment]


def test_nothing_is_tried_on_subclasses() -> None:
    assert by_operator("+", Number(3), 3, 6) == others("+") and by_operator("&", 3, Number(3), 6) == others("&")
    assert by_value(Number(3), (3,)) == 0b1111 and not have_order(Number(3), 3)


numbers = st.one_of(
    st.integers(-9, 9), st.booleans(), st.floats(), st.integers(-(2**65), 2**65), st.sampled_from([1e308, 0.5, -0.0])
)


def ends(sign: str, left: Any, right: Any) -> object:
    """How an operation ends, told apart as the definition tells."""
    if sign == "**" and type(left) is type(right) is int and abs(left) > 1 and right > 2_000:
        return "a number of a size of its own"
    if sign == "<<" and left and right > 2_000:
        return "a number of a size of its own"
    try:
        result = APPLY[sign](left, right)
    except (ArithmeticError, ValueError):
        return "raises"
    # This tells 2 from 2.0 and True, 0.0 from -0.0, and no NaN from another.
    return (int, result) if type(result) is int else repr(result)


@given(st.sampled_from(ARITHMETIC), numbers, numbers)
def test_bits_of_arithmetic_are_those_of_the_definition(sign: str, left: Any, right: Any) -> None:
    check_definition(sign, left, right)


whole = st.one_of(st.integers(-9, 70), st.booleans(), st.integers(-(2**65), 2**65))


@given(st.sampled_from(BITWISE), whole, whole)
def test_bits_of_bitwise_operators_are_those_of_the_definition(sign: str, left: Any, right: Any) -> None:
    check_definition(sign, left, right)


def check_definition(sign: str, left: Any, right: Any) -> None:
    end = ends(sign, left, right)
    if end == "a number of a size of its own":
        return  # the operator itself would take for ever
    expected = sum(1 << bit for bit, other in enumerate(family(sign)) if ends(other, left, right) != end)
    if any(type(value) is int and not -(2**63) <= value < 2**63 for value in (left, right)):
        expected = others(sign)
    result = RAISED if end == "raises" else APPLY[sign](left, right)
    assert by_operator(sign, left, right, result) == expected


VALUES = [
    (5, (5, 6, 5.0, True, "5"), 0b11110_111),
    (0, (False, 0), 0b01_110),
    (True, (1, True), 0b01_111),
    (False, (None,), 0b1_111),
    (2.5, (2.5,), 0b0_111),
    (0.0, (0.0, -0.0, 0), 0b110_111),
    (math.nan, (math.nan, float("nan"), 1.0), 0b100_000),
    (math.inf, (math.inf, 1e300), 0b10_001),
    (1e300, (), 0b001),
    ("a", ("a", "b", b"a"), 0b110_111),
    (None, (None, 0), 0b10_111),
    (2**70, (2**70, 2**70 + 1), 0b10_111),
    ((1,), ((1,), (2,)), 0b11_111),
]


@pytest.mark.parametrize(("value", "alternatives", "expected"), VALUES, ids=[repr(row[0]) for row in VALUES])
def test_values_that_differ_are_told(value: Any, alternatives: tuple[Any, ...], expected: int) -> None:
    # Equal tuples are one constant of this file's code, and two objects here.
    fresh = tuple([(*other,) if type(other) is tuple else other for other in alternatives])
    # The expected bits are written with the first alternative on the right, after those for numbers.
    assert bin(by_value(value, fresh)) == bin(expected)


@given(numbers)
def test_bits_of_numbers_are_those_of_the_definition(value: Any) -> None:
    changed = [operator.neg(value), value + 1, value - 1]
    assert by_value(value, ()) == sum(1 << bit for bit, other in enumerate(changed) if not same(value, other))


@given(numbers | st.text(), numbers | st.text())
def test_same_is_what_shows_the_same(value: Any, other: Any) -> None:
    assert same(value, other) == (type(value) is type(other) and repr(value) == repr(other))


@given(st.one_of(numbers, st.text(), st.binary(), st.none(), st.just(())), st.one_of(numbers, st.text(), st.binary()))
def test_one_of_three_relations_holds_where_there_is_an_order(left: Any, right: Any) -> None:
    if have_order(left, right):
        assert (left < right) + (left == right) + (left > right) == 1
    else:
        plain = {type(left), type(right)} <= {int, float, bool}
        assert not plain or left != left or right != right
