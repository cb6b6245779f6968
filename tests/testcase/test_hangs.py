"""Calls that hang are seldom proposed again."""

from __future__ import annotations

import random

from fitgym.instrument.trace import Call, Trace
from fitgym.testcase.expression import Literal
from fitgym.testcase.hangs import Hangs
from fitgym.testcase.statement import Statement, StatementTable


def called(table: StatementTable, operation: int, text: str) -> tuple[int, ...]:
    return table.testcase([Statement(operation, -1, (Literal(text),))])


def noted(table: StatementTable, hangs: Hangs, text: str, failure: str, operation: int = 3) -> int:
    testcase = called(table, operation, text)
    hangs.note(testcase, table, Trace(failure=failure, calls=(Call(operation, not failure),)))  # type: ignore[arg-type]
    return testcase[0]


def doubt(table: StatementTable, hangs: Hangs, text: str, operation: int = 3) -> float:
    (identifier,) = called(table, operation, text)
    return hangs.doubt(identifier, table[identifier])


def test_a_call_that_hung_is_doubted_most() -> None:
    table, hangs = StatementTable(), Hangs()
    noted(table, hangs, "-7", "fuel")
    assert doubt(table, hangs, "-7") == 0.95
    assert 0.5 < doubt(table, hangs, "-9") < 0.95
    assert doubt(table, hangs, "4") == doubt(table, hangs, "'a'") == doubt(table, hangs, "-7", operation=2) == 0.0


def test_calls_that_end_take_the_doubt_away() -> None:
    table, hangs = StatementTable(), Hangs()
    noted(table, hangs, "-7", "timeout")
    for number in range(100):
        noted(table, hangs, str(-2 * number - 9), "")
    assert doubt(table, hangs, "-5") < 0.1
    noted(table, hangs, "-7", "")
    assert doubt(table, hangs, "-7") < 0.1


def test_proposals_are_cut_before_a_doubted_call() -> None:
    table, hangs = StatementTable(), Hangs()
    bad = noted(table, hangs, "-7", "fuel")
    (good,) = called(table, 2, "1")
    found = [hangs.first((good, bad), table, random.Random(seed)) for seed in range(100)]
    assert set(found) == {1, -1} and found.count(1) > 80
    assert hangs.first((good, bad), table, random.Random(0), known=(bad,)) == -1


def test_nothing_is_drawn_for_a_subject_that_never_hangs() -> None:
    table, rng = StatementTable(), random.Random(0)
    before = rng.getstate()
    assert Hangs().first(called(table, 1, "1"), table, rng) == -1
    assert rng.getstate() == before
