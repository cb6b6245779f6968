"""Results: cached answers are never out of date after learning."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from factory_by_hand import Lesson, raised, trace
from hypothesis import given
from hypothesis import strategies as st
from subject_by_hand import BOOL, CART, FLOAT, INT, NONE, STR, VERSION, build, operation_named

from fitgym.subject.subject import Operation
from fitgym.subject.types.hints import ANY, Hint
from fitgym.testcase.draft import Draft
from fitgym.testcase.expression import Literal, Ref
from fitgym.testcase.factory import TestFactory
from fitgym.testcase.rates import DEFAULT, Rates
from fitgym.testcase.results import Results
from fitgym.testcase.statement import Statement, StatementTable
from fitgym.testcase.subtyping import simple_kind

SUBJECT = build()
MYSTERY, SIZE, PARSE = (operation_named(SUBJECT, name).id for name in ("mystery", "Version.size", "Version.parse"))
HINTS = [ANY, NONE, INT, STR, BOOL, FLOAT, CART, VERSION, Hint("list", args=(INT,)), Hint("iterator", args=(STR,))]
WANTED = [*HINTS, Hint("union", args=(INT, CART)), Hint("iterable", args=(ANY,)), Hint("class", "builtins.object")]


def answers(results: Results) -> list[Any]:
    """Everything that can be asked."""
    operations = range(len(SUBJECT.operations))
    providers = [results.providers(hint) for hint in WANTED]
    return [
        results.hints,
        results.kinds,
        [sorted(one.ids) for one in providers],
        [one.operations for one in providers],
        [results.acting(operation) for operation in operations],
        [sorted(results.alike(operation)) for operation in operations],
        [results.others(operation) for operation in operations],
    ]


LESSONS = st.lists(
    st.tuples(st.sampled_from(range(len(SUBJECT.operations))), st.one_of(st.none(), st.sampled_from(HINTS))), max_size=8
)


@given(LESSONS)
def test_answers_given_before_a_lesson_are_those_given_after_it(lessons: list[tuple[int, Hint | None]]) -> None:
    asked, fresh = Results(SUBJECT), Results(SUBJECT)
    for operation, hint in lessons:
        answers(asked)
        for results in (asked, fresh):
            if hint is None:
                results.drain(operation)
            else:
                results.observe(operation, hint)
    assert answers(asked) == answers(fresh)
    assert asked.kinds == [simple_kind(hint) for hint in asked.hints]


def test_whoever_holds_the_providers_of_a_hint_sees_what_is_learnt() -> None:
    results = Results(SUBJECT)
    providers = results.providers(CART)
    assert MYSTERY not in providers.ids
    assert results.observe(MYSTERY, CART)
    assert MYSTERY in providers.ids
    assert SUBJECT.operations[MYSTERY] in providers.operations
    assert not results.observe(MYSTERY, CART)  # no news
    assert results.observe(MYSTERY, INT)
    assert MYSTERY not in providers.ids


def test_a_declared_type_is_not_overruled_by_an_observed_one() -> None:
    results = Results(SUBJECT)
    assert not results.observe(PARSE, INT)
    assert results.hints[PARSE] == VERSION


def test_what_is_drained_is_a_list_of_what_was_observed() -> None:
    results = Results(SUBJECT)
    assert results.drain(MYSTERY)
    assert not results.drain(MYSTERY)
    assert results.hints[MYSTERY] == Hint("list", args=(ANY,))
    assert not results.observe(MYSTERY, Hint("iterator", args=(INT,)))
    assert results.observe(MYSTERY, Hint("list", args=(INT,)))
    assert not results.drain(operation_named(SUBJECT, "numbers").id)  # its signature says so


def test_setters_and_hashes_provide_nothing() -> None:
    assert SIZE not in Results(SUBJECT).providers(ANY).ids
    hashing = Operation(1, "operator", "shop", "Version.__hash__", "shop.Version", returns=INT, operator="__hash__")
    results = Results(build(operations=(SUBJECT.operations[0], hashing)))
    assert results.unstable == {1}
    assert results.providers(INT).ids == set()


# In the factory


def made_once(rates: Rates = DEFAULT) -> tuple[TestFactory, np.random.Generator]:
    """A factory that has been asked for everything, so that all it keeps is kept already."""
    made, rng = TestFactory(SUBJECT, StatementTable(), rates), np.random.default_rng(0)
    for _ in range(50):
        made.cross(made.mutate(made.random_test(rng), rng), made.random_test(rng), rng)
    for operation in SUBJECT.operations:
        made.calls.append(operation, Draft(), rng)
    return made, rng


def test_an_operation_that_was_seen_to_build_an_object_is_used_as_a_builder_from_then_on() -> None:
    made, rng = made_once()
    drafts = [Draft() for _ in range(300)]
    made.learn(Lesson(returns={MYSTERY: CART}))
    for draft in drafts:
        made.calls.builder(CART)(draft, rng, 0)
    assert any(draft[-1].operation == MYSTERY for draft in drafts)


def test_methods_are_called_on_results_of_a_type_learnt_late() -> None:
    made, rng = made_once()
    start = [Statement(MYSTERY, args=(Literal("1"),))]
    add = operation_named(SUBJECT, "Cart.add").id
    made.learn(Lesson(returns={MYSTERY: CART}))
    inserted = [one for _ in range(300) for one in made.selection.insert(start, rng) if one.operation == add]
    assert any(one.receiver == 0 for one in inserted)


def test_a_late_demand_decides_what_is_given() -> None:
    made, rng = made_once()
    place = made.calls.signature(MYSTERY).places[0]
    for demanded, kind in ((Hint("list", args=(INT,)), "list"), (Hint("dict", args=(STR, INT)), "dict")):
        made.learn(Lesson(parameters={(MYSTERY, "n"): demanded}))
        drawn = [made.calls.values.argument(place, Draft(), rng, 0) for _ in range(200)]
        assert sum(getattr(one, "kind", "") == kind for one in drawn) > 120


def test_an_operation_found_to_be_useless_or_excluded_is_chosen_less_from_the_next_draw_on() -> None:
    made, rng = made_once()
    wait = operation_named(SUBJECT, "wait")

    def share() -> float:
        return sum(made.selection.operation(rng) == wait for _ in range(1000)) / 1000

    assert share() > 0.02
    failing = trace((wait.id, False), raised=raised("TypeError", wait.id, counted=False))
    for _ in range(50):
        made.note(made.table.testcase([Statement(wait.id)]), failing)
    assert share() < 0.02
    made.exclude(frozenset(one.id for one in SUBJECT.operations if one != wait))
    assert share() == 1.0
    made.exclude(frozenset())
    assert share() < 0.02


def test_a_builder_that_begins_to_fail_is_avoided_from_the_next_call_on() -> None:
    made, rng = made_once()
    version, build = operation_named(SUBJECT, "Version").id, made.calls.builder(VERSION)

    def share() -> float:
        drafts = [Draft() for _ in range(300)]
        for draft in drafts:
            build(draft, rng, 0)
        return sum(draft[-1].operation == version for draft in drafts) / 300

    before = share()
    failing = trace((version, False), raised=raised("ValueError", version))
    for _ in range(30):
        made.note(made.table.testcase([Statement(version)]), failing)
    assert share() < before / 4


def test_only_what_is_not_excluded_is_called_on_objects_whenever_it_was_excluded() -> None:
    made, rng = made_once(Rates(tested_rate=0.0, object_rate=1.0))
    length = operation_named(SUBJECT, "Version.__len__").id
    start = [Statement(PARSE, args=(Literal("'1'"),)), Statement(MYSTERY, args=(Literal("1"),))]

    def called() -> set[tuple[int, int]]:
        inserted = [one for _ in range(100) for one in made.selection.insert(start, rng)]
        return {(one.operation, one.receiver) for one in inserted if one not in start}

    assert len(called()) > 5
    made.exclude(frozenset(one.id for one in SUBJECT.operations) - {length})
    assert called() == {(length, 0)}
    made.learn(Lesson(returns={MYSTERY: VERSION}))
    assert called() == {(length, 0), (length, 1)}
    made.exclude(frozenset())
    assert len(called()) > 5


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_a_copy_of_a_factory_learns_for_itself(copied: Any) -> None:
    made, rng = made_once()
    other = copied(made)
    other.learn(Lesson(returns={MYSTERY: CART}, constants=("'only in the copy'",)))
    start = Draft([Statement(MYSTERY, args=(Literal("1"),))])
    drawn = [made.calls.values.of(CART, Draft(start), rng, 0) for _ in range(100)]
    assert Ref(0) not in drawn
    assert Ref(0) in [other.calls.values.of(CART, Draft(start), rng, 0) for _ in range(100)]
    texts = [made.literals.of_kind("str", rng) for _ in range(1000)]
    assert "'only in the copy'" not in texts
