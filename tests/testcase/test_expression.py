"""Expressions: immutable, compared by the value that they evaluate to, and closed under moving."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.testcase.expression import Collection, Expression, Lambda, Literal, Name, Ref, map_refs, refs

LEAVES = st.one_of(
    st.sampled_from(["1", "1.0", "True", "'a'", "None"]).map(Literal),
    st.integers(0, 9).map(Ref),
    st.just(Name("builtins", "len")),
    st.integers(-3, -1).map(lambda index: Lambda(3, Ref(index))),
)
EXPRESSIONS: st.SearchStrategy[Expression] = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        Collection, st.sampled_from(["list", "tuple", "iter"]), st.lists(inner, max_size=3).map(tuple)
    ),
    max_leaves=8,
)


def test_references_are_listed_from_left_to_right() -> None:
    nested = Collection("list", (Ref(4), Collection("dict", (Literal("'k'"), Ref(2))), Lambda(0, Ref(3)), Ref(4)))
    assert refs(nested) == (4, 2, 3, 4)


def test_a_lambda_parameter_is_no_reference() -> None:
    assert refs(Lambda(2, Ref(-2))) == ()
    assert map_refs(Lambda(2, Ref(-2)), {}) == Lambda(2, Ref(-2))


def test_moving_fails_for_a_reference_without_a_new_place() -> None:
    with pytest.raises(KeyError):
        map_refs(Collection("list", (Ref(1),)), {0: 0})


@given(EXPRESSIONS, st.integers(0, 5))
def test_moving_shifts_every_reference_and_nothing_else(expression: Expression, shift: int) -> None:
    there = map_refs(expression, {index: index + shift for index in range(10)})
    assert list(refs(there)) == [index + shift for index in refs(expression)]
    assert map_refs(there, {index + shift: index for index in range(10)}) == expression


@given(EXPRESSIONS)
def test_expressions_survive_pickling(expression: Expression) -> None:
    assert pickle.loads(pickle.dumps(expression)) == expression


def test_expressions_of_different_classes_are_never_equal() -> None:
    alike = [Literal("list"), Ref(1), Name("list", "list"), Collection("list", ()), Lambda(1, Literal("list"))]
    assert len(set(alike)) == len(alike)
    assert Lambda(1, Ref(0)) != Collection("list", (Ref(0),))


def test_constants_that_compare_equal_in_python_stay_different() -> None:
    texts = ("1", "True", "1.0", "-0.0", "0.0", "0", "False", "1j")
    assert len({Literal(text) for text in texts}) == len(texts)
