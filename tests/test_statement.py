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
