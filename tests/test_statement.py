"""Statements and the table that gives equal ones the same number."""

from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st

from fitgym.testcase.expression import Collection, Literal, Ref
from fitgym.testcase.statement import Statement, StatementTable


def test_references_come_receiver_first_then_arguments_in_order() -> None:
    statement = Statement(0, 5, (Ref(1), Collection("list", (Ref(2),))), (("key", Ref(0)),))
    assert list(statement.refs()) == [5, 1, 2, 0]


def test_moving_a_statement_keeps_everything_but_references() -> None:
    statement = Statement(3, 0, (Ref(1), Literal("2")), (("key", Ref(0)),), iterate=True)
    assert statement.moved({0: 7, 1: 8}) == Statement(3, 7, (Ref(8), Literal("2")), (("key", Ref(7)),), iterate=True)


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
