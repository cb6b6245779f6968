"""Variation: mutants and offspring are valid, and change only the intended parts."""

from __future__ import annotations

from typing import Any

import numpy as np
from factory_by_hand import problems
from hypothesis import given, settings
from hypothesis import strategies as st
from subject_by_hand import build, operation_named

from fitgym.testcase.draft import Draft
from fitgym.testcase.expression import Literal, Name, Ref
from fitgym.testcase.factory import TestFactory
from fitgym.testcase.rates import Rates
from fitgym.testcase.statement import Statement, StatementTable

SUBJECT = build()
SEEDS = st.integers(0, 2**32 - 1)
VERSION, ITEM, CART, ADD, LEN, BUMP, PLUS, MYSTERY, APPLY, PARSE = (
    operation_named(SUBJECT, name).id
    for name in (
        "Version",
        "Cart.Item",
        "Cart",
        "Cart.add",
        "Version.__len__",
        "Version.bump",
        "Version.__add__",
        "mystery",
        "apply",
        "Version.parse",
    )
)
RED = Name("shop", "Color.RED")
SHOPPING = [
    Statement(VERSION, args=(Literal("'1'"),)),
    Statement(CART, args=(Ref(0), RED)),
    Statement(ITEM, args=(Literal("'a'"), Literal("1.0"))),
    Statement(ADD, 1, (Ref(2),)),
    Statement(LEN, 0),
]


def factory(**rates: Any) -> TestFactory:
    return TestFactory(SUBJECT, StatementTable(), Rates(**rates))


# Validity


@given(SEEDS)
@settings(max_examples=150)
def test_mutants_and_their_mutants_are_valid(seed: int) -> None:
    made, rng = factory(), np.random.default_rng(seed)
    testcase = made.random_test(rng)
    for _ in range(20):
        testcase = made.mutate(testcase, rng)
        assert problems(made.table.statements(testcase)) == []


@given(SEEDS)
@settings(max_examples=150)
def test_offspring_are_valid(seed: int) -> None:
    made, rng = factory(), np.random.default_rng(seed)
    first, second = made.random_test(rng), made.random_test(rng)
    for _ in range(6):
        first, second = made.cross(first, second, rng)
        assert problems(made.table.statements(first)) == []
        assert problems(made.table.statements(second)) == []
        first = made.mutate(first, rng)


@given(SEEDS)
def test_a_mutant_differs_from_its_parent(seed: int) -> None:
    made, rng = factory(), np.random.default_rng(seed)
    testcase = made.table.testcase(SHOPPING)
    assert made.mutate(testcase, rng) != testcase


def test_an_empty_test_becomes_one_statement_or_more() -> None:
    made, rng = factory(), np.random.default_rng(0)
    assert problems(made.table.statements(made.mutate((), rng))) == []
    assert made.cross((), made.table.testcase(SHOPPING), rng)[0] == ()


def test_a_parent_is_never_changed() -> None:
    made, rng = factory(), np.random.default_rng(0)
    testcase = made.table.testcase(SHOPPING)
    for _ in range(50):
        made.mutate(testcase, rng)
    assert made.table.statements(testcase) == SHOPPING


# Deletion


def test_what_needs_a_deleted_result_goes_too_when_nothing_can_stand_in() -> None:
    variation = factory().variation
    left = variation.without(SHOPPING, [0], np.random.default_rng(0))
    assert left == [SHOPPING[2]]


def test_what_needs_a_deleted_result_uses_another_of_the_same_type() -> None:
    variation = factory().variation
    statements = [Statement(VERSION), Statement(PARSE, args=(Literal("'2'"),)), Statement(LEN, 1)]
    assert variation.without(statements, [1], np.random.default_rng(0)) == [Statement(VERSION), Statement(LEN, 0)]


def test_a_stand_in_comes_from_before() -> None:
    variation = factory().variation
    statements = [Statement(VERSION), Statement(LEN, 0), Statement(VERSION, args=(Literal("'2'"),))]
    assert variation.without(statements, [0], np.random.default_rng(0)) == [statements[2]]


def test_each_statement_is_deleted_with_probability_one_over_length() -> None:
    variation, rng = factory().variation, np.random.default_rng(0)
    statements = [Statement(MYSTERY, args=(Literal(str(number)),)) for number in range(10)]
    gone = [10 - len(variation.deleted(statements, rng)) for _ in range(2000)]
    assert 0.9 < sum(gone) / 2000 < 1.1


def test_what_nothing_needs_any_more_is_trimmed() -> None:
    made = factory()
    helper = Statement(ITEM, args=(Literal("'b'"), Literal("2.0")))
    assert made.variation.trimmed([helper, *[one.moved({i: i + 1 for i in range(5)}) for one in SHOPPING]]) == SHOPPING
    assert made.trimmed(made.table.testcase(SHOPPING)) == made.table.testcase(SHOPPING)


def test_a_chain_of_dead_values_is_trimmed_whole() -> None:
    helpers = build(operations=tuple(one for one in SUBJECT.operations))
    variation = TestFactory(helpers, StatementTable()).variation
    dead = [Statement(ITEM, args=(Literal("'a'"), Literal("1.0"))), Statement(ITEM, args=(Ref(0), Literal("1.0")))]
    assert variation.trimmed([*dead, Statement(MYSTERY, args=(Literal("1"),))]) == [
        Statement(MYSTERY, args=(Literal("1"),))
    ]


@given(SEEDS)
def test_what_is_left_tests_something_and_nothing_is_left_where_nothing_did(seed: int) -> None:
    made, rng = factory(), np.random.default_rng(seed)
    for statements in (made.table.statements(made.random_test(rng)), SHOPPING, []):
        helpers = [Statement(ITEM, args=(Literal("'b'"), Literal("2.0"))), Statement(ITEM, args=(Ref(0), Ref(0)))]
        both = [*helpers, *[one.shifted(0, 2) for one in statements]]
        assert bool(made.variation.trimmed(both)) == made.variation.has_test(both)


# Insertion


def test_insertions_follow_each_other_with_probability_one_half() -> None:
    made, rng = factory(tested_rate=1.0), np.random.default_rng(0)
    made.exclude(frozenset(one.id for one in SUBJECT.operations) - {MYSTERY})
    start = [Statement(MYSTERY, args=(Literal("1"),))]
    grown = []
    for _ in range(1000):
        inserted = made.variation.inserted(start, rng)
        grown.append(sum(one.operation == MYSTERY for one in inserted) - 1)
    assert min(grown) == 1
    assert 1.85 < sum(grown) / 1000 < 2.15  # 1 + 1/2 + 1/4 + ...


def test_calls_on_objects_stand_after_them_and_not_only_at_the_end() -> None:
    made, rng = factory(tested_rate=0.0, object_rate=1.0), np.random.default_rng(0)
    start = [Statement(VERSION), Statement(MYSTERY, args=(Literal("1"),)), Statement(MYSTERY, args=(Literal("2"),))]
    places = set()
    for _ in range(100):
        new = made.selection.insert(start, rng)
        if len(new) == 4:
            (place,) = (index for index, one in enumerate(new) if one not in start)
            assert new[place].receiver == 0
            places.add(place)
    assert places == {1, 2, 3}


def test_inserting_in_the_middle_moves_the_references_behind() -> None:
    draft = Draft(SHOPPING[:2])
    draft.append(Statement(MYSTERY, args=(Literal("1"),)))
    draft.extend_moved(SHOPPING[2:], 2, 1)
    assert draft[3:] == [SHOPPING[2], Statement(ADD, 1, (Ref(3),)), SHOPPING[4]]


def test_a_second_object_of_the_tested_class_is_rarer_than_the_first() -> None:
    made, rng = factory(tested_rate=1.0), np.random.default_rng(0)
    made.exclude(frozenset(one.id for one in SUBJECT.operations) - {VERSION, MYSTERY})
    first = [made.selection.insert([], rng)[-1].operation for _ in range(400)]
    second = [made.selection.insert([Statement(VERSION)], rng)[-1].operation for _ in range(400)]
    assert 150 < first.count(VERSION) < 250
    assert 60 < second.count(VERSION) < 140  # both draws have to say so: 1/4


# Change


def changes(statements: list[Statement], position: int, count: int = 300) -> list[list[Statement]]:
    variation, rng = factory(ill_typed=0.0).variation, np.random.default_rng(0)
    return [variation.changed_at(statements, position, rng) for _ in range(count)]


def test_a_change_keeps_the_rest_of_the_test() -> None:
    for changed in changes(SHOPPING, 4):
        assert changed[:4] == SHOPPING[:4]


def test_a_change_moves_a_number_by_a_little_most_of_the_time() -> None:
    statements = [Statement(VERSION), Statement(BUMP, 0, kwargs=(("by", Literal("100")),))]
    numbers = [dict(changed[1].kwargs).get("by") for changed in changes(statements, 1) if len(changed) == 2]
    near = [one for one in numbers if isinstance(one, Literal) and one.text.isdigit() and 80 <= int(one.text) <= 120]
    assert len(near) > 80


def test_a_change_adds_and_drops_optional_arguments() -> None:
    given_ = [Statement(VERSION), Statement(BUMP, 0, kwargs=(("by", Literal("1")),))]
    names = [tuple(name for name, _ in changed[-1].kwargs) for changed in changes(given_, 1)]
    assert () in names
    assert ("by", "minor") in names


def test_a_change_points_a_call_to_another_object() -> None:
    statements = [Statement(VERSION), Statement(VERSION, args=(Literal("'2'"),)), Statement(LEN, 1)]
    receivers = {changed[2].receiver for changed in changes(statements, 2) if changed[2].operation == LEN}
    assert receivers == {0}


def test_a_change_exchanges_an_operation_for_one_with_the_same_result() -> None:
    statements = [Statement(VERSION), Statement(BUMP, 0), Statement(LEN, 1)]
    operations = {changed[-2].operation for changed in changes(statements, 1)}
    assert {BUMP, PLUS, PARSE} <= operations
    assert MYSTERY not in operations


def test_calls_on_a_changed_object_still_use_it_when_new_objects_are_built_before_it() -> None:
    grown = 0
    for changed in changes(SHOPPING, 1, 1500):  # a cart whose version may be another one
        moved = len(changed) - len(SHOPPING)
        grown += moved > 0
        add = changed[3 + moved]
        assert (add.operation, add.receiver, add.args) == (ADD, 1 + moved, (Ref(2 + moved),))
        assert changed[add.receiver].operation == CART
    assert grown > 20


def test_a_change_never_makes_a_test_too_long() -> None:
    variation, rng = factory(max_length=5).variation, np.random.default_rng(0)
    for _ in range(200):
        assert len(variation.changed_at(SHOPPING, 1, rng)) <= 5


# Crossover


def test_ends_are_exchanged_at_the_same_share_of_the_length() -> None:
    variation = factory().variation
    numbered = [
        [Statement(MYSTERY, args=(Literal(str(base + i)),)) for i in range(size)] for base, size in ((0, 4), (100, 8))
    ]
    cuts = set()
    for seed in range(60):
        one, other = variation.crossed(numbered[0], numbered[1], np.random.default_rng(seed))
        share = np.random.default_rng(seed).random()
        first, second = int(3 * share) + 1, int(7 * share) + 1
        assert one == numbered[0][:first] + numbered[1][second:]
        assert other == numbered[1][:second] + numbered[0][first:]
        cuts.add(first)
    assert cuts == {1, 2, 3}


def test_what_an_end_needs_is_copied_when_the_other_head_does_not_have_it() -> None:
    variation = factory().variation
    head = [Statement(MYSTERY, args=(Literal("1"),))]
    assert variation.spliced(head, SHOPPING, 4, np.random.default_rng(0)) == [
        head[0],
        SHOPPING[0],
        Statement(LEN, 1),
    ]


def test_what_an_end_needs_is_found_in_the_other_head() -> None:
    variation = factory(object_reuse=1.0).variation
    head = [Statement(PARSE, args=(Literal("'9'"),))]
    assert variation.spliced(head, SHOPPING, 4, np.random.default_rng(0)) == [head[0], Statement(LEN, 0)]


def test_offspring_are_cut_at_the_greatest_length() -> None:
    variation = factory(max_length=6).variation
    long = [Statement(MYSTERY, args=(Literal(str(i)),)) for i in range(6)]
    assert len(variation.spliced(long[:5], long, 1, np.random.default_rng(0))) == 6
