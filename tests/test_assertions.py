"""What a finished test checks and what it is called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shelf_subject import (
    ADD,
    BOOK,
    FETCH,
    FIND,
    ITEM,
    LEN,
    ROOM,
    SET_WIDTH,
    SHELF,
    SUBJECT,
    SUITE,
    SUMMARY,
    THICKNESS,
    finished,
    observed,
    text,
)

from fitgym.execution.observation import Observation, Observed
from fitgym.suite.assertions import MAX_ASSERTIONS, assertions, finished_test, finished_tests
from fitgym.suite.names import MAX_LENGTH, candidate_names, distinct_names
from fitgym.testcase.expression import Collection, Expression, Lambda, Literal, Name, Ref
from fitgym.testcase.statement import Statement

NEW_SHELF = Statement(SHELF, args=(text(30.0),))
NEW_BOOK = Statement(BOOK, args=(text("Dune"),))
ADD_BOOK = Statement(ADD, 0, (Ref(1),))


def chosen(statements: list[Statement], *, knows_before: bool = True) -> list[str]:
    """What is asserted, as `position path kind`."""
    before = observed(statements[:-1]) if knows_before else None
    test = finished_test(statements, [observed(statements)], SUBJECT, before)
    assert test is not None
    return [f"{fact.position}{fact.path} {fact.kind}" for fact in test.assertions]


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ([NEW_BOOK], ["0.title equal", "0.pages equal", "0.genre is"]),
        ([NEW_SHELF, NEW_BOOK, ADD_BOOK], ["0.books equal"]),  # what adding has changed, and nothing else
        ([NEW_SHELF, Statement(LEN, 0)], ["1 equal"]),
        ([NEW_SHELF, Statement(ROOM, 0)], ["1 approx"]),
        ([NEW_SHELF, Statement(FIND, 0, (text(""),))], ["1 is"]),  # None says something where it need not be
        ([NEW_SHELF, NEW_BOOK, ADD_BOOK, Statement(LEN, 0)], ["3 equal"]),
        ([NEW_SHELF, Statement(LEN, 0), Statement(ROOM, 0)], ["1 equal", "2 approx"]),
        ([NEW_SHELF, Statement(ITEM, 0, (text(0),))], []),  # it raises, which is a check
        ([NEW_SHELF, NEW_BOOK, ADD_BOOK, ADD_BOOK], []),
    ],
)
def test_the_effect_of_the_last_statement_is_checked(statements: list[Statement], expected: list[str]) -> None:
    assert chosen(statements) == expected


def test_without_a_look_before_the_state_of_what_was_used_is_checked() -> None:
    assert chosen([NEW_SHELF, NEW_BOOK, ADD_BOOK], knows_before=False) == [
        "0.width approx",
        "0.books equal",
        "1.title equal",
        "1.pages equal",
        "1.genre is",
    ]


def test_an_unchanged_state_is_better_than_nothing() -> None:
    same_width = Statement(SET_WIDTH, 0, (text(30.0),))
    assert chosen([NEW_SHELF, same_width]) == ["0.width approx"]


def test_a_test_has_at_most_five_assertions() -> None:
    facts = [Observation(0, f".a{i}", "equal", Literal("1")) for i in range(12)]
    assert assertions([NEW_SHELF], facts, SUBJECT) == tuple(facts[:MAX_ASSERTIONS])


def test_the_class_of_a_result_is_checked_only_if_nothing_else_is_known() -> None:
    kind = Observation(0, "", "isinstance", Name("shelf", "Shelf"))
    length = Observation(0, "", "length", Literal("2"))
    assert assertions([NEW_SHELF], [kind], SUBJECT) == (kind,)
    assert assertions([NEW_SHELF], [kind, length], SUBJECT) == (length,)


def test_an_exception_is_expected_of_the_statement_that_raised() -> None:
    statements = [NEW_SHELF, Statement(ITEM, 0, (text(0),)), Statement(LEN, 0)]
    test = finished_test(statements, [observed(statements)], SUBJECT)
    assert test is not None
    assert (test.raises, test.statements) == (Name("builtins", "IndexError"), tuple(statements[:2]))


@pytest.mark.parametrize(
    "observed",
    [
        [Observed(failure="timeout")],
        [Observed(), Observed(raises=(Name("builtins", "ValueError"),), position=0)],
        [Observed(position=0)],  # nothing that could be expected is importable
    ],
)
def test_a_test_that_cannot_be_trusted_is_not_finished(observed: list[Observed]) -> None:
    assert finished_test([NEW_SHELF], observed, SUBJECT) is None
    assert finished_tests([[NEW_SHELF]], [observed], SUBJECT) == [None]


def test_what_two_executions_saw_differently_is_not_checked() -> None:
    facts = [Observation(0, ".a", "equal", Literal(text)) for text in ("1", "2")]
    test = finished_test([NEW_SHELF], [Observed((facts[0],)), Observed((facts[1],))], SUBJECT)
    assert test is not None and test.assertions == ()


# Names


def names_of(statement: Statement, *before: Statement, raises: Name | None = None) -> list[str]:
    return candidate_names(SUBJECT, [*before, statement], (), raises)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (Statement(THICKNESS, args=(text(3),)), ["test_thickness", "test_thickness_with_3"]),
        (Statement(THICKNESS, args=(text(-3),)), ["test_thickness", "test_thickness_with_minus_3"]),
        (Statement(THICKNESS, args=(text(0),)), ["test_thickness", "test_thickness_with_zero"]),
        (Statement(THICKNESS, args=(text(""),)), ["test_thickness", "test_thickness_with_empty_string"]),
        (Statement(THICKNESS, args=(text(" \t"),)), ["test_thickness", "test_thickness_with_blank_string"]),
        (Statement(THICKNESS, args=(text("aWord"),)), ["test_thickness", "test_thickness_with_a_word"]),
        (Statement(THICKNESS, args=(text("a b"),)), ["test_thickness", "test_thickness_with_string"]),
        (Statement(THICKNESS, args=(text(None),)), ["test_thickness", "test_thickness_with_none"]),
        (Statement(THICKNESS, args=(text(10**6),)), ["test_thickness", "test_thickness_with_large_int"]),
        (Statement(THICKNESS, args=(Literal("-0.0"),)), ["test_thickness", "test_thickness_with_minus_zero"]),
        (Statement(THICKNESS, args=(Literal('float("nan")'),)), ["test_thickness", "test_thickness_with_nan"]),
        (
            Statement(THICKNESS, args=(Literal('float("-inf")'),)),
            ["test_thickness", "test_thickness_with_minus_infinity"],
        ),
        (
            Statement(THICKNESS, args=(Name("shelf", "Genre.POEM"),)),
            ["test_thickness", "test_thickness_with_genre_poem"],
        ),
        (Statement(THICKNESS, args=(Lambda(1, Literal("1")),)), ["test_thickness", "test_thickness_with_function"]),
        (Statement(THICKNESS), ["test_thickness", "test_thickness_without_arguments"]),
        (
            Statement(SUMMARY, args=(Collection("list", ()),)),
            ["test_summary", "test_summary_with_empty_list"],
        ),
        (
            Statement(SUMMARY, args=(text(1),), kwargs=(("longest", text(None)),)),
            ["test_summary", "test_summary_with_longest_none"],
        ),
        (Statement(FETCH, args=(text("é"),)), ["test_fetch", "test_fetch_with_string"]),
        (NEW_BOOK, ["test_book_init", "test_book_init_with_dune"]),
    ],
)
def test_a_test_is_named_after_its_last_statement(statement: Statement, expected: list[str]) -> None:
    assert names_of(statement) == expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (Statement(SET_WIDTH, 0, (text(1),)), "test_shelf_set_width"),
        (Statement(LEN, 0), "test_shelf_len"),
        (Statement(ITEM, 0, (text(1),)), "test_shelf_getitem"),
        (Statement(ROOM, 0), "test_shelf_room"),
    ],
)
def test_members_are_named_after_their_class(statement: Statement, expected: str) -> None:
    assert names_of(statement, NEW_SHELF)[0] == expected


def test_what_was_done_before_can_tell_tests_apart() -> None:
    assert names_of(Statement(LEN, 0), NEW_SHELF, NEW_BOOK, ADD_BOOK)[-1] == "test_shelf_len_after_add"


def test_an_expected_exception_is_always_named() -> None:
    assert names_of(Statement(THICKNESS, args=(text("a"),)), raises=Name("builtins", "TypeError")) == [
        "test_thickness_raises_type_error",
        "test_thickness_with_a_raises_type_error",
    ]


@pytest.mark.parametrize(
    ("kind", "path", "expression", "expected"),
    [
        ("is", "", Literal("None"), "returns_none"),
        ("is", "", Literal("False"), "returns_false"),
        ("equal", "", Literal("''"), "returns_empty_string"),
        ("equal", "", Collection("dict", ()), "returns_empty_dict"),
        ("approx", "", Literal("0.25"), "returns_float"),
        ("nan", "", Literal('float("nan")'), "returns_nan"),
        ("is", "", Ref(0), "returns_same_object"),
        ("isinstance", "", Name("shelf", "ShelfError"), "returns_shelf_error"),
    ],
)
def test_what_comes_back_is_the_second_name(kind: str, path: str, expression: Expression, expected: str) -> None:
    fact = Observation(0, path, kind, expression)  # type: ignore[arg-type]
    assert candidate_names(SUBJECT, [Statement(THICKNESS)], [fact])[1] == f"test_thickness_{expected}"


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [
        ([["a"], ["b"]], ["a", "b"]),
        ([["a", "a_x"], ["a", "a_y"]], ["a_x", "a_y"]),
        ([["a", "a_x", "a_x_1"], ["a", "a_x", "a_x_2"]], ["a_x_1", "a_x_2"]),
        ([["a"], ["a"], ["a"]], ["a", "a_2", "a_3"]),
        ([["a", "a_2"], ["a"], ["a"]], ["a_2", "a", "a_3"]),
        ([["a", "b"], ["a", "c"], ["c"]], ["b", "c", "c_2"]),
        ([["a"], ["a", "b"]], ["a", "b"]),
    ],
)
def test_names_say_only_as_much_as_tells_them_apart(candidates: list[list[str]], expected: list[str]) -> None:
    assert distinct_names(candidates) == expected


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True), max_size=8))
def test_no_two_tests_have_one_name(candidates: list[list[str]]) -> None:
    names = distinct_names(candidates)
    assert len(set(names)) == len(candidates)


def test_long_names_are_cut_at_a_word() -> None:
    statement = Statement(SUMMARY, kwargs=(("a_very_long_name_of_a_parameter_that_goes_on_and_on", text(True)),))
    (_, name) = names_of(statement)
    assert name == "test_summary_with_a_very_long_name_of_a_parameter_that_goes"
    assert len(name) <= MAX_LENGTH


def test_the_tests_of_the_shelf_are_named_apart() -> None:
    names = [test.name for test in finished()]
    assert len(set(names)) == len(SUITE)
    assert not any(name[-1].isdigit() and "_returns_" not in name for name in names)
