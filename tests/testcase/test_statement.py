"""Statements and the table that gives equal ones the same number."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.testcase.expression import Collection, Lambda, Literal, Name, Ref
from fitgym.testcase.statement import Statement, StatementTable


def test_references_come_receiver_first_then_arguments_in_order() -> None:
    statement = Statement(0, 5, (Ref(1), Collection("list", (Ref(2),))), (("key", Ref(0)),))
    assert statement.refs == (5, 1, 2, 0)


def test_moving_a_statement_keeps_everything_but_references() -> None:
    statement = Statement(3, 0, (Ref(1), Literal("2")), (("key", Ref(0)),), iterate=True)
    assert statement.moved({0: 7, 1: 8}) == Statement(3, 7, (Ref(8), Literal("2")), (("key", Ref(7)),), iterate=True)


def test_nothing_is_moved_that_refers_to_nothing_behind_the_insertion() -> None:
    statement = Statement(3, 0, (Ref(1), Collection("list", (Ref(2),))))
    assert statement.shifted(3, 2) == statement
    assert statement.shifted(1, 2) == Statement(3, 0, (Ref(3), Collection("list", (Ref(4),))))
    assert statement.shifted(0, 1) == statement.moved({0: 1, 1: 2, 2: 3})


def test_a_receiver_alone_is_moved_without_its_arguments() -> None:
    statement = Statement(3, 5, (Literal("1"), Collection("list", (Literal("2"),))))
    moved = statement.moved({5: 0})
    assert moved == Statement(3, 0, statement.args)
    assert moved.args is statement.args
    assert moved.refs == (0,)


def test_a_statement_that_refers_to_what_has_no_place_cannot_be_moved() -> None:
    for statement in (Statement(3, 0), Statement(3, -1, (Ref(0),)), Statement(3, -1, (), (("key", Ref(0)),))):
        with pytest.raises(KeyError):
            statement.moved({1: 0})


def test_a_copy_with_other_arguments_knows_what_it_refers_to() -> None:
    statement = Statement(3, 4, (Ref(1),), iterate=True)
    assert statement.with_arguments((), (("key", Ref(2)),)) == Statement(3, 4, (), (("key", Ref(2)),), iterate=True)
    assert statement.with_arguments((), (("key", Ref(2)),)).refs == (4, 2)
    assert statement.with_receiver(0).refs == (0, 1)


def test_a_changed_copy_refers_to_what_it_refers_to() -> None:
    statement = Statement(3, 0, (Ref(1),), (("key", Ref(2)),))
    assert statement._replace(args=(Literal("1"),), receiver=4).refs == (4, 2)
    assert statement._replace(kwargs=()) == Statement(3, 0, (Ref(1),))


def test_a_statement_cannot_be_changed_and_survives_pickling() -> None:
    statement = Statement(3, 0, (Ref(1), Lambda(2, Ref(-1))), (("key", Name("shop", "DEFAULT")),), iterate=True)
    with pytest.raises(AttributeError):
        statement.receiver = 1  # type: ignore[misc]
    copy = pickle.loads(pickle.dumps(statement))
    assert (type(copy), copy) == (Statement, statement)
    assert eval(repr(statement)) == statement


def test_equal_statements_have_one_number() -> None:
    table = StatementTable()
    first = table.intern(Statement(0, args=(Literal("1"),)))
    assert table.intern(Statement(0, args=(Literal("1"),))) == first
    assert len(table) == 1


def test_numbers_that_are_equal_in_python_make_different_statements() -> None:
    table = StatementTable()
    texts = ("1", "True", "1.0", "-0.0", "0.0", "0", "False")
    assert len({table.intern(Statement(0, args=(Literal(text),))) for text in texts}) == len(texts)


def test_a_drained_statement_differs_from_one_that_is_not() -> None:
    table = StatementTable()
    assert table.intern(Statement(0)) != table.intern(Statement(0, iterate=True))


def test_a_number_is_never_given_twice() -> None:
    table = StatementTable()
    forgotten = table.intern(Statement(0))
    table.retain([])
    assert len(table) == 0
    assert table.intern(Statement(0)) != forgotten


@given(st.lists(st.integers(0, 9), max_size=6), st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=8))
def test_a_descendant_has_the_numbers_of_its_statements_whatever_it_kept(
    parent: list[int], child: list[tuple[int, bool]]
) -> None:
    table = StatementTable()
    parents = [Statement(operation) for operation in parent]
    testcase = table.testcase(parents)
    same = {one.operation: one for one in parents}
    statements = [same.get(one, Statement(one)) if kept else Statement(one) for one, kept in child]
    assert table.statements(table.descendant(statements, parents, testcase)) == statements
    assert table.descendant(parents, parents, testcase) == testcase
    assert table.descendant(parents[1:], parents, testcase) == testcase[1:]
    assert table.descendant([*parents, *statements], parents, testcase) == table.testcase([*parents, *statements])


def test_only_what_has_changed_is_looked_up() -> None:
    table = StatementTable()
    parents = [Statement(operation) for operation in range(5)]
    table.testcase(parents)
    elsewhere = (100, 101, 102, 103, 104)
    made = table.descendant([*parents[:2], Statement(9), *parents[3:]], parents, elsewhere)
    assert made == (100, 101, 5, 103, 104)


@given(st.lists(st.lists(st.integers(0, 20), max_size=5), max_size=6), st.data())
def test_retaining_keeps_the_numbers_of_the_living(tests: list[list[int]], data: st.DataObject) -> None:
    table = StatementTable()
    made = [table.testcase(Statement(operation) for operation in test) for test in tests]
    living = [test for test in made if data.draw(st.booleans())]
    before = {test: table.statements(test) for test in living}
    table.retain(living)
    assert len(table) == len({identifier for test in living for identifier in test})
    for test, statements in before.items():
        assert table.statements(test) == statements
        assert table.testcase(statements) == test


def test_a_table_survives_pickling() -> None:
    table = StatementTable()
    test = table.testcase([Statement(0), Statement(1, 0)])
    copy = pickle.loads(pickle.dumps(table))
    assert copy.statements(test) == table.statements(test)
    assert copy.intern(Statement(2)) == table.intern(Statement(2))
