"""Properties and `str` of objects without readable attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from shelf_subject import operation, parameter, subject_of

from fitgym.messages.observation import Observation, Observed
from fitgym.subject.subject import Class, Subject
from fitgym.suite.observers import enriched, unknown
from fitgym.testcase.expression import Literal, Name, Ref
from fitgym.testcase.statement import Statement, StatementTable, TestCase

NEW, AREA, TEXT, GROW, OTHER, SHOWN, SIDE, SET_SIDE = range(8)
OPERATIONS = (
    operation(NEW, "constructor", "Box", parameter("side")),
    operation(AREA, "property", "Box.area"),
    operation(TEXT, "operator", "Box.__str__", operator="__str__"),
    operation(GROW, "method", "Box.grow"),
    operation(OTHER, "property", "Lid.area"),
    operation(SHOWN, "operator", "Box.__repr__", operator="__repr__"),
    operation(SIDE, "property", "Box.side"),
    operation(SET_SIDE, "setter", "Box.side", parameter("value")),
)
IS_BOX = Observation(0, "", "isinstance", Name("shop", "Box"))


def shop(*operations: int) -> Subject:
    """A subject with these operations; the ids stay."""
    subject = subject_of(OPERATIONS, "shop", Path("shop"), classes=("Box", "Lid"))
    box = Class("shop.Box", "shop", "Box", ("shelf.Box",))  # what the operations above say they belong to
    hidden = [replace(one, owner="") if one.id not in operations else one for one in OPERATIONS]
    return replace(subject, operations=tuple(hidden), classes={**subject.classes, "shop.Box": box, "shelf.Box": box})


class Worker:
    """Shows what a test case with one more statement shows of it."""

    def __init__(self, table: StatementTable, facts: dict[int, Observed]) -> None:
        self.table = table
        self.facts = facts
        self.asked: list[int] = []

    def observe(self, testcases: Sequence[TestCase]) -> list[Observed]:
        last = [self.table[testcase[-1]].operation for testcase in testcases]
        self.asked += last
        return [self.facts[operation] for operation in last]


A_BOX = Observed((IS_BOX,))


def told(subject: Subject, facts: dict[int, Observed], seen: Observed = A_BOX) -> tuple[list[int], Observed]:
    """Which observers were asked about a new box, and what is known after that."""
    table = StatementTable()
    worker = Worker(table, facts)
    test = table.testcase([Statement(NEW, args=(Literal("2"),))])
    (result,) = enriched([test], [seen], [[0]], subject, table, worker.observe)
    return worker.asked, result


AREA_IS_4 = Observed((IS_BOX, Observation(1, "", "equal", Literal("4"))))
TEXT_IS_BOX = Observed((IS_BOX, Observation(1, "", "equal", Literal("'a box'"))))


def test_a_property_becomes_a_fact_about_its_object() -> None:
    asked, seen = told(shop(AREA, OTHER), {AREA: AREA_IS_4})
    assert asked == [AREA]
    assert seen.observations == (IS_BOX, Observation(0, ".area", "equal", Literal("4")))


def test_str_comes_before_what_it_may_leave_out() -> None:
    asked, seen = told(shop(AREA, TEXT, SHOWN), {TEXT: TEXT_IS_BOX, AREA: AREA_IS_4})
    assert asked == [TEXT, AREA]
    assert seen.observations == (
        IS_BOX,
        Observation(0, "", "text", Literal("'a box'")),
        Observation(0, ".area", "equal", Literal("4")),
    )


def test_str_shows_repr_where_a_class_has_no_str_of_its_own() -> None:
    asked, seen = told(shop(SHOWN), {SHOWN: TEXT_IS_BOX})
    assert asked == [SHOWN]
    assert seen.observations == (IS_BOX, Observation(0, "", "text", Literal("'a box'")))


def test_properties_say_it_where_the_text_is_another_one_each_time() -> None:
    _, seen = told(shop(AREA, SHOWN), {SHOWN: A_BOX, AREA: AREA_IS_4})
    assert seen.observations == (IS_BOX, Observation(0, ".area", "equal", Literal("4")))


def test_an_observer_that_raises_or_refers_to_others_says_nothing() -> None:
    refers = Observed((IS_BOX, Observation(1, "", "is", Ref(0))))
    raises = Observed((IS_BOX,), (Name("builtins", "ValueError"),), 1)
    for answer in (refers, raises, Observed(failure="timeout")):
        assert told(shop(AREA), {AREA: answer})[1].observations == (IS_BOX,)


def test_a_test_that_raised_and_objects_that_show_something_are_not_asked() -> None:
    shown = Observed((Observation(0, ".side", "equal", Literal("2")),))
    for seen in (Observed((IS_BOX,), (Name("builtins", "ValueError"),), 1), shown):
        assert told(shop(AREA), {}, seen) == ([], seen)


def test_a_property_named_like_an_argument_is_read_although_something_is_known() -> None:
    colour = Observation(0, ".colour", "equal", Literal("'red'"))
    stored = Observed((colour, Observation(1, "", "equal", Literal("2"))))
    asked, seen = told(shop(NEW, AREA, SIDE), {SIDE: stored}, Observed((colour,)))
    assert asked == [SIDE]
    assert seen.observations == (colour, Observation(0, ".side", "equal", Literal("2")))


def test_a_property_that_was_assigned_is_read_even_if_it_is_the_object_that_was_assigned() -> None:
    subject, table = shop(AREA, SIDE, SET_SIDE), StatementTable()
    two_boxes = [Statement(NEW, args=(Literal("2"),)), Statement(NEW, args=(Literal("3"),))]
    test = table.testcase([*two_boxes, Statement(SET_SIDE, 0, (Ref(1),))])
    colour = Observation(0, ".colour", "equal", Literal("'red'"))
    worker = Worker(table, {SIDE: Observed((colour, Observation(3, "", "is", Ref(1))))})
    (seen,) = enriched([test], [Observed((colour,))], [[2, 0]], subject, table, worker.observe)
    assert worker.asked == [SIDE]
    assert seen.observations == (colour, Observation(0, ".side", "is", Ref(1)))


def test_what_is_unknown_is_the_last_result_and_what_it_was_got_from() -> None:
    subject = shop(AREA)
    new, area, grow = Statement(NEW, args=(Literal("2"),)), Statement(AREA, 0), Statement(GROW, 0)
    nothing = Observation(1, "", "is", Literal("None"))
    assert unknown([new, grow], Observed((IS_BOX, nothing)), subject) == [1, 0]
    assert unknown([new], Observed((Observation(0, ".colour", "equal", Literal("1")),)), subject) == [0]
    assert unknown([new, area], Observed((IS_BOX, Observation(1, "", "equal", Literal("4")))), subject) == []
    assert unknown([new, grow], Observed((IS_BOX,), (Name("builtins", "ValueError"),), 1), subject) == []
