"""Branch distance: numbers by hand, and properties of all operands."""

import datetime
import decimal
import fractions
import math
import operator
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.instrument.distance import compared, contained, truth
from fitgym.instrument.relations import FALSE_SLOTS, FAR, FURTHEST, TRUE_SLOTS, finite, nu

OPERATORS = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}


def relations(left, right, sign="=="):
    """(d_lt, d_eq, d_gt) of an evaluation that really happened."""
    return compared(sign, left, right, bool(OPERATORS[sign](left, right)))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (3, 5, (0, 2, 3)),  # gap 2; beyond it for >
        (5, 3, (3, 2, 0)),
        (4, 4, (1, 0, 1)),
        (0.5, 0.25, (1.25, 0.25, 0)),
        (True, 0, (2, 1, 0)),
        (1, 1.5, (0, 0.5, 1.5)),
        (decimal.Decimal("1.5"), decimal.Decimal("0.5"), (2, 1, 0)),
        (decimal.Decimal(1), 3, (0, 2, 3)),
        (fractions.Fraction(1, 2), fractions.Fraction(1, 4), (1.25, 0.25, 0)),
        (datetime.date(2024, 3, 1), datetime.date(2024, 2, 28), (3, 2, 0)),  # a leap year
        (datetime.timedelta(minutes=1), datetime.timedelta(seconds=1), (60, 59, 0)),
        (datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2), (0, 86400, 86401)),
        (1 + 1j, 1 - 1j, (0, 2, 0)),  # no order: only equality has a distance
        (0, 10**400, (0, FURTHEST, FURTHEST)),
        (-math.inf, math.inf, (0, FURTHEST, FURTHEST)),
        (math.nan, 1.0, (0, FAR, 0)),
        (None, None, (1, 0, 1)),
        (None, 1, (0, FAR, 0)),
        ("a", b"a", (0, FAR, 0)),
        (object(), object(), (0, 1, 0)),
    ],
)
def test_relations_of_single_values(left, right, expected):
    assert relations(left, right) == expected


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        # equality: one aligned pair, code points 2 apart: 2 / 3; order: they are 2 apart
        ("a", "c", (0, 2 / 3, 3)),
        # common "ab" and "yz" cut off, one character too many
        ("abXyz", "abyz", (0, 1, ord("y") - ord("X") + 1)),
        # "abc" begins "abcde": 2 missing characters
        ("abc", "abcde", (0, 2, 3)),
        ("abcde", "abc", (3, 2, 0)),
        # two pairs 1 apart, 1/2 each; the first decides the order
        (b"ad", b"bc", (0, 1, 2)),
        ("", "", (1, 0, 1)),
        # 16 pairs at nu(1) each, the 4 beyond at 1 each
        ("a" * 20, "b" * 20, (0, 12, 2)),
    ],
)
def test_relations_of_strings(left, right, expected):
    assert relations(left, right) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        # one pair differs by 2: 2 / 3; it is smaller by 2
        ([1, 2], [1, 4], (0, 2 / 3, 3)),
        ((1, 2), (1, 2, 3, 4), (0, 2, 3)),
        ([], [1], (0, 1, 2)),
        # nested: the inner distance is 1 / 2 (one pair one apart), so nu(1 / 2) = 1 / 3; order of the inner pair
        ([[1]], [[2]], (0, 1 / 3, 2)),
        # 8 pairs are looked at, the ninth differs
        ([0] * 9, [0] * 8 + [1], (0, 1, 0)),
        ([object(), 1], [2], (0, 1, 0)),
        ({"a": 1, "b": 2}, {"a": 1, "c": 2}, (0, 2, 0)),
        ({"a": 1}, {"a": 3}, (0, 2 / 3, 0)),
        ({}, {"a": 3, "b": 4}, (0, 2, 0)),
        ({1, 2, 3}, {3, 4}, (0, 3, 0)),
        (frozenset({1}), {1}, (1, 0, 1)),
        ([1] * 100, [1] * 97, (0, 3, 0)),
    ],
)
def test_relations_of_containers(left, right, expected):
    assert relations(left, right) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("sign", "left", "right", "expected"),
    [
        # Neither set contains the other: < is false although nothing is equal or greater.
        ("<", {1}, {2}, (2, 2, 0)),
        (">", {1}, {2}, (0, 2, 2)),
        ("<", {1}, {1, 2}, (0, 1, 1)),
        ("<", math.nan, 1.0, (FAR, FAR, 0)),
        (">=", math.nan, 1.0, (0, FAR, FAR)),
        ("!=", math.nan, math.nan, (0, FAR, 0)),
        # 2**53 + 1 is no float: the difference is 0, the values differ
        ("==", 2**53 + 1, float(2**53), (sys.float_info.min + 1, sys.float_info.min, 0)),
    ],
)
def test_the_outcome_counts_where_the_operands_contradict_it(sign, left, right, expected):
    assert relations(left, right, sign) == expected


def test_an_outcome_that_no_order_explains_is_still_the_outcome():
    for sign, true_slots in TRUE_SLOTS.items():
        for outcome in (True, False):
            found = compared(sign, object(), object(), outcome)
            assert (min(found[slot] for slot in true_slots) == 0) is outcome
            assert (min(found[slot] for slot in FALSE_SLOTS[sign]) == 0) is not outcome


@pytest.mark.parametrize(
    ("sign", "left", "right", "expected"),
    [
        ("in", 3, [10, 5, 9], (2, 0)),  # 5 is 2 away
        ("in", 5, [10, 5, 9], (0, 1)),
        ("not in", 3, [10, 5], (0, 2)),
        ("not in", 5, [5], (1, 0)),
        ("in", 3, [], (1, 0)),
        ("in", 3, [None, "x"], (FAR, 0)),
        ("in", 12, range(10), (3, 0)),
        ("in", -2, range(10), (2, 0)),
        ("in", 3, range(0, 10, 2), (1, 0)),
        ("in", "b", {"a": 0}, (0.5, 0)),
        ("in", "b", "aXa", (0.5, 0)),  # the first window "a" is 1 away, nu(1)
        ("in", "abc", "ab", (1, 0)),  # one character is missing
        ("in", "abc", "zzabczz", (0, 1)),
        ("in", 66, b"AAA", (1, 0)),
        ("in", 3, iter([4]), (1, 0)),  # an iterator must not be touched
        ("is", None, 1, (1, 0)),
        ("is not", None, 1, (0, 1)),
    ],
)
def test_membership(sign, left, right, expected):
    outcome = {
        "in": lambda: not isinstance(right, type(iter([]))) and left in right,
        "not in": lambda: left not in right,
        "is": lambda: left is right,
        "is not": lambda: left is not right,
    }[sign]()
    assert contained(sign, left, right, outcome) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, (1, 0)),
        (7, (0, 7)),
        (-0.5, (0, 0.5)),
        (3 + 4j, (0, 5)),
        (10**400, (0, FURTHEST)),
        (complex(1.7e308, 1.7e308), (0, FURTHEST)),
        (math.nan, (0, FURTHEST)),
        ("abc", (0, 3)),
        ([], (1, 0)),
        ({1: 2}, (0, 1)),
        (None, (1, 0)),
        (object(), (0, 1)),
        (True, (0, 1)),
    ],
)
def test_truth(value, expected):
    assert truth(value, bool(value)) == expected


def test_nu_and_finite():
    assert [nu(0), nu(1), nu(3)] == [0, 0.5, 0.75]
    assert finite(-3) == 3.0
    assert [finite(x) for x in (math.inf, -math.inf, math.nan, 10**400)] == [FURTHEST] * 4


class Spy:
    """Everything that measuring could do with an operand is an error."""

    def __getattribute__(self, name):
        raise AssertionError(name)

    def _refuse(self, *others):
        raise AssertionError("an operand was used")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __len__ = __bool__ = __iter__ = __contains__ = __hash__ = __sub__ = __rsub__ = __float__ = _refuse


class Hashless(type):
    """Classes of this metaclass cannot be put in a set."""

    def __eq__(cls, other):
        raise AssertionError("a class was compared")

    def __getattribute__(cls, name):
        raise AssertionError(name)


class Odd(metaclass=Hashless):
    pass


@pytest.mark.parametrize("kind", ["Spy", "Odd"])
def test_operands_of_the_program_are_not_touched(kind):
    spy = {"Spy": Spy, "Odd": Odd}[kind]()
    for sign in OPERATORS:
        for outcome in (True, False):
            assert compared(sign, spy, 1, outcome)
            assert compared(sign, spy, spy, outcome)
            assert compared(sign, [spy], [spy], outcome)
            assert compared(sign, {"k": spy}, {"k": 1}, outcome)
    for sign in ("in", "not in", "is", "is not"):
        for outcome in (True, False):
            assert contained(sign, spy, [1, 2], outcome)
            assert contained(sign, 1, [spy], outcome)
            assert contained(sign, 1, spy, outcome)
    assert truth(spy, True) == (0, 1)


@pytest.mark.parametrize("base", [int, float, str, bytes, list, tuple, dict, set])
def test_a_subclass_of_a_builtin_is_not_touched(base):
    kind = type("Sub", (base,), {name: getattr(Spy, name) for name in ("__eq__", "__lt__", "__len__", "__sub__")})
    left, right = kind(), kind()
    assert compared("==", left, right, False) == (0, 1, 0)
    assert truth(left, True) == (0, 1)


def test_decimals_leave_no_flags_in_the_programs_context():
    with decimal.localcontext() as context:
        context.clear_flags()
        relations(decimal.Decimal(1) / decimal.Decimal(2), decimal.Decimal("0.3"))
        compared("==", decimal.Decimal("sNaN"), decimal.Decimal(1), False)
        assert not any(context.flags.values())


numbers = st.one_of(st.integers(), st.floats(), st.booleans(), st.integers(10**300, 10**400))
texts = st.text(max_size=40)
leaves = st.one_of(st.none(), numbers, texts, st.binary(max_size=40), st.complex_numbers())
values = st.recursive(
    st.one_of(
        leaves,
        st.decimals(),
        st.fractions(),
        st.dates(),
        st.datetimes(timezones=st.none() | st.just(datetime.UTC)),
        st.timedeltas(),
        st.sets(st.integers(0, 5)),
        st.builds(object),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=12),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(texts, inner, max_size=12),
    ),
    max_leaves=12,
)
pairs = st.one_of(
    st.tuples(values, values),
    st.tuples(numbers, numbers),
    st.tuples(texts, texts),
    st.tuples(st.lists(numbers), st.lists(numbers)),
    values.map(lambda value: (value, value)),
)


@given(pairs, st.sampled_from(sorted(OPERATORS)))
def test_distance_is_zero_exactly_for_the_outcome_that_occurred(pair, sign):
    try:
        outcome = bool(OPERATORS[sign](*pair))
    except (TypeError, decimal.InvalidOperation):  # no order between them, or a signalling NaN
        return
    found = compared(sign, *pair, outcome)
    assert all(0.0 <= value <= FURTHEST for value in found)
    assert (min(found[slot] for slot in TRUE_SLOTS[sign]) == 0.0) is outcome
    assert (min(found[slot] for slot in FALSE_SLOTS[sign]) == 0.0) is not outcome


@given(values, values, st.sampled_from(["in", "not in"]))
def test_distance_of_membership_is_zero_exactly_for_the_outcome(needle, container, sign):
    try:
        outcome = needle in container if sign == "in" else needle not in container
    except (TypeError, ValueError, decimal.InvalidOperation):
        return
    to_true, to_false = contained(sign, needle, container, outcome)
    assert 0.0 <= to_true <= FURTHEST
    assert 0.0 <= to_false <= FURTHEST
    assert (to_true == 0.0) is outcome
    assert (to_false == 0.0) is not outcome


@given(values)
def test_distance_of_truth_is_zero_exactly_for_the_outcome(value):
    to_true, to_false = truth(value, bool(value))
    assert (to_true == 0.0) is bool(value)
    assert (to_false == 0.0) is not bool(value)
    assert max(to_true, to_false) <= FURTHEST


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_a_nearer_number_has_a_smaller_distance(target, one, two):
    near, far = sorted((one, two), key=lambda value: abs(value - target))
    if abs(near - target) < abs(far - target):
        assert relations(near, target)[1] < relations(far, target)[1]


@given(st.text(min_size=1, max_size=10), st.data())
def test_one_right_character_more_is_nearer(target, data):
    position = data.draw(st.integers(0, len(target) - 1))
    wrong = target[:position] + "\x81" + target[position + 1 :]
    if wrong != target:
        worse = "\x81" * len(target) + "x"
        assert relations(wrong, target)[1] < relations(worse, target)[1]


@given(pairs)
def test_equality_is_as_far_from_either_side(pair):
    left, right = pair
    try:
        equal = bool(left == right)
    except decimal.InvalidOperation:
        return
    assert compared("==", left, right, equal)[1] == pytest.approx(compared("==", right, left, equal)[1])
