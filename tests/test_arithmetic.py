"""Which alternatives of an arithmetic operator a visit infects."""

import math
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.instrument.arithmetic import APPLY, IN_PLACE, WIDTH, infected
from fitgym.subject.operators import ARITHMETIC, BITWISE, family


def alternatives(sign, left, right):
    """The operators that would have given another result, as one text."""
    try:
        mask = infected(sign, left, right, APPLY[sign](left, right), False)
    except Exception:
        mask = infected(sign, left, right, None, True)
    return " ".join(other for bit, other in enumerate(family(sign)) if mask >> bit & 1)


@pytest.mark.parametrize(
    ("sign", "left", "right", "expected"),
    [
        ("+", 5, 3, "- * / // % **"),  # 8: 2 15 1.67 1 2 125
        ("+", 2, 2, "- / // %"),  # 4: 0 4 1 1 0 4
        ("+", 7, 0, "* / // % **"),  # 7: 7 0 raises raises raises 1
        ("*", 1, 1, "+ - %"),  # 1: 2 0 1 1 0 1
        ("/", 6, 2, "+ - * % **"),  # 3.0: 8 4 12 3 0 36
        ("//", 6, 2, "+ - * % **"),
        ("/", 1, 0, "+ - * **"),  # raises, as // and % do
        ("%", -7, 2, "+ - * / // **"),
        ("**", 2, 0.5, "+ - * / // %"),
        ("-", 0.0, -0.0, "/ // % **"),  # 0.0: 0.0, -0.0, raises, raises, raises, 1.0
        ("+", math.inf, math.inf, "- / // %"),
        ("-", math.inf, math.inf, "+ * **"),  # NaN, as / // % are
        ("*", True, 2.0, "+ - / // % **"),
        ("&", 6, 3, "| ^ << >>"),  # 2: 7 5 48 0
        ("&", True, True, "^ << >>"),
        ("<<", 1, -1, "& | ^"),  # raises, as >> does
        (">>", 0, 5, "| ^"),
        ("|", 0, 1 << 40, "& << >>"),
        ("+", 10**6, 10**6, "- * / // % **"),
        ("-", 2, 10**15, "+ * / // % **"),
        ("+", 1, 10**15, "- * / // % **"),
        ("*", 2**WIDTH, 3, ""),
        ("*", 2**WIDTH - 1, 3, "+ - / // % **"),
        ("+", "a", "b", ""),
        ("+", 1, "b", ""),
        ("*", "a", 2, ""),
        ("+", 1j, 2, ""),
        ("&", 1.0, 2, ""),
        ("|", {1}, {2}, ""),
    ],
)
def test_another_result_infects(sign, left, right, expected):
    assert alternatives(sign, left, right) == expected


def test_every_operator_has_a_family_and_can_be_applied():
    assert set(ARITHMETIC) | set(BITWISE) == set(APPLY) == set(IN_PLACE)
    for sign, apply in APPLY.items():
        assert sign in family(sign)
        assert apply(13, 5) == IN_PLACE[sign](13, 5) == eval(f"13 {sign} 5")


class Object:
    """Counts what is done with it."""

    def __init__(self):
        self.done = 0

    def _act(self, other):
        self.done += 1
        return self

    __add__ = __sub__ = __mul__ = __truediv__ = __pow__ = __radd__ = __rsub__ = __and__ = __eq__ = __ne__ = _act
    __hash__ = None


class Number(int):
    __add__ = __sub__ = __eq__ = __ne__ = property(lambda self: pytest.fail("a subclass may do anything"))
    __hash__ = None


@pytest.mark.parametrize("other", [3, 2.5, "a", None, Object()])
def test_nothing_is_tried_on_objects_of_the_program(other):
    thing = Object()
    assert infected("+", thing, other, thing, False) == infected("+", other, thing, thing, False) == 0
    assert thing.done == 0
    assert infected("+", Number(3), 3, 6, False) == infected("&", 3, Number(3), 6, False) == 0


numbers = st.one_of(
    st.integers(-9, 9), st.booleans(), st.floats(), st.integers(-(2**64), 2**64), st.sampled_from([1e308, 0.5])
)


def ends(sign, left, right):
    """How an operation ends, told apart as the definition tells."""
    if sign == "**" and type(left) is type(right) is int and abs(left) > 1 and right > 10_000:
        return "a number of a size of its own"
    if sign == "<<" and left and right > 10_000:
        return "a number of a size of its own"
    try:
        result = APPLY[sign](left, right)
    except (ArithmeticError, ValueError):
        return "raises"
    return "NaN" if result != result else result


@given(st.sampled_from(ARITHMETIC), numbers, numbers)
def test_bits_of_arithmetic_are_those_of_the_definition(sign, left, right):
    check_definition(sign, left, right)


@given(st.sampled_from(BITWISE), *[st.one_of(st.integers(-9, 70), st.booleans(), st.integers(-(2**64), 2**64))] * 2)
def test_bits_of_bitwise_operators_are_those_of_the_definition(sign, left, right):
    check_definition(sign, left, right)


def check_definition(sign, left, right):
    if any(type(value) is int and value.bit_length() > WIDTH for value in (left, right)):
        expected = 0
    else:
        end = ends(sign, left, right)
        others = [ends(other, left, right) for other in family(sign)]
        expected = sum(1 << bit for bit, other in enumerate(others) if other != end)
    raised = ends(sign, left, right) == "raises"
    if isinstance(end := ends(sign, left, right), str) and not raised and end != "NaN":
        return  # the operator itself would take for ever
    result = None if raised else APPLY[sign](left, right)
    assert infected(sign, left, right, result, raised) == expected


def test_results_of_any_size_are_told_without_computing_them():
    assert alternatives("*", 3, 2**63) == "+ - / // % **"
    assert alternatives("|", 3, 2**63) == "& << >>"
    assert operator.lshift(1, 1025) == 1 << 1025
