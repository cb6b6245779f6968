"""The factory: every test case is valid, and its experience changes new test cases."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from factory_by_hand import Lesson, problems, raised, trace
from hypothesis import given, settings
from hypothesis import strategies as st
from subject_by_hand import CART, INT, STR, build, operation_named

from fitgym.instrument.trace import Call, Failure, Raised, Trace
from fitgym.subject.subject import Operation, Parameter, Subject
from fitgym.subject.types.hints import Hint
from fitgym.testcase.draft import Draft
from fitgym.testcase.expression import Collection, Expression, Lambda, Literal, Name, Ref
from fitgym.testcase.factory import TestFactory
from fitgym.testcase.knowledge import Knowledge, kind_of, parameter_of
from fitgym.testcase.rates import Rates
from fitgym.testcase.statement import Statement, StatementTable, TestCase

SUBJECT = build()
SEEDS = st.integers(0, 2**32 - 1)
TABLE = StatementTable()  # for tests that do without a factory


def factory(subject: Subject = SUBJECT, **rates: Any) -> TestFactory:
    return TestFactory(subject, StatementTable(), Rates(**rates))


def argument(made: TestFactory, operation: Operation, rng: np.random.Generator) -> Expression:
    """An argument for the first parameter, in an empty test case."""
    return made.calls.values.argument(made.calls.signature(operation.id).places[0], Draft(), rng, 0)


# Validity


@given(SEEDS)
@settings(max_examples=200)
def test_every_random_test_is_valid(seed: int) -> None:
    made = factory()
    testcase = made.random_test(np.random.default_rng(seed))
    assert problems(made.table.statements(testcase)) == []


@pytest.mark.parametrize("operation", SUBJECT.under_test, ids=[one.name for one in SUBJECT.under_test])
def test_every_operation_can_be_called_alone(operation: Operation) -> None:
    made = factory()
    made.exclude(frozenset(one.id for one in SUBJECT.operations) - {operation.id})
    statements = made.table.statements(made.random_test(np.random.default_rng(0)))
    assert operation.id in [one.operation for one in statements]
    assert problems(statements) == []


def test_a_test_has_the_wanted_length_when_nothing_has_to_be_built() -> None:
    made = factory(build(operations=(Operation(0, "function", "shop", "f"),), classes={}), initial_length=(7, 7))
    assert len(made.random_test(np.random.default_rng(0))) == 7


def test_lengths_are_drawn_uniformly_between_the_bounds() -> None:
    made = factory(build(operations=(Operation(0, "function", "shop", "f"),), classes={}), initial_length=(2, 5))
    rng = np.random.default_rng(0)
    lengths = [len(made.random_test(rng)) for _ in range(400)]
    assert set(lengths) == {2, 3, 4, 5}
    assert all(60 < lengths.count(length) < 140 for length in set(lengths))


def test_a_subject_without_operations_gives_an_empty_test() -> None:
    made = factory(build(operations=(), classes={}))
    assert made.random_test(np.random.default_rng(0)) == ()


def test_a_method_of_a_class_that_nothing_builds_is_left_out() -> None:
    lonely = Operation(0, "method", "shop", "Ghost.walk", owner="shop.Ghost")
    made = factory(build(operations=(lonely, Operation(1, "function", "shop", "f")), classes={}))
    rng = np.random.default_rng(0)
    assert {one.operation for _ in range(20) for one in made.table.statements(made.random_test(rng))} == {1}


def test_no_test_is_longer_than_allowed() -> None:
    made = factory(max_length=5, initial_length=(1, 5))
    rng = np.random.default_rng(0)
    for _ in range(100):
        testcase = made.random_test(rng)
        for _ in range(5):
            testcase = made.mutate(testcase, rng)
            assert problems(made.table.statements(testcase), longest=5) == []


def test_a_test_case_grows_at_its_end_and_stays_what_it_is_where_nothing_can_be_called() -> None:
    made, rng, draft = factory(), np.random.default_rng(0), Draft()
    for _ in range(200):
        before = list(draft)
        made.selection.extend(draft, rng)
        assert draft[: len(before)] == before
        assert problems(draft) == []
    assert len(draft) == 40  # and no more
    nothing = factory(build(operations=(), classes={}))
    nothing.selection.extend(empty := Draft(), rng)
    assert empty == []


# Determinism


def history(seed: int) -> list[list[Statement]]:
    made, rng = factory(), np.random.default_rng(seed)
    tests = [made.random_test(rng) for _ in range(10)]
    made.learn(Lesson(constants=("'seen'",), iterators=(operation_named(SUBJECT, "mystery").id,)))
    for testcase in tests:
        made.note(testcase, trace(*((one.operation, True) for one in made.table.statements(testcase))))
    tests += [made.mutate(testcase, rng) for testcase in tests]
    tests += [offspring for pair in itertools.pairwise(tests) for offspring in made.cross(*pair, rng)]
    return [made.table.statements(testcase) for testcase in tests]


def test_the_same_seed_gives_the_same_history() -> None:
    assert history(3) == history(3)
    assert history(3) != history(4)


def test_a_pickled_factory_goes_on_as_the_original() -> None:
    made, rng = factory(), np.random.default_rng(0)
    first = [made.random_test(rng) for _ in range(5)]
    twin, other = pickle.loads(pickle.dumps((made, rng)))
    for testcase in first:
        assert made.mutate(testcase, rng) == twin.mutate(testcase, other)
    assert made.table.statements(first[0]) == twin.table.statements(first[0])


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_what_a_copy_is_taught_the_original_does_not_know(twin_of: Callable[[Any], Any]) -> None:
    made, rng, failing = factory(), np.random.default_rng(0), operation_named(SUBJECT, "mystery").id
    testcase = made.table.testcase([Statement(failing, args=(Literal("1"),))])
    raises = trace((failing, False), raised=raised("TypeError", failing))
    made.note(testcase, raises)
    twin = twin_of(made)
    before = weight(made.knowledge, failing, "n", "int"), made.knowledge.reliability(failing)
    twin.note(testcase, raises)
    assert (weight(made.knowledge, failing, "n", "int"), made.knowledge.reliability(failing)) == before
    made.note(testcase, raises)
    assert weight(made.knowledge, failing, "n", "int") == weight(twin.knowledge, failing, "n", "int") < before[0]
    assert made.knowledge.reliability(failing) == twin.knowledge.reliability(failing) < before[1]
    assert made.random_test(rng) == twin.random_test(np.random.default_rng(0))


# Optional arguments


def calls_of(name: str, count: int = 300, **rates: Any) -> list[Statement]:
    made = factory(ill_typed=0.0, **rates)
    operation = operation_named(SUBJECT, name)
    made.exclude(frozenset(one.id for one in SUBJECT.operations) - {operation.id})
    rng = np.random.default_rng(0)
    tests = [made.table.statements(made.random_test(rng)) for _ in range(count)]
    return [one for test in tests for one in test if one.operation == operation.id]


def test_optional_parameters_are_given_half_of_the_time() -> None:
    made = calls_of("apply")
    assert 0.4 < sum("default" in dict(one.kwargs) for one in made) / len(made) < 0.6
    assert not any(len(one.args) == 3 for one in made)  # by keyword, as people write it


def test_optional_parameters_can_be_left_out_or_given_always() -> None:
    assert not any(one.kwargs for one in calls_of("apply", optional_rate=0.0))
    assert all({"default", "key"} <= set(dict(one.kwargs)) for one in calls_of("apply", optional_rate=1.0))


def test_extra_arguments_stay_few_and_carry_names_from_the_source() -> None:
    made = calls_of("Cart.add")
    # The item alone, or the item, the count by position and one to three more.
    assert {len(one.args) for one in made} == {1, 3, 4, 5}
    names = {name for one in made for name, _ in one.kwargs}
    assert "key" in names  # a string of the source
    assert names <= {"count", "note", "key", "a", "b", "c"}


def test_operators_get_no_keywords_and_no_argument_that_their_syntax_has_no_place_for() -> None:
    version = SUBJECT.operations[0]
    digits = Parameter("digits", "positional_or_keyword", INT, False)
    operators = [
        Operation(number, "operator", "shop", f"Version.{name}", "shop.Version", (digits,), operator=name)
        for number, name in enumerate(("__round__", "__int__", "__call__"), 1)
    ]
    made = factory(build(operations=(version, *operators)), optional_rate=1.0)
    rng = np.random.default_rng(0)
    seen = [one for _ in range(200) for one in made.table.statements(made.mutate(made.random_test(rng), rng))]
    shapes = {(one.operation, len(one.args), len(one.kwargs)) for one in seen if one.operation}
    assert shapes == {(1, 1, 0), (2, 0, 0), (3, 0, 1), (3, 0, 0)}  # 3: a mutation has dropped it


# Learning


def test_an_operation_seen_to_return_an_iterator_is_drained() -> None:
    made = factory()
    mystery = operation_named(SUBJECT, "mystery").id
    made.learn(Lesson(iterators=(mystery,)))
    rng = np.random.default_rng(0)
    seen = [one for _ in range(100) for one in made.table.statements(made.random_test(rng)) if one.operation == mystery]
    assert seen
    assert all(one.iterate for one in seen)
    assert made.knowledge.results.hints[mystery].kind == "list"


def test_an_observed_type_makes_an_operation_a_builder() -> None:
    subject = build(
        operations=(
            Operation(0, "function", "shop", "mystery"),
            Operation(1, "method", "shop", "Cart.size", owner="shop.Cart"),
        )
    )
    made, rng = factory(subject), np.random.default_rng(0)
    assert all(one.operation == 0 for one in made.table.statements(made.random_test(rng)))
    made.learn(Lesson(returns={0: CART}))
    tests = [made.table.statements(made.random_test(rng)) for _ in range(30)]
    assert any(one.operation == 1 for test in tests for one in test)


def test_what_is_demanded_of_a_parameter_is_given_mostly() -> None:
    made = factory()
    operation = operation_named(SUBJECT, "mystery")
    made.learn(Lesson(parameters={(operation.id, "n"): Hint("list", args=(INT,))}))
    made.exclude(frozenset(one.id for one in SUBJECT.operations) - {operation.id})
    rng = np.random.default_rng(0)
    tests = [made.table.statements(made.random_test(rng)) for _ in range(200)]
    given_ = [kind_of(one.args[0]) for test in tests for one in test if one.operation == operation.id]
    assert given_.count("list") > 0.7 * len(given_)


def test_an_annotation_is_not_overruled_by_what_was_demanded() -> None:
    knowledge = Knowledge(SUBJECT)
    operation = operation_named(SUBJECT, "wait")
    knowledge.learn(Lesson(parameters={(operation.id, "seconds"): STR}))
    assert knowledge.demanded(operation.id, "seconds") is None


def note(knowledge: Knowledge, statements: list[Statement], executed: Trace) -> None:
    knowledge.note(TABLE.testcase(statements), TABLE, executed)


def weight(knowledge: Knowledge, operation: int, parameter: str, kind: str) -> float:
    return knowledge.mixture(operation, parameter).shares()[kind]


def test_kinds_that_fail_lose_weight_and_kinds_that_work_gain() -> None:
    knowledge, operation = Knowledge(SUBJECT), operation_named(SUBJECT, "mystery").id
    before = {kind: weight(knowledge, operation, "n", kind) for kind in ("int", "str", "list")}
    failing = trace((operation, False), raised=raised("TypeError", operation))
    for _ in range(20):
        note(knowledge, [Statement(operation, args=(Literal("'a'"),))], trace((operation, True)))
        note(knowledge, [Statement(operation, args=(Literal("1"),))], failing)
    assert weight(knowledge, operation, "n", "int") < before["int"] / 10
    assert weight(knowledge, operation, "n", "str") > before["str"] * 2
    assert weight(knowledge, operation, "n", "int") > 0


def test_an_exception_of_the_subject_itself_says_nothing_about_kinds() -> None:
    knowledge, operation = Knowledge(SUBJECT), operation_named(SUBJECT, "mystery").id
    before = weight(knowledge, operation, "n", "int")
    failing = trace((operation, False), raised=raised("ValueError", operation))
    note(knowledge, [Statement(operation, args=(Literal("1"),))], failing)
    assert weight(knowledge, operation, "n", "int") == before


def test_kinds_are_suggested_by_the_name_of_a_parameter() -> None:
    knowledge = Knowledge(SUBJECT)
    mystery, untyped = operation_named(SUBJECT, "mystery").id, operation_named(SUBJECT, "untyped").id
    assert weight(knowledge, mystery, "n", "int") > 2 * weight(knowledge, untyped, "a", "int")


def test_an_operation_that_never_tells_anything_is_hardly_called_any_more() -> None:
    made = factory()
    hopeless = operation_named(SUBJECT, "wait")
    failing = trace((hopeless.id, False), raised=raised("TypeError", hopeless.id, counted=False))
    testcase = made.table.testcase([Statement(hopeless.id)])
    rng = np.random.default_rng(0)

    def share() -> float:
        drawn = [made.selection.operation(rng) for _ in range(2000)]
        return sum(one == hopeless for one in drawn) / 2000

    before = share()
    for _ in range(300):
        made.note(testcase, failing)
    assert 0 < share() < before / 5


def test_an_operation_that_only_hits_limits_is_hardly_called_any_more() -> None:
    made, rng = factory(), np.random.default_rng(0)
    endless = next(o for o in SUBJECT.operations if o.kind == "method" and o.under_test)
    builder = next(o for o in SUBJECT.operations if o.kind == "constructor" and o.owner == endless.owner)
    objects = [made.calls.append(builder, draft := Draft(), rng), draft][1]
    stopped = replace(trace((builder.id, True), (endless.id, False)), failure="fuel")
    testcase = made.table.testcase([Statement(builder.id), Statement(endless.id, 0)])

    def share() -> float:
        inserted = [made.selection.insert(objects, rng) for _ in range(2000)]
        return sum(any(one.operation == endless.id for one in statements) for statements in inserted) / 2000

    before = share()
    for _ in range(300):
        made.note(testcase, stopped)
    assert 0 < share() < before / 2


def test_a_constructor_that_always_fails_is_avoided_as_a_builder() -> None:
    made = factory()
    constructor = operation_named(SUBJECT, "Version")
    failing = trace((constructor.id, False), raised=raised("ValueError", constructor.id))
    testcase = made.table.testcase([Statement(constructor.id)])
    for _ in range(100):
        made.note(testcase, failing)
    made.exclude(frozenset(one.id for one in SUBJECT.operations) - {operation_named(SUBJECT, "Version.__len__").id})
    rng = np.random.default_rng(0)
    tests = [made.table.statements(made.random_test(rng)) for _ in range(100)]
    built = [SUBJECT.operations[test[0].operation].name for test in tests]
    assert built.count("Version.parse") > 60


def test_counts_stay_bounded_so_that_late_experience_counts() -> None:
    knowledge, operation = Knowledge(SUBJECT), operation_named(SUBJECT, "mystery").id
    statement = [Statement(operation, args=(Literal("1"),))]
    for _ in range(5000):
        note(knowledge, statement, trace((operation, False), raised=raised("TypeError", operation)))
    low = weight(knowledge, operation, "n", "int")
    for _ in range(400):
        note(knowledge, statement, trace((operation, True)))
    assert weight(knowledge, operation, "n", "int") > 5 * low


def test_excluded_operations_are_not_inserted_unless_nothing_else_is_left() -> None:
    made, rng = factory(), np.random.default_rng(0)
    mystery = operation_named(SUBJECT, "mystery").id
    made.exclude(frozenset((mystery,)))
    tests: list[TestCase] = [made.random_test(rng) for _ in range(100)]
    assert not any(one.operation == mystery for test in tests for one in made.table.statements(test))
    made.exclude(frozenset(one.id for one in SUBJECT.operations))
    assert made.random_test(rng)


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        (Literal("True"), "bool"),
        (Literal("b'a'"), "bytes"),
        (Literal('float("nan")'), "float"),
        (Literal("(1+2j)"), "complex"),
        (Collection("frozenset", ()), "set"),
        (Collection("iter", ()), "iter"),
        (Lambda(1, Ref(-1)), "callable"),
        (Name("builtins", "len"), "callable"),
        (Name("builtins", "int"), "class"),
        (Name("shop", "Cart.Item"), "class"),
        (Ref(0), "result"),
    ],
)
def test_the_kind_of_an_argument(expression: Expression, kind: str) -> None:
    assert kind_of(expression) == kind


@pytest.mark.parametrize("operation", SUBJECT.operations, ids=[one.name for one in SUBJECT.operations])
def test_a_signature_binds_arguments_as_python_does(operation: Operation) -> None:
    signature = factory().calls.signature(operation.id)
    names = ["unheard_of", *(parameter.name for parameter in operation.parameters)]
    for where in [*range(6), *names]:
        place, parameter = signature.place(where), parameter_of(operation, where)
        assert (place and place.name) == (parameter and parameter.name)


# What worked


def test_builders_get_arguments_that_have_worked() -> None:
    made, rng = factory(repeat_builders=1.0), np.random.default_rng(0)
    item = operation_named(SUBJECT, "Cart.Item")
    known = Statement(item.id, args=(Literal("'tea'"), Literal("4.5")))
    made.note(made.table.testcase([known]), trace((item.id, True)))
    made.exclude(frozenset(one.id for one in SUBJECT.operations) - {operation_named(SUBJECT, "Cart.add").id})
    tests = [made.table.statements(made.random_test(rng)) for _ in range(20)]
    built = [one for test in tests for one in test if one.operation == item.id]
    assert built
    assert set(built) == {known}


def test_calls_that_failed_or_need_other_statements_are_not_repeated() -> None:
    knowledge, rng = Knowledge(SUBJECT), np.random.default_rng(0)
    item = operation_named(SUBJECT, "Cart.Item").id
    failing = trace((item, False), raised=raised("ValueError", item))
    note(knowledge, [Statement(item, args=(Literal("''"), Literal("0.0")))], failing)
    note(knowledge, [Statement(item, args=(Ref(0), Literal("0.0")))], trace((item, True)))
    assert knowledge.worked(item).draw(rng) is None


def test_what_worked_is_bounded_and_the_oldest_is_forgotten() -> None:
    knowledge, rng = Knowledge(SUBJECT), np.random.default_rng(0)
    item = operation_named(SUBJECT, "Cart.Item").id
    for number in range(100):
        statement = Statement(item, args=(Literal(repr(str(number))), Literal("1.0")))
        note(knowledge, [statement], trace((item, True)))
    remembered = {knowledge.worked(item).draw(rng) for _ in range(1000)}
    assert len(remembered) == 24
    assert all(one is not None and int(one.args[0].text[1:-1]) >= 76 for one in remembered)  # type: ignore[union-attr]


def test_an_argument_accepted_once_is_tried_for_parameters_of_the_same_name_and_hint() -> None:
    made, rng = factory(accepted_rate=1.0), np.random.default_rng(0)
    opened, connected = operation_named(SUBJECT, "opened"), operation_named(SUBJECT, "connected")
    known = Statement(opened.id, args=(Literal("'/etc/motd'"),))
    made.note(made.table.testcase([known]), trace((opened.id, True)))
    drawn = [argument(made, connected, rng) for _ in range(100)]
    assert 30 < drawn.count(Literal("'/etc/motd'")) < 80
    assert not made.knowledge.accepted(operation_named(SUBJECT, "Version.parse").parameters[0])


# What never runs


def test_what_stands_after_a_statement_that_raised_is_cut_off() -> None:
    made, rng = factory(), np.random.default_rng(0)
    mystery = operation_named(SUBJECT, "mystery").id
    testcase = made.table.testcase(Statement(mystery, args=(Literal(str(number * 9999)),)) for number in range(6))
    assert made.cut(testcase) == testcase
    calls = [(mystery, True), (mystery, True), (mystery, False)]
    failed = Raised("ValueError", 0, mystery, 2, "explicit", True)
    made.note(testcase, trace(*calls, raised=failed))
    assert made.cut(testcase) == testcase[:3]
    dead = set(testcase[3:])
    for _ in range(50):
        assert not dead & set(made.mutate(testcase, rng))


@pytest.mark.parametrize("failure", ["fuel", "timeout", "memory", "crash", "exit", "blocked"])
def test_the_statement_at_which_a_failure_happened_is_cut_off(failure: Failure) -> None:
    made = factory()
    mystery = operation_named(SUBJECT, "mystery").id
    testcase = made.table.testcase([Statement(mystery, args=(Literal(str(n * 9999)),)) for n in range(4)])
    other = made.table.testcase([Statement(mystery, args=(Literal("'x'"),))] * 4)
    made.note(testcase, Trace(failure=failure, calls=(Call(mystery, True), Call(mystery, True), Call(mystery, False))))
    assert made.cut(testcase) == testcase[:2]
    rng = np.random.default_rng(1)
    for _ in range(50):
        assert not {*testcase[2:]} & {*made.mutate(testcase, rng)}
        assert not any({*testcase[2:]} & {*child} for child in made.cross(testcase, other, rng))


def test_a_failure_at_the_first_statement_leaves_nothing_to_go_on_with() -> None:
    made = factory()
    mystery = operation_named(SUBJECT, "mystery").id
    testcase = made.table.testcase([Statement(mystery, args=(Literal("7"),))])
    made.note(testcase, Trace(failure="fuel", calls=(Call(mystery, False),)))
    rng = np.random.default_rng(1)
    assert made.cross(testcase, testcase, rng) == ((), ())
    for _ in range(50):
        mutant = made.table.statements(made.mutate(testcase, rng))
        assert mutant and problems(mutant) == []


def test_a_failure_that_no_statement_is_known_to_have_caused_cuts_nothing() -> None:
    made = factory()
    mystery = operation_named(SUBJECT, "mystery").id
    testcase = made.table.testcase([Statement(mystery, args=(Literal("7"),))])
    made.note(testcase, Trace(failure="fuel", calls=(Call(mystery, True),)))  # a finalizer
    made.note(testcase, Trace(failure="crash"))
    assert made.cut(testcase) == testcase


def test_calls_are_inserted_before_the_statement_that_raised() -> None:
    made, rng = factory(delete_rate=0.0, change_rate=0.0, insert_rate=1.0), np.random.default_rng(0)
    mystery = operation_named(SUBJECT, "mystery").id
    testcase = made.table.testcase(Statement(mystery, args=(Literal(str(number)),)) for number in range(3))
    made.note(testcase, trace((mystery, False), raised=Raised("ValueError", 0, mystery, 2, "explicit", True)))
    for _ in range(50):
        assert made.mutate(testcase, rng)[-1] == testcase[-1]


def test_names_beyond_the_parameters_are_given_up_where_they_are_never_taken() -> None:
    knowledge = Knowledge(SUBJECT)
    add, item = operation_named(SUBJECT, "Cart.add").id, Literal("1")
    refused = trace((add, False), raised=raised("TypeError", add, counted=False))
    for _ in range(9):
        note(knowledge, [Statement(add, 0, (item,), (("b", item),))], refused)
        note(knowledge, [Statement(add, 0, (item,), (("count", item),))], refused)
    assert knowledge.extra_keywords(add) == 0.1  # (0 + 1) / (0 + 9 + 1); `count` is a parameter
    for _ in range(10):
        note(knowledge, [Statement(add, 0, (item,), (("b", item),))], trace((add, True)))
    assert knowledge.extra_keywords(add) == 0.55  # (10 + 1) / (10 + 9 + 1)


def test_large_numbers_are_avoided_where_they_have_hit_a_limit() -> None:
    made, rng = factory(ill_typed=0.0), np.random.default_rng(0)
    numbers, mystery = operation_named(SUBJECT, "numbers"), operation_named(SUBJECT, "mystery")
    large = Collection("list", (Literal("2147483648"),))
    statements = [Statement(mystery.id, args=(Literal("1"),)), Statement(numbers.id, args=(large,))]
    stopped = Trace(failure="memory")
    made.note(made.table.testcase(statements), stopped)
    values = made.calls.values
    assert sum(values.tamed(numbers.id, large, rng) == large for _ in range(400)) < 40  # 20 expected
    assert values.tamed(mystery.id, large, rng) == large
    assert values.tamed(numbers.id, Literal("7"), rng) == Literal("7")


def test_what_is_demanded_as_a_list_is_an_iterator_now_and_then() -> None:
    made, rng = factory(), np.random.default_rng(0)
    mystery = operation_named(SUBJECT, "mystery")
    made.learn(Lesson(parameters={(mystery.id, "n"): Hint("list", args=(INT,))}))
    drawn = [argument(made, mystery, rng) for _ in range(400)]
    iterators = sum(isinstance(one, Collection) and one.kind == "iter" for one in drawn)
    assert 10 < iterators < 80  # 0.8 * 0.1 of them, 32 expected
