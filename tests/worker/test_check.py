"""Checks decide like the assertions of exported tests."""

import math
from collections import OrderedDict, deque
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.messages.observation import describe
from fitgym.messages.protocol import encode_expression
from fitgym.worker.check import Approx, Checks, check


class Point:
    def __init__(self, x, y=None):
        self.x = x
        self.y = y


class Spiteful:
    def __eq__(self, other):
        raise RuntimeError("compare me not")

    def __len__(self):
        return -1


def wire(fact):
    return fact.position, fact.path, fact.kind, encode_expression(fact.expression)


@pytest.mark.parametrize(
    ("kind", "expression", "value", "holds"),
    [
        ("equal", "3", 3, True),
        ("equal", "1", True, True),  # `True == 1`, and so would the assertion pass
        ("equal", "3", 4, False),
        ("equal", "'a'", None, False),
        ("equal", ("c", "list", ("1", "2")), [1, 2], True),
        ("equal", ("c", "list", ("1", "2")), (1, 2), False),
        ("is", "None", None, True),
        ("is", "True", 1, False),
        ("is", ("n", "math", "floor"), math.floor, True),
        ("approx", "0.3", 0.1 + 0.2, True),
        ("approx", "0.3", 0.31, False),
        ("approx", "0.3", "0.3", False),
        ("approx", ("c", "tuple", ("1.5", "2")), (1.5 + 1e-9, 2), True),
        ("nan", "float('nan')", math.nan, True),
        ("nan", "float('nan')", 1.0, False),
        ("nan", "float('nan')", "nan", None),
        ("text", "'1/3'", Fraction(1, 3), True),
        ("text", "'1/3'", Fraction(2, 3), False),
        ("list", ("c", "list", ("1", "2")), deque([1, 2]), True),
        ("list", ("c", "list", ("1", "2")), None, None),
        ("length", "2", [7, 7], True),
        ("length", "2", 7, None),
        ("truth", "True", 3, True),
        ("truth", "True", False, False),
        ("truth", "False", None, True),
        ("truth", "False", [0], False),
        ("isinstance", ("n", "builtins", "int"), 7, True),
        ("isinstance", ("n", "builtins", "int"), "7", False),
        ("is not", "None", 0, True),
        ("is not", "None", None, False),
        ("message", r"'full \\(\\d\\)'", ValueError("it is full (3)"), True),
        ("message", "'full'", ValueError("empty"), False),
    ],
)
def test_each_form_decides_as_it_is_written(kind, expression, value, holds):
    decide = check((0, "", kind, expression))
    if holds is None:
        with pytest.raises(TypeError):
            decide([value])
    else:
        assert decide([value]) is holds


def test_the_path_leads_to_the_value():
    decide = check((1, ".x[0]['key']", "equal", "5"))
    assert decide([None, Point([{"key": 5}])])
    assert not decide([None, Point([{"key": 6}])])


def test_a_reference_is_the_result_of_another_statement():
    thing = Point(1)
    assert check((1, "", "is", 0))([thing, thing])
    assert not check((1, "", "is", 0))([thing, Point(1)])


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=4), inner, max_size=4)
        | st.dictionaries(st.text(max_size=4), inner, max_size=3).map(OrderedDict)
        | st.frozensets(st.integers(), max_size=4)
        | st.builds(Point, inner, inner)
    ),
    max_leaves=8,
)


@given(values)
def test_what_was_observed_of_a_value_holds_for_it(value):
    for fact in describe(value, 0, home=__name__):
        assert check(wire(fact))([value]), fact


numbers = st.floats() | st.integers(-(10**20), 10**20) | st.booleans()
flat = (
    numbers
    | st.lists(numbers, max_size=3)
    | st.lists(numbers, max_size=3).map(tuple)
    | st.dictionaries(st.text(max_size=1), numbers, max_size=3)
)


@given(flat, flat | st.none() | st.text(max_size=2))
def test_approx_is_equal_to_what_pytest_takes_for_equal(expected, actual):
    def ours():
        return actual == Approx(expected)

    def pytests():
        return actual == pytest.approx(expected)

    assert ours() == pytests()


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(-3e-6, 3e-6))
def test_approx_is_as_tolerant_as_pytest(number, off):
    assert (number * (1 + off) == Approx(number)) == (number * (1 + off) == pytest.approx(number))


def judge(facts, results, error=None, raises=None, position=-1):
    return Checks(facts, raises, position).judge(results, error)


def test_a_test_tells_executions_apart_by_the_first_of_exception_class_and_facts():
    two = (0, "", "equal", "2")
    error = ("n", "builtins", "LookupError")
    assert judge([two], [2]) == ("", ())
    assert judge([two, (0, "", "equal", "3"), two], [3]) == ("value", (0, 2))
    assert judge([two], [2], ValueError()) == ("raises", ())
    assert judge([two], [2, 5], raises=error, position=1) == ("returns", ())
    assert judge([two], [], KeyError(), raises=error, position=1) == ("raises", ())
    assert judge([two], [2], ValueError(), raises=error, position=1) == ("exception", ())
    assert judge([two], [2], KeyError(), raises=error, position=1) == ("", ())
    assert judge([two], [3], KeyError(), raises=error, position=1) == ("value", (0,))


def test_what_an_assertion_would_raise_counts_as_not_holding():
    assert judge([(0, "", "equal", "2"), (0, "", "length", "0")], [Spiteful()]) == ("value", (0, 1))
    assert judge([(0, ".missing", "equal", "2")], [Point(1)]) == ("value", (0,))


def test_what_an_exception_says_is_checked_of_the_exception():
    facts = [(0, "", "equal", "1"), (1, "", "message", "'full'")]
    checks = Checks(facts, ("n", "builtins", "ValueError"), 1)
    assert checks.judge([1], ValueError("it is full")) == ("", ())
    assert checks.judge([1], ValueError("it is empty")) == ("value", (1,))
    assert checks.judge([2], ValueError("it is full")) == ("value", (0,))
