"""The assertions and the name of a finished test."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
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
    finished,
    observed,
    operation,
    text,
)

from fitgym.messages.observation import Observation, Observed, agreement
from fitgym.suite.assertions import (
    MAX_ASSERTIONS,
    assertions,
    finished_test,
    finished_tests,
    renamed,
    weakened,
    with_class_facts,
)
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.kills import KillsOfTest
from fitgym.suite.messages import MESSAGE
from fitgym.testcase.expression import Literal, Name, Ref
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
    assert chosen([NEW_SHELF, same_width]) == ["0.width approx"]  # the first fact: the others say as little


def test_an_assigned_attribute_is_checked_before_others_even_if_its_value_is_the_old_one() -> None:
    statements = [NEW_SHELF, Statement(SET_WIDTH, 0, (text(30.0),))]
    width, books = observed(statements).observations[:2]
    assert assertions(statements, [books, width], SUBJECT, before=[books, width]) == (width,)
    assert assertions(statements, [books, width], SUBJECT, before=[books, width], kills=KillsOfTest({})) == (width,)


def test_an_assigned_attribute_is_checked_whatever_else_mutants_would_change() -> None:
    statements = [NEW_SHELF, Statement(SET_WIDTH, 0, (text(30.0),))]
    width, books = observed(statements).observations[:2]
    kills = KillsOfTest({books: {7}})
    assert (width.path, books.path) == (".width", ".books")
    assert assertions(statements, [width, books], SUBJECT, before=[width, books], kills=kills) == (width,)
    assert assertions(statements, [width, books], SUBJECT, before=[width], kills=kills) == (width, books)
    element = width._replace(path=".width[0]")
    assert assertions(statements, [books, element], SUBJECT, before=[books], kills=kills) == (element,)


def test_an_unchanged_state_is_checked_for_what_mutants_would_change() -> None:
    statements = [NEW_SHELF, NEW_BOOK, ADD_BOOK]
    facts = [fact for fact in observed(statements).observations if fact.position == 0]
    width, books = facts[:2]
    found = assertions(statements, facts, SUBJECT, before=facts, kills=KillsOfTest({books: {7}}))
    assert (width.path, books.path, found) == (".width", ".books", (books,))


def test_a_test_has_at_most_five_assertions() -> None:
    facts = [Observation(0, f".a{i}", "equal", Literal("1")) for i in range(12)]
    assert assertions([NEW_SHELF], facts, SUBJECT) == tuple(facts[:MAX_ASSERTIONS])


def test_the_class_of_a_result_is_checked_only_if_nothing_else_is_known() -> None:
    kind = Observation(0, "", "isinstance", Name("shelf", "Shelf"))
    length = Observation(0, "", "length", Literal("2"))
    assert assertions([NEW_SHELF], [kind], SUBJECT) == (kind,)
    assert assertions([NEW_SHELF], [kind, length], SUBJECT) == (length,)


def test_what_is_in_a_result_is_preferred_to_its_length() -> None:
    length, item = Observation(0, "", "length", Literal("2")), Observation(0, "[1]", "equal", Literal("'a long word'"))
    assert assertions([NEW_SHELF], [length, item], SUBJECT, limit=1) == (item,)
    assert assertions([NEW_SHELF], [length, item], SUBJECT, kills=KillsOfTest({length: {1}, item: {1}})) == (item,)
    assert assertions([NEW_SHELF], [length, item], SUBJECT, kills=KillsOfTest({length: {1, 2}, item: {1}})) == (length,)


def test_content_is_checked_before_repeated_arguments_and_before_what_is_empty() -> None:
    genre, title, shelf = (
        Observation(0, path, "equal", Literal(expected))
        for path, expected in ((".genre", "None"), (".title", "'Dune'"), (".shelf", "'SF'"))
    )
    fetched = Statement(FETCH, args=(text("Dune"),))
    assert assertions([fetched], [genre, title, shelf], SUBJECT, limit=1) == (shelf,)
    assert assertions([fetched], [genre, title, shelf], SUBJECT, limit=2) == (title, shelf)
    assert assertions([NEW_BOOK], [genre, title, shelf], SUBJECT, limit=1) == (title,)  # it is there to store it


def test_all_facts_about_a_result_compete_if_it_is_known_what_they_kill() -> None:
    facts = [Observation(0, f".a{i}", "equal", Literal("1")) for i in range(12)]
    assert assertions([NEW_SHELF], facts, SUBJECT, kills=KillsOfTest({facts[11]: {1}})) == (facts[11],)


def test_content_is_checked_as_well_if_only_a_few_mutants_were_tried() -> None:
    size, genre, title = (
        Observation(0, path, "equal", Literal(expected))
        for path, expected in ((".size", "3"), (".genre", "None"), (".title", "'Dune'"))
    )
    few = KillsOfTest({genre: {1}}, complete=False)
    assert assertions([NEW_BOOK], [size, genre, title], SUBJECT, kills=few) == (size, genre, title)
    assert assertions([NEW_BOOK], [size, genre, title], SUBJECT, kills=few._replace(complete=True)) == (genre,)
    assert assertions([NEW_BOOK], [size, genre, title], SUBJECT, kills=KillsOfTest({size: {1}}, complete=False)) == (
        size,
        title,
    )


def test_what_was_so_before_is_no_content_of_a_test_of_which_few_mutants_were_tried() -> None:
    statements = [NEW_SHELF, NEW_BOOK, ADD_BOOK]
    old, changed, other = (Observation(0, f".{name}", "equal", text(name)) for name in ("old", "changed", "other"))
    few = KillsOfTest({old: {1}, changed: {1}}, complete=False)
    assert assertions(statements, [old, changed, other], SUBJECT, before=[old, other], kills=few) == (changed,)
    few = KillsOfTest({old: {1}}, complete=False)
    assert assertions(statements, [old, other], SUBJECT, before=[old, other], kills=few) == (old,)


def test_a_changed_attribute_is_checked_however_many_others_the_object_has() -> None:
    facts = [Observation(0, f".a{i}", "equal", Literal("1")) for i in range(40)]
    statements = [NEW_SHELF, NEW_BOOK, ADD_BOOK]
    assert assertions(statements, facts, SUBJECT, before=facts[:-1]) == (facts[-1],)
    known = assertions(statements, facts, SUBJECT, before=facts, kills=KillsOfTest({facts[-1]: {1}}))
    assert known == (facts[0],), "of the others, only the first dozen"


def test_of_the_elements_of_a_container_two_are_checked_unless_more_kill_mutants() -> None:
    facts = [Observation(0, f"['option_{i}']", "equal", Literal("1")) for i in range(4)]
    assert assertions([NEW_SHELF], facts, SUBJECT) == tuple(facts[:2])
    assert assertions(
        [NEW_SHELF], facts, SUBJECT, kills=KillsOfTest({fact: {i} for i, fact in enumerate(facts)})
    ) == tuple(facts)


def test_a_result_that_is_known_by_its_text_alone_is_no_text() -> None:
    fetched = Statement(FETCH, args=(text("Dune"),))
    kind, words = (
        Observation(0, "", "isinstance", Name("shelf", "Book")),
        Observation(0, "", "text", Literal("'Dune'")),
    )
    title = Observation(0, ".title", "equal", Literal("'Dune'"))
    assert assertions([fetched], [kind, words], SUBJECT) == (words, kind)
    assert assertions([fetched], [kind, words], SUBJECT, kills=KillsOfTest({words: {1}})) == (words, kind)
    assert assertions([fetched], [kind, title, words], SUBJECT) == (title, words)
    assert assertions([NEW_BOOK], [kind, words], SUBJECT) == (words,)  # the class of a new object is certain


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


@pytest.mark.parametrize(
    ("kind", "expression", "expected"),
    [
        ("equal", "1", "isinstance int"),
        ("equal", "'ab'", "isinstance str"),
        ("equal", "''", "isinstance str"),
        ("approx", "0.5", "isinstance float"),
        ("is", "True", "isinstance bool"),
        ("nan", 'float("nan")', "isinstance float"),
        ("text", "'1/2'", ""),
        ("is", "None", ""),
        ("length", "3", ""),
        ("is not", "None", ""),
    ],
)
def test_a_check_that_does_not_hold_each_time_leaves_a_weaker_one(kind: Any, expression: str, expected: str) -> None:
    fact = Observation(0, "", kind, Literal(expression))
    test = weakened(FinishedTest("test_it", (NEW_SHELF,), (fact,)), [0])
    assert (test is None) == (expected == "")
    if test is not None:
        told = [(one.kind, one.expression) for one in test.assertions]
        said = [
            f"{k} {e.qualname if isinstance(e, Name) else e.text}" for k, e in told if isinstance(e, Name | Literal)
        ]
        assert ", ".join(said) == expected


def test_values_that_are_others_each_time_keep_their_class() -> None:
    def shown(*texts: str) -> list[Observed]:
        return [Observed((Observation(0, "", "equal", Literal(text)),)) for text in texts]

    def common(*texts: str) -> list[str]:
        seen = agreement(with_class_facts(shown(*texts)))
        assert seen is not None
        return [fact.kind for fact in seen.observations]

    assert common("'ab'", "'ab'", "'ab'") == ["equal"]
    assert common("'ab'", "'cd'", "'ab'") == ["isinstance"]
    assert common("'ab'", "None", "'ab'") == []


def test_checks_that_hold_stay_as_they_are() -> None:
    facts = tuple(Observation(0, f".a{i}", "equal", Literal("1")) for i in range(3))
    test = weakened(FinishedTest("test_it", (NEW_SHELF,), facts), [0, 2])
    assert test is not None and test.assertions == facts[1:2]


def test_an_unexpected_message_leaves_the_exception() -> None:
    refused = FinishedTest("test_it", (NEW_SHELF,), (), Name("shelf", "ShelfError"), "full")
    assert weakened(refused, [MESSAGE]) == replace(refused, match="")


def test_a_number_that_each_interpreter_chooses_is_only_checked_to_be_one() -> None:
    operations = (*SUBJECT.operations, operation(12, "operator", "Shelf.__hash__", operator="__hash__"))
    subject = replace(SUBJECT, operations=operations)
    test = finished_test(
        [NEW_SHELF, Statement(12, 0)], [Observed((Observation(1, "", "equal", Literal("5")),))], subject
    )
    assert test is not None
    assert test.assertions == (Observation(1, "", "isinstance", Name("builtins", "int")),)


@pytest.mark.parametrize(("operator", "kind"), [("__lt__", "truth"), ("__eq__", "truth"), ("__contains__", "is")])
def test_what_a_comparison_gives_is_checked_by_its_truth(operator: str, kind: str) -> None:
    operations = (*SUBJECT.operations, operation(12, "operator", f"Shelf.{operator}", operator=operator))
    seen = Observed((Observation(1, "", "is", Literal("False")),))
    test = finished_test([NEW_SHELF, Statement(12, 0)], [seen], replace(SUBJECT, operations=operations))
    assert test is not None
    assert [fact.kind for fact in test.assertions] == [kind]


def test_the_name_says_what_is_left_to_check() -> None:
    (test,) = [one for one in finished() if one.name == "test_shelf_find_empty_string_returns_none"]
    without = replace(test, assertions=(Observation(1, "", "isinstance", Name("builtins", "int")),))
    assert [one.name for one in renamed([without], SUBJECT)] == ["test_shelf_find_returns_int"]


def test_what_two_executions_saw_differently_is_not_checked() -> None:
    facts = [Observation(0, ".a", "equal", Literal(text)) for text in ("1", "2")]
    test = finished_test([NEW_SHELF], [Observed((facts[0],)), Observed((facts[1],))], SUBJECT)
    assert test is not None
    assert test.assertions == (Observation(0, "", "is not", Literal("None")),)  # all that is left to say
