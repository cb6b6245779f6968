"""Names of tests: the operation, the difference from similar tests, and the outcome."""

from __future__ import annotations

import keyword
from dataclasses import replace

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
    text,
)

from fitgym.messages.observation import Observation
from fitgym.subject.types.hints import Hint
from fitgym.suite.names import MAX_LENGTH, Description, description, test_names
from fitgym.testcase.expression import Collection, Expression, Lambda, Literal, Name, Ref
from fitgym.testcase.statement import Statement

NEW_SHELF = Statement(SHELF, args=(text(30.0),))
NEW_BOOK = Statement(BOOK, args=(text("Dune"),))
ADD_BOOK = Statement(ADD, 0, (Ref(1),))


def details_of(statement: Statement, *before: Statement) -> tuple[str, ...]:
    return description(SUBJECT, [*before, statement]).details


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        (text(3), ["3"]),
        (text(-3), ["minus_3"]),
        (text(0), ["zero"]),
        (text(10**6), ["large_int"]),
        (text(0.25), ["0_25"]),
        (text(1e-300), ["float"]),
        (Literal("-0.0"), ["minus_zero"]),
        (Literal('float("nan")'), ["nan"]),
        (Literal('float("-inf")'), ["minus_infinity"]),
        (text(None), ["none"]),
        (text(""), ["empty_string"]),
        (text(" \t"), ["blank_string"]),
        (text("\t"), ["tab"]),
        (text("aWord"), ["a_word"]),
        (text("2.0.0-rc"), ["2_0_0_rc"]),
        (text("=="), ["equals_equals"]),
        (text("ab["), ["ab_open_bracket"]),
        (text("a["), ["string_with_open_bracket"]),
        (text("x-y.z"), ["string_with_hyphen_and_dot"]),
        (text("[{<"), ["symbols"]),
        (text("é"), ["one_letter"]),
        (text("rvl"), ["letters"]),
        (text("aB"), ["mixed_case"]),
        (text("eNpLAgAAYwBj"), ["mixed_case"]),
        (text("q7"), ["letters_and_digits"]),
        (text("XIV"), ["xiv"]),
        (text("-1.0: 2\n0.6: 0"), ["several_lines"]),
        (text("1.0.2.0.6.0.2"), ["string"]),
        (text("中"), ["non_ascii_string"]),
        (text("\x1b"), ["control_character"]),
        (text("a\x12"), ["string"]),
        (text("name\x12"), ["name_control_character"]),
        (text("several words that together are too long"), ["string"]),
        (Collection("list", ()), ["empty_list"]),
        (Collection("list", (text(1), text("a"))), ["two_items"]),
        (Collection("dict", (text("key"), text(1))), ["one_key", "dict_key_1"]),
        (Collection("iter", (text("a" * 30),)), ["one_item"]),
        (Name("shelf", "Genre.POEM"), ["genre_poem"]),
        (Lambda(1, Literal("1")), ["function"]),
        (Lambda(1, Ref(-1)), ["identity_function"]),
    ],
)
def test_an_argument_has_words(argument: Expression, expected: list[str]) -> None:
    assert list(details_of(Statement(THICKNESS, args=(argument,)))) == expected


@pytest.mark.parametrize(
    ("statement", "before", "expected"),
    [
        (Statement(THICKNESS), [], ("no_arguments",)),
        (Statement(SUMMARY, args=(text(1),), kwargs=(("longest", text(None)),)), [], ("1", "longest_none")),
        (Statement(SUMMARY, kwargs=(("longest", text(True)),)), [], ("longest",)),
        (Statement(ADD, 0, (Ref(0),)), [NEW_SHELF], ("itself", "30")),
        (Statement(LEN, 0), [NEW_SHELF, NEW_BOOK, ADD_BOOK], ("30", "after_add")),
        (ADD_BOOK, [NEW_SHELF, NEW_BOOK], ("book", "book_dune", "30")),
        (Statement(SUMMARY, args=(text(""), text(""))), [], ("empty_string", "two_empty_strings")),
        (Statement(SUMMARY, kwargs=(("of", Ref(0)),)), [NEW_BOOK], ("of_book", "of_book_dune")),
    ],
)
def test_keywords_receivers_and_what_was_done_before_have_words(
    statement: Statement, before: list[Statement], expected: tuple[str, ...]
) -> None:
    assert details_of(statement, *before) == expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (Statement(SET_WIDTH, 0, (text(1),)), "shelf_set_width"),
        (Statement(LEN, 0), "shelf_len"),
        (Statement(ITEM, 0, (text(1),)), "shelf_getitem"),
        (Statement(ROOM, 0), "shelf_room"),
        (Statement(FETCH), "fetch"),
        (NEW_BOOK, "book_init"),
    ],
)
def test_members_are_named_after_their_class(statement: Statement, expected: str) -> None:
    assert description(SUBJECT, [NEW_SHELF, statement]).subject == expected


def test_an_expected_exception_is_the_outcome() -> None:
    statements = [Statement(THICKNESS, args=(text("a"),))]
    assert description(SUBJECT, statements, (), Name("builtins", "TypeError")).outcome == "raises_type_error"
    assert description(SUBJECT, statements, (), Name("zlib", "error")).outcome == "raises_zlib_error"


@pytest.mark.parametrize(
    ("kind", "path", "expression", "expected"),
    [
        ("is", "", Literal("None"), "returns_none"),
        ("is", "", Literal("False"), "returns_false"),
        ("equal", "", Literal("''"), "returns_empty_string"),
        ("equal", "", Collection("dict", ()), "returns_empty_dict"),
        ("length", "", Literal("7"), "returns_seven_items"),
        ("text", "", Literal("'2.0.0'"), "returns_2_0_0"),
        ("equal", "", Literal("'qx'"), "returns_string"),
        ("approx", "", Literal("0.25"), "returns_0_25"),
        ("nan", "", Literal('float("nan")'), "returns_nan"),
        ("is", "", Ref(0), "returns_same_object"),
        ("is not", "", Literal("None"), "returns_something"),
        ("isinstance", "", Name("shelf", "ShelfError"), "returns_shelf_error"),
    ],
)
def test_what_comes_back_is_the_outcome(kind: str, path: str, expression: Expression, expected: str) -> None:
    fact = Observation(0, path, kind, expression)  # type: ignore[arg-type]
    assert description(SUBJECT, [Statement(THICKNESS)], [fact]).outcome == expected


def test_the_size_of_a_text_is_no_number_of_items() -> None:
    written = replace(SUBJECT.operations[THICKNESS], returns=Hint("class", "builtins.str"))
    operations = tuple(written if one.id == THICKNESS else one for one in SUBJECT.operations)
    length = Observation(0, "", "length", Literal("242"))
    subject = replace(SUBJECT, operations=operations)
    assert description(subject, [Statement(THICKNESS)], [length]).outcome == "returns_long_text"


def test_a_warning_is_the_outcome_if_nothing_is_returned() -> None:
    warned = Observation(1, "", "warned", Collection("tuple", (Name("builtins", "UserWarning"), Literal("'old'"))))
    assert description(SUBJECT, [Statement(THICKNESS)], [warned]).outcome == "warns"


def test_the_attribute_named_like_an_argument_names_a_new_object() -> None:
    facts = [Observation(0, path, "equal", text(1)) for path in (".id", ".title", ".pages")]
    assert description(SUBJECT, [NEW_BOOK], facts).outcome == "sets_title"


@pytest.mark.parametrize(
    ("statements", "fact", "expected"),
    [
        ([NEW_SHELF, Statement(ROOM, 0)], Observation(1, "", "approx", text(2.5)), "is_2_5"),
        ([NEW_SHELF, NEW_BOOK, ADD_BOOK], Observation(0, ".books", "equal", text(1)), "updates_books"),
        ([NEW_SHELF, NEW_BOOK, ADD_BOOK], Observation(0, ".getvalue()", "equal", text("Dune\n")), "writes_dune"),
        ([NEW_SHELF, NEW_BOOK, ADD_BOOK], Observation(0, ".getvalue()", "equal", text(b"qx")), "writes_text"),
        ([Statement(THICKNESS)], Observation(0, ".group()", "equal", text("Dune")), "returns_dune"),
        ([NEW_SHELF, Statement(SET_WIDTH, 0, (text(1),))], Observation(0, ".width", "equal", text(1)), ""),
        ([NEW_BOOK], Observation(0, ".title", "equal", text("Dune")), "sets_title"),
        ([NEW_BOOK], Observation(0, "[0]", "equal", text("Dune")), ""),
        ([NEW_SHELF, NEW_BOOK, ADD_BOOK], Observation(2, "", "is", Literal("None")), ""),
    ],
)
def test_what_changes_is_an_outcome_too(statements: list[Statement], fact: Observation, expected: str) -> None:
    assert description(SUBJECT, statements, [fact]).outcome == expected


# Names of a suite


def names(*told: tuple[str, list[str], str]) -> list[str]:
    return test_names([Description(subject, tuple(details), outcome) for subject, details, outcome in told])


def test_a_single_test_says_what_comes_of_it_and_no_more() -> None:
    assert names(("parse", ["empty_string"], "raises_value_error")) == ["test_parse_raises_value_error"]


def test_tests_of_one_operation_say_what_tells_them_apart() -> None:
    assert names(
        ("parse", ["empty_string"], "raises_value_error"),
        ("parse", ["1_2"], "returns_1"),
        ("dump", ["1"], "returns_none"),
    ) == ["test_parse_empty_string_raises_value_error", "test_parse_1_2_returns_1", "test_dump_returns_none"]


def test_a_detail_that_all_share_is_not_said() -> None:
    assert names(("f", ["1", "x"], ""), ("f", ["1", "y"], ""), ("f", ["1"], "fails")) == [
        "test_f_x",
        "test_f_y",
        "test_f_fails",
    ]


def test_a_detail_that_says_something_is_preferred() -> None:
    assert names(("f", ["one_letter", "size_minus_1"], ""), ("f", ["letters", "size_1"], "")) == [
        "test_f_size_minus_1",
        "test_f_size_1",
    ]


def test_details_keep_their_order_and_two_are_said_where_one_is_not_enough() -> None:
    # Each of the four words is shared by two tests: only pairs tell all apart.
    told = [("f", [a, b], "") for a in ("a", "b") for b in ("x", "y")]
    assert names(*told) == ["test_f_a_x", "test_f_a_y", "test_f_b_x", "test_f_b_y"]


def test_only_what_cannot_be_told_apart_is_numbered() -> None:
    assert names(("f", [], "fails"), ("f", [], "fails"), ("g", [], ""), ("f", [], "fails")) == [
        "test_f_fails",
        "test_f_fails_2",
        "test_g",
        "test_f_fails_3",
    ]


def test_a_long_name_loses_its_details_before_its_outcome() -> None:
    one = Description("f" * 40, ("d" * 30,), "returns_none")
    assert one.name(one.details) == f"test_{'f' * 40}_returns_none"
    assert Description("word_" * 20).name() == "test_" + "_".join(["word"] * 13)


descriptions = st.lists(
    st.builds(
        Description,
        st.sampled_from(["f", "g", "a_long_name_of_an_operation_that_goes_on_and_on_and_on", "x" * 90]),
        st.lists(st.sampled_from(["a", "b", "none", "w" * 24]), max_size=4, unique=True).map(tuple),
        st.sampled_from(["", "returns_none", "raises_value_error"]),
    ),
    max_size=12,
)


@given(descriptions)
def test_names_are_different_valid_and_not_too_long(told: list[Description]) -> None:
    found = test_names(told)
    assert len(set(found)) == len(told)
    assert all(name.isidentifier() and not keyword.iskeyword(name) and len(name) <= MAX_LENGTH for name in found)
    assert all(name.startswith("test_") for name in found)


@given(st.text(max_size=4) | st.text(st.characters(max_codepoint=160), max_size=3) | st.binary(max_size=3))
def test_every_text_and_every_bytes_give_valid_names(value: str | bytes) -> None:
    for detail in details_of(Statement(THICKNESS, args=(text(value),))):
        assert f"test_{detail}".isidentifier()


def test_the_tests_of_the_shelf_are_named_apart() -> None:
    found = [test.name for test in finished()]
    assert len(set(found)) == len(SUITE)
    assert not any(name[-1].isdigit() and "_returns_" not in name and "_is_" not in name for name in found)


def test_an_operation_with_one_test_is_named_by_its_effect() -> None:
    (test,) = finished([(NEW_SHELF, Statement(FIND, 0, (text(""),)))])
    assert test.name == "test_shelf_find_returns_none"


@pytest.mark.parametrize("text", ["PWN", "__import__('os')", "float(", "float('x')", "1 +", "[" * 10_000, "\0", ""])
def test_a_text_that_is_no_literal_has_no_words_and_is_no_error(text: str) -> None:
    assert "PWN" not in details_of(Statement(THICKNESS, args=(Literal(text),)))
