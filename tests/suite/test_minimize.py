"""Minimisation keeps the covered targets and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fitgym.errors import OutOfBudget
from fitgym.subject.subject import Class, Operation, OperationKind, Parameter
from fitgym.subject.types.hints import ANY, NONE, PATH_TEXT, Hint, union
from fitgym.suite.reduction.dependencies import connected, needed, without, without_orphans
from fitgym.suite.reduction.makers import Means, makers_of
from fitgym.suite.reduction.minimize import WAVE, Kills, minimize
from fitgym.suite.reduction.reduction import Reduction, Row, Seen
from fitgym.suite.reduction.simplification import Change, bare, changed, conforms, plainer
from fitgym.testcase.expression import Collection, CollectionKind, Expression, Literal, Name, Ref
from fitgym.testcase.statement import Statement, StatementTable, TestCase

# A world without Python: operation k "does" k, and a target is a set of operations that have to happen in this order,
# each on the result of the one before where `chained`.


def call(operation: int, *uses: int, receiver: int = -1) -> Statement:
    return Statement(operation, receiver, tuple(Ref(use) for use in uses))


class World:
    """Judges test cases by subsequences of operations and counts what it was asked."""

    def __init__(self, table: StatementTable, targets: Sequence[Sequence[int]]) -> None:
        self.table = table
        self.targets = targets
        self.asked: list[TestCase] = []
        self.batches = 0

    def covered(self, testcases: Sequence[TestCase]) -> NDArray[np.bool_]:
        self.asked += testcases
        self.batches += 1
        return np.array([self.row(testcase) for testcase in testcases], dtype=bool).reshape(-1, len(self.targets))

    def row(self, testcase: TestCase) -> list[bool]:
        done = [statement.operation for statement in self.table.statements(testcase)]
        return [_is_subsequence(target, done) for target in self.targets]

    def union(self, testcases: Sequence[TestCase]) -> list[bool]:
        return [any(column) for column in zip(*(self.row(t) for t in testcases), strict=True)] or [False] * len(
            self.targets
        )


def _is_subsequence(wanted: Sequence[int], done: Sequence[int]) -> bool:
    rest = iter(done)
    return all(operation in rest for operation in wanted)


def reduced(suite: Sequence[Sequence[Statement]], targets: Sequence[Sequence[int]]) -> list[list[int]]:
    """The operations of the minimised tests."""
    table = StatementTable()
    world = World(table, targets)
    result = minimize([table.testcase(test) for test in suite], world.covered, table)
    return [[statement.operation for statement in table.statements(testcase)] for testcase in result]


@pytest.mark.parametrize(
    ("suite", "targets", "expected"),
    [
        ([], [[1]], []),
        ([[call(1)]], [[2]], []),
        ([[call(1)]], [[1]], [[1]]),
        ([[call(1), call(2), call(3)]], [[2]], [[2]]),
        ([[call(1), call(2, 0), call(3)]], [[2]], [[1, 2]]),  # 2 needs the result of 1
        ([[call(1), call(2), call(3, 0), call(4, 0)]], [[3, 4]], [[1, 3, 4]]),
        ([[call(5), call(1), call(5), call(2), call(5)]], [[1, 2]], [[1, 2]]),
        ([[call(1), call(2), call(3)], [call(3), call(2)]], [[2]], [[2]]),
        ([[call(1), call(2)]], [[1], [2]], [[1], [2]]),
        ([[call(1), call(2, 0)]], [[1], [2]], [[1, 2]]),  # the test for 2 covers 1 as well
        ([[call(1)], [call(2)], [call(1), call(2), call(3, 0, 1)]], [[1], [2], [3]], [[1, 2, 3]]),
        ([[call(1), call(1), call(1)]], [[1, 1]], [[1, 1]]),
        ([[call(1), call(2, receiver=0), call(3, receiver=0)]], [[3]], [[1, 3]]),
        ([[call(1), call(1)], [call(1), call(1)]], [[1]], [[1]]),
    ],
)
def test_a_suite_becomes(suite: list[list[Statement]], targets: list[list[int]], expected: list[list[int]]) -> None:
    assert reduced(suite, targets) == expected


def test_a_redundant_pair_is_found_after_the_greedy_cover() -> None:
    # Greedy takes {1,2,3,4} first, then needs {1,2,5} and {3,4,6}: the first is superfluous in the end.
    targets = [[operation] for operation in range(1, 7)]
    table = StatementTable()
    world = World(table, targets)
    chained = [
        [call(1), call(2, 0), call(3, 1), call(4, 2)],
        [call(1), call(2, 0), call(5, 1)],
        [call(3), call(4, 0), call(6, 1)],
    ]
    result = minimize([table.testcase(test) for test in chained], world.covered, table)
    assert sorted(len(testcase) for testcase in result) == [3, 3]


def test_needed_is_the_statement_with_all_it_refers_to() -> None:
    nested = Statement(3, -1, (Collection("list", (Ref(1), Collection("tuple", (Ref(1),)))),))
    assert needed([call(0), call(1, 0), call(2), nested], 3) == [0, 1, 3]


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ([call(0)], [[0]]),
        ([call(0), call(1)], [[0], [1]]),
        ([call(0), call(1), call(2, 0), call(3, receiver=1)], [[0, 2], [1, 3]]),
        ([call(0), call(1), call(2, 1, receiver=0)], [[0, 1, 2]]),
    ],
)
def test_statements_are_connected_by_the_results_they_use(
    statements: list[Statement], expected: list[list[int]]
) -> None:
    assert connected(statements) == expected


def test_a_test_of_two_unrelated_parts_becomes_two() -> None:
    assert reduced([[call(1), call(2), call(3, 0), call(4, 1)]], [[3], [4]]) == [[1, 3], [2, 4]]


def test_parts_that_need_each_other_stay_together() -> None:
    assert reduced([[call(1), call(2)]], [[1, 2]]) == [[1, 2]]


def test_unrelated_parts_are_split_even_if_no_time_is_left_for_arguments() -> None:
    for batches in range(2, 6):
        table = StatementTable()
        world = World(table, [[3], [4]])

        def covered(testcases: Sequence[TestCase], world: World = world, most: int = batches) -> NDArray[np.bool_]:
            if world.batches >= most:
                raise OutOfBudget
            return world.covered(testcases)

        test = [call(1), call(2), Statement(3, -1, (Ref(0), argument("hello"))), call(4, 1)]
        found = minimize([table.testcase(test)], covered, table)
        if [len(testcase) for testcase in found] == [2, 2]:
            assert "'hello'" in str([table.statements(testcase) for testcase in found])
            return
    pytest.fail("the parts were never split before the arguments became plain")


def test_what_is_known_of_a_result_takes_its_place_so_that_its_statement_goes() -> None:
    table = StatementTable()
    world = World(table, [[2]])
    test = table.testcase([call(1), call(2, 0)])
    (after,) = minimize([test], world.covered, table, seen=lambda tests: [Seen({0: argument("x")}) for _ in tests])
    assert table.statements(after) == [Statement(2, -1, (argument("a"),))]


@pytest.mark.parametrize(
    ("hint", "kept"),
    [
        (Hint("class", "collections.Counter"), 2),
        (Hint("dict"), 1),
        (ANY, 1),
    ],
)
def test_what_equals_an_object_does_not_take_its_place_if_it_has_another_type_than_declared(
    hint: Hint, kept: int
) -> None:
    table = StatementTable()
    operations = (
        Operation(0, "constructor", "collections", "Counter", "collections.Counter", (), hint, under_test=False),
        Operation(1, "function", "shop", "most", "", (Parameter("words", "positional_only", hint, declared=True),)),
    )
    world = Arguments(table, [lambda s: s.operation == 1])
    test = table.testcase([Statement(0), Statement(1, args=(Ref(0),))])
    (after,) = minimize(
        [test], world.covered, table, seen=lambda tests: [Seen({0: built({})}) for _ in tests], operations=operations
    )
    assert len(after) == kept


@pytest.mark.parametrize(("before", "after"), [("1", "2000"), ("1970", "2000"), ("2000", "2000"), ("3", "2000")])
def test_of_listed_values_the_first_is_the_plainest(before: str, after: str) -> None:
    table = StatementTable()
    year = Parameter("year", "positional_only", Hint("literal", texts=("2000", "1970", "1")), declared=True)
    operations = (Operation(0, "constructor", "datetime", "date", "datetime.date", (year,)),)
    world = Arguments(table, [lambda s: s.operation == 0])
    test = table.testcase([Statement(0, args=(Literal(before),))])
    (kept,) = minimize([test], world.covered, table, operations=operations)
    assert table.statements(kept) == [Statement(0, args=(Literal(after),))]


@pytest.mark.parametrize(("before", "after"), [("'bzip2'", "'bzip2'"), ("'zip'", "'how'"), ("'xz'", "'xz'")])
def test_a_value_that_the_code_expects_is_plainer_than_any_other(before: str, after: str) -> None:
    table = StatementTable()
    hint = Hint("union", args=(Hint("literal", texts=("'gzip'", "'bzip2'", "'xz'")), Hint("class", "builtins.str")))
    operations = (Operation(0, "function", "shop", "pack", "", (Parameter("how", "positional_only", hint),)),)
    world = Arguments(table, [lambda s: s.operation == 0])
    test = table.testcase([Statement(0, args=(Literal(before),))])
    (kept,) = minimize([test], world.covered, table, operations=operations)
    assert table.statements(kept) == [Statement(0, args=(Literal(after),))]


def test_without_takes_dependents_along() -> None:
    assert without([call(0), call(1, 0), call(2), call(3, receiver=1)], 0) == [2]


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        ([call(1), call(2, 0)], [call(1), call(2)], [1]),
        ([call(1), call(2, 0)], [call(1), call(2, 0)], [0, 1]),
        ([call(1), call(2, 0), call(3, 1)], [call(1), call(2, 0), call(3)], [2]),  # what only it needed goes too
        ([call(1), call(2, 0), call(3, 0)], [call(1), call(2, 0), call(3)], [0, 1, 2]),
        ([call(1), call(2)], [call(1), call(2)], [0, 1]),  # it was never used, so it may have another purpose
        ([call(9), call(2, 0)], [call(9), call(2)], [0, 1]),  # it must not go
        ([call(1), call(9, 0), call(3, 1)], [call(1), call(9, 0), call(3)], [0, 1, 2]),
    ],
)
def test_helpers_go_with_the_argument_that_they_were_made_for(
    before: list[Statement], after: list[Statement], left: list[int]
) -> None:
    assert without_orphans(before, after, lambda statement: statement.operation != 9) == left


tests = st.lists(st.tuples(st.integers(0, 5), st.lists(st.integers(0, 7), max_size=2)), min_size=1, max_size=8)
targets = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=3), min_size=1, max_size=6)


def closed(drawn: list[tuple[int, list[int]]]) -> list[Statement]:
    """A valid test case: references only to what came before."""
    return [call(op, *(use % index for use in uses if index)) for index, (op, uses) in enumerate(drawn)]


suites = st.lists(tests.map(closed), min_size=1, max_size=6)


@given(suites, targets)
@settings(max_examples=200)
def test_minimising_keeps_coverage_and_leaves_nothing_superfluous(
    suite: list[list[Statement]], targets: list[list[int]]
) -> None:
    table = StatementTable()
    world = World(table, targets)
    before = [table.testcase(test) for test in suite]
    after = minimize(before, world.covered, table)

    assert world.union(after) == world.union(before)
    assert len(after) <= sum(world.union(before))
    for testcase in after:
        rest = [other for other in after if other != testcase]
        assert world.union(rest) != world.union(after)
        statements = table.statements(testcase)
        assert all(use < index for index, s in enumerate(statements) for use in s.refs)
        assert max(map(len, before)) >= len(testcase)
        # No statement can go without losing a target that only this test was kept for.
        for position in range(len(statements)):
            keep = without(statements, position)
            shorter = table.testcase(statements[i].moved({old: new for new, old in enumerate(keep)}) for i in keep)
            assert world.row(shorter) != world.row(testcase)


@given(suites, targets, st.integers(1, 20))
@settings(max_examples=50)
def test_the_number_of_targets_in_step_does_not_change_the_result(
    suite: list[list[Statement]], targets: list[list[int]], wave: int
) -> None:
    def run(wave: int) -> list[list[Statement]]:
        table = StatementTable()
        result = minimize([table.testcase(test) for test in suite], World(table, targets).covered, table, wave=wave)
        return [table.statements(testcase) for testcase in result]

    assert run(wave) == run(1)


@given(suites, targets, st.integers(0, 12))
@settings(max_examples=100)
def test_a_spent_budget_costs_length_but_no_coverage(
    suite: list[list[Statement]], targets: list[list[int]], batches: int
) -> None:
    table = StatementTable()
    world = World(table, targets)
    before = [table.testcase(test) for test in suite]

    def covered(testcases: Sequence[TestCase]) -> NDArray[np.bool_]:
        if world.batches >= batches:
            raise OutOfBudget
        return world.covered(testcases)

    after = minimize(before, covered, table)
    assert world.union(after) == world.union(before)
    assert world.batches <= batches


def test_targets_in_step_share_their_batches() -> None:
    suite = [[call(9), call(operation), call(8), call(7)] for operation in range(7)]
    batches = []
    for wave in (1, 7):
        table = StatementTable()
        world = World(table, [[operation] for operation in range(7)])
        minimize([table.testcase(test) for test in suite], world.covered, table, wave=wave)
        batches.append(world.batches)
    assert batches[1] * 4 <= batches[0]


# Arguments


class Arguments:
    """Covers target k if some statement satisfies condition k; a statement of operation 9 raises."""

    def __init__(self, table: StatementTable, conditions: Sequence[Callable[[Statement], bool]]) -> None:
        self.table = table
        self.conditions = conditions

    def covered(self, testcases: Sequence[TestCase]) -> NDArray[np.bool_]:
        rows = [
            [any(map(condition, self.table.statements(testcase))) for condition in self.conditions]
            for testcase in testcases
        ]
        return np.array(rows, dtype=bool).reshape(-1, len(self.conditions))

    def outcomes(self, testcases: Sequence[TestCase]) -> list[str | None]:
        return ["error" if any(s.operation == 9 for s in self.table.statements(t)) else None for t in testcases]


def argument(value: object) -> Literal:
    return Literal(repr(value))


def built(value: object) -> Expression:
    if not isinstance(value, dict):
        return argument(value)
    return Collection("dict", tuple(argument(part) for pair in value.items() for part in pair))


def made_plain(statement: Statement, *conditions: Callable[[Statement], bool]) -> list[list[Statement]]:
    table = StatementTable()
    world = Arguments(table, conditions)
    return [table.statements(t) for t in minimize([table.testcase([statement])], world.covered, table)]


def values(statement: Statement) -> list[object]:
    return [eval(value.text) for value in statement.args if isinstance(value, Literal)]


@pytest.mark.parametrize(
    ("before", "condition", "after"),
    [
        ("hello world", lambda text: "w" in text, "w"),
        ("hello world", lambda text: True, "a"),
        ("", lambda text: True, "a"),
        ("", lambda text: not text, ""),
        (0, lambda number: True, 3),
        (0, lambda number: not number, 0),
        (b"\x00abc", lambda text: len(text) >= 2, b"ab"),
        (-4711, lambda number: number < 0, -1),
        (4711, lambda number: number > 100, 200),
        (4711, lambda number: number % 2 == 1 and number > 12, 47),
        (3.14159, lambda number: number > 0.7, 3),
        (3.14159, lambda number: number > 0.7 and type(number) is float, 1.0),
        ("Größe\u2028", lambda text: len(text) > 4, "abcd "),
        ("fox.7 Fox 79", lambda text: len(text) == 12, "abc.0 Abc 01"),
        ("9042", lambda text: int(text or 0) > 4000, "5000"),
        (b"fox.7", lambda text: len(text) == 5, b"abc.0"),
        (None, lambda value: True, None),
    ],
)
def test_a_literal_becomes_as_plain_as_the_target_allows(
    before: object, condition: Callable[[object], bool], after: object
) -> None:
    assert made_plain(Statement(1, -1, (argument(before),)), lambda s: condition(values(s)[0])) == [
        [Statement(1, -1, (argument(after),))]
    ]


def test_keyword_arguments_that_do_not_matter_go() -> None:
    before = Statement(1, kwargs=(("a", argument(1)), ("b", argument("text")), ("c", argument(None))))
    assert made_plain(before, lambda s: "b" in dict(s.kwargs)) == [[Statement(1, kwargs=(("b", argument("a")),))]]


def test_containers_lose_what_does_not_matter() -> None:
    before = Statement(1, -1, (Collection("list", tuple(argument(n) for n in (7, 70, 700))),))
    assert made_plain(before, lambda s: argument(70) in s.args[0].items) == [  # type: ignore[union-attr]
        [Statement(1, -1, (Collection("list", (argument(70),)),))]
    ]


def test_a_dictionary_loses_keys_with_their_values() -> None:
    items = tuple(argument(part) for part in ("a", 100, "b", 200, "c", 300))
    before = Statement(1, -1, (Collection("dict", items),))
    after = made_plain(before, lambda s: argument("b") in s.args[0].items)  # type: ignore[union-attr]
    assert after == [[Statement(1, -1, (Collection("dict", (argument("b"), argument(3))),))]]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((3, {"a": 3}), (3, {})),
        (({"a": 3}, {"b": 3}), ({"a": 3}, {})),  # the first argument is data, the others are options
        ((3, {}), (3, {})),
    ],
)
def test_a_dictionary_of_options_loses_all_that_does_not_matter(
    before: tuple[object, ...], after: tuple[object, ...]
) -> None:
    ((statement,),) = made_plain(Statement(1, -1, tuple(map(built, before))), lambda one: len(one.args) == 2)
    assert statement.args == tuple(map(built, after))


def test_an_argument_that_is_an_earlier_result_stays_and_parts_of_others_go() -> None:
    table = StatementTable()
    world = Arguments(table, [lambda s: s.operation == 2])
    test = [call(1), Statement(2, -1, (Ref(0), Collection("list", (Ref(0), argument("x")))), (("key", Ref(0)),))]
    (after,) = minimize([table.testcase(test)], world.covered, table)
    assert table.statements(after) == [call(1), Statement(2, -1, (Ref(0), argument("a")))]


def test_a_result_made_from_another_one_gives_way_to_that() -> None:
    table = StatementTable()
    world = Arguments(table, [lambda s: s.operation == 3])
    test = [call(1), call(2, receiver=0), call(2, receiver=1), call(3, receiver=2)]
    (after,) = minimize([table.testcase(test)], world.covered, table)
    assert table.statements(after) == [call(1), call(3, receiver=0)]


def test_the_plainest_object_of_a_class_takes_the_place_of_others() -> None:
    table = StatementTable()
    world = Arguments(table, [lambda s: s.operation == 2, lambda s: s.operation == 3])
    operations = [
        Operation(number, kind, "shop", name, owner, (), ANY)
        for number, (kind, name, owner) in enumerate(
            [
                ("function", "box_of", ""),
                ("constructor", "Box", "shop.Box"),
                ("method", "Box.open", "shop.Box"),
                ("method", "Box.shut", "shop.Box"),
            ]
        )
    ]
    new = Statement(1)
    tests = [[call(0), call(2, receiver=0)], [new, call(3, receiver=0)]]
    kept = minimize([table.testcase(test) for test in tests], world.covered, table, operations=operations)
    assert [table.statements(test) for test in kept] == [
        [call(0), call(2, receiver=0)],  # as plain, and not made from anything
        [new, call(3, receiver=0)],
    ]
    tests[0] = [Statement(0, -1, (argument("long"),)), call(2, receiver=0)]
    world.conditions = [lambda s: s.operation == 2, lambda s: s.operation == 3]
    kept = minimize([table.testcase(test) for test in tests], world.covered, table, operations=operations)
    assert table.statements(kept[0]) == [new, call(2, receiver=0)]


@pytest.mark.parametrize(
    ("given", "replaced"),
    [
        ({"label": "a", "weight": 3}, [[Statement(1, kwargs=(("label", argument("a")),))]]),
        (
            {"label": "a", "colour": "red"},
            [
                [Statement(1, kwargs=(("label", argument("a")),))],
                [Statement(1, kwargs=(("label", argument("a")),)), Statement(3, 0, (argument("red"),))],
            ],
        ),
        ({"weight": 3}, []),  # the constructor needs a label
    ],
)
def test_a_stand_in_gives_way_to_an_object_of_the_declared_class(
    given: dict[str, object], replaced: list[list[Statement]]
) -> None:
    box = Parameter("box", "positional_or_keyword", Hint("class", "shop.Box"), declared=True)
    operations = (
        Operation(0, "constructor", "types", "SimpleNamespace", "types.SimpleNamespace", (), ANY),
        Operation(1, "constructor", "shop", "Box", "shop.Box", (Parameter("label", "keyword_only", ANY),), ANY),
        Operation(2, "function", "shop", "open_box", "", (box,), ANY),
        Operation(3, "setter", "shop", "Box.colour", "shop.Box", (Parameter("value", "positional_only", ANY),), NONE),
    )
    stand_in = Statement(0, kwargs=tuple((name, argument(value)) for name, value in given.items()))
    use = Statement(2, args=(Ref(0),))
    assert Means(StatementTable(), operations).real(stand_in, 0, [use]) == replaced
    assert Means(StatementTable(), operations).real(use, 0, [use]) == []


def test_an_object_of_the_declared_class_gets_no_attribute_of_another_type() -> None:
    box = Parameter("box", "positional_or_keyword", Hint("class", "shop.Box"), declared=True)
    label, size = Hint("class", "shop.Label"), Hint("class", "builtins.int")
    asked = (
        Parameter("label", "keyword_only", label, False, True),
        Parameter("size", "keyword_only", size, False, True),
    )
    operations = (
        Operation(0, "constructor", "types", "SimpleNamespace", "types.SimpleNamespace", (), ANY),
        Operation(1, "constructor", "shop", "Box", "shop.Box", asked, ANY),
        Operation(2, "function", "shop", "open_box", "", (box,), ANY),
    )
    stand_in = Statement(0, kwargs=(("label", argument("a")), ("size", argument(3))))
    found = Means(StatementTable(), operations).real(stand_in, 0, [Statement(2, args=(Ref(0),))])
    assert found == [[Statement(1, kwargs=(("size", argument(3)),))]]


@pytest.mark.parametrize(
    ("returns", "kept"), [("shop.Box", False), ("shop.Crate", False), ("builtins.Exception", True)]
)
def test_a_result_gives_way_to_an_earlier_one_only_if_that_has_the_declared_class(returns: str, kept: bool) -> None:
    """`use(wrap(make()))` becomes `use(make())` if `use` takes what `make` returns."""
    table = StatementTable()
    world = Arguments(table, [lambda s: s.operation == 2])
    box = Hint("class", "shop.Box")
    operations = (
        Operation(0, "function", "shop", "make", "", (), Hint("class", returns)),
        Operation(1, "function", "shop", "wrap", "", (Parameter("thing", "positional_only", ANY),), box),
        Operation(2, "function", "shop", "use", "", (Parameter("box", "positional_only", box, declared=True),), ANY),
    )
    classes = {"shop.Crate": Class("shop.Crate", "shop", "Crate", ("shop.Crate", "shop.Box"))}
    test = [Statement(0), Statement(1, args=(Ref(0),)), Statement(2, args=(Ref(1),))]
    (after,) = minimize([table.testcase(test)], world.covered, table, operations=operations, classes=classes)
    assert (len(table.statements(after)) == 3) is kept


TEXT, NUMBER = Hint("class", "builtins.str"), Hint("class", "builtins.int")
TEXTS = Hint("set", args=(TEXT,))


@pytest.mark.parametrize(
    ("value", "hint", "conforms_to_it"),
    [
        (argument(3), NUMBER, True),
        (argument("a"), NUMBER, False),
        (argument("a"), union([NUMBER, NONE]), False),
        (argument(None), union([NUMBER, NONE]), True),
        (argument(3), Hint("class", "shop.Box"), False),
        (Ref(0), Hint("class", "shop.Box"), True),
        (Name("shop", "Colour.RED"), Hint("class", "shop.Colour"), True),
        (argument("a"), Hint("class", "builtins.object"), True),
        (argument("a"), PATH_TEXT, True),
        (argument("left"), Hint("literal", texts=("'left'",)), True),
        (argument("lft"), Hint("literal", texts=("'left'",)), False),
        (Collection("list", ()), Hint("literal", texts=("'left'",)), False),
        (Ref(0), Hint("literal", texts=("'left'",)), True),
        (Collection("set", (argument("a"),)), TEXTS, True),
        (Collection("list", (argument("a"),)), TEXTS, False),
        (argument("a"), TEXTS, False),
        (Collection("set", (argument(3),)), TEXTS, False),
        (built({"a": 3}), Hint("dict", args=(TEXT, NUMBER)), True),
        (built({"a": "b"}), Hint("dict", args=(TEXT, NUMBER)), False),
        (built({3: 3}), Hint("mapping", args=(TEXT, NUMBER)), False),
        (Collection("list", (argument("a"), argument(3))), Hint("list", args=(union([TEXT, NUMBER]),)), True),
        (Collection("list", (argument("a"),)), Hint("list"), True),
    ],
)
def test_arguments_conform_to_their_declared_type(value: Expression, hint: Hint, conforms_to_it: bool) -> None:
    assert conforms(value, hint) is conforms_to_it


def test_a_stand_in_gives_way_to_what_other_tests_make_of_the_declared_class() -> None:
    box, inner = Hint("class", "shop.Box"), Parameter("label", "keyword_only", ANY)
    operations = (
        Operation(0, "constructor", "types", "SimpleNamespace", "types.SimpleNamespace", (), ANY),
        Operation(1, "function", "shop", "pack", "", (inner,), box),
        Operation(
            2, "function", "shop", "open_box", "", (Parameter("box", "positional_only", box, declared=True),), ANY
        ),
    )
    stand_in, use = Statement(0), Statement(2, args=(Ref(0),))
    made = [Statement(1, args=(argument(text),)) for text in ("a", "longer", "c", "much longer")]
    of_result = Statement(1, args=(Ref(0),))  # needs another object
    means = Means(StatementTable(), operations)
    means = means._replace(makers=makers_of([*made, of_result, use], means))
    assert means.real(stand_in, 0, [use]) == [[made[0]], [made[2]], [made[1]]]


def test_what_has_a_private_name_gives_way_to_what_has_none() -> None:
    table = StatementTable()
    world = Arguments(table, [lambda s: s.operation == 2, lambda s: s.operation == 1])
    kinds = [("constructor", "_Box", "shop._Box"), ("function", "box_of", ""), ("method", "_Box.open", "shop._Box")]
    operations = [
        Operation(number, kind, "shop", name, owner, (), ANY) for number, (kind, name, owner) in enumerate(kinds)
    ]
    public = Statement(1, -1, (argument("a"),))
    tests = [[call(0), call(2, receiver=0)], [public]]
    kept = minimize([table.testcase(test) for test in tests], world.covered, table, operations=operations)
    assert [table.statements(test) for test in kept] == [[public, call(2, receiver=0)]]


def test_an_iterator_that_nobody_uses_is_drained() -> None:
    table = StatementTable()
    world = Arguments(table, [lambda s: s.operation == 2])
    test = [call(1), call(2, 0)]
    (after,) = minimize([table.testcase(test)], world.covered, table, seen=lambda _: [Seen({}, {0, 1})])
    assert table.statements(after) == [call(1), call(2, 0)._replace(iterate=True)]


def test_each_of_two_tests_keeps_its_own_targets_only() -> None:
    table = StatementTable()
    long, short = (lambda s: len(values(s)[0]) > 9), (lambda s: len(values(s)[0]) < 3)  # type: ignore[arg-type]
    world = Arguments(table, [long, short])
    tests = [table.testcase([Statement(1, -1, (argument(text),))]) for text in ("a longer text", "ab")]
    after = minimize(tests, world.covered, table)
    assert [values(table.statements(t)[0]) for t in after] == [["a abc abca"], ["a"]]


def test_a_test_that_returns_is_preferred_and_stays_so() -> None:
    table = StatementTable()
    world = Arguments(table, [lambda s: s.operation in (3, 9)])
    raising, returning = table.testcase([call(9)]), table.testcase([call(1), call(2), call(3, 0)])
    kept = minimize([raising, returning], world.covered, table, outcomes=world.outcomes)
    assert [s.operation for s in table.statements(kept[0])] == [1, 3]
    assert minimize([raising, returning], world.covered, table) == [raising]


def test_what_a_test_that_returns_covers_too_is_not_asked_of_one_that_raises() -> None:
    table = StatementTable()
    has_x = lambda s: "x" in values(s)[0]  # type: ignore[operator]  # noqa: E731
    world = Arguments(table, [lambda s: s.operation == 9, has_x, lambda s: s.operation == 1])
    tests = [table.testcase([Statement(operation, -1, (argument("a box"),))]) for operation in (9, 1)]
    after = minimize(tests, world.covered, table, outcomes=world.outcomes)
    assert [values(table.statements(t)[0]) for t in after] == [["a"], ["x"]]


def test_targets_discovered_on_the_way_are_not_looked_at() -> None:
    table = StatementTable()
    world = World(table, [[1]])

    def growing(testcases: Sequence[TestCase]) -> NDArray[np.bool_]:
        return np.column_stack([world.covered(testcases), *[np.ones(len(testcases), bool)] * (world.batches - 1)])

    (after,) = minimize([table.testcase([call(2), call(1), call(3)])], growing, table)
    assert [statement.operation for statement in table.statements(after)] == [1]


# Mutants


class Mutants(Arguments):
    """Mutant k is killed by a test case of which some statement satisfies condition k."""

    def __init__(self, table: StatementTable, *killed_by: Callable[[Statement], bool]) -> None:
        super().__init__(table, [lambda statement: True])
        self.killed_by = killed_by
        self.asked: list[Sequence[int] | None] = []

    def kills(self, asked: Sequence[tuple[TestCase, Sequence[int] | None]]) -> list[frozenset[int]]:
        self.asked += [numbers for _, numbers in asked]
        return [frozenset(self.killed(testcase, numbers)) for testcase, numbers in asked]

    def killed(self, testcase: TestCase, numbers: Sequence[int] | None) -> list[int]:
        statements = self.table.statements(testcase)
        wanted = range(len(self.killed_by)) if numbers is None else numbers
        return [number for number in wanted if any(map(self.killed_by[number], statements))]


def made_plain_on(mutants: Mutants, *tests: Sequence[Statement]) -> list[list[Statement]]:
    candidates = [mutants.table.testcase(test) for test in tests]
    found = minimize(candidates, mutants.covered, mutants.table, outcomes=mutants.outcomes, kills=mutants.kills)
    return [mutants.table.statements(testcase) for testcase in found]


def has(*characters: str) -> Callable[[Statement], bool]:
    return lambda statement: all(character in str(values(statement)) for character in characters)


def test_what_kills_a_mutant_stays() -> None:
    mutants = Mutants(StatementTable(), has("w"), has("x"))
    assert made_plain_on(mutants, [Statement(1, -1, (argument("hello world"),))]) == [
        [Statement(1, -1, (argument("w"),))]
    ]
    assert mutants.asked[0] is None and [0] in mutants.asked  # nothing is asked about what it never killed


def test_a_test_that_raises_need_not_kill() -> None:
    mutants = Mutants(StatementTable(), has("w"))
    assert made_plain_on(mutants, [Statement(9, -1, (argument("hello world"),))]) == [
        [Statement(9, -1, (argument("a"),))]
    ]
    assert mutants.asked == []


def test_a_mutant_belongs_to_the_first_test_that_kills_it() -> None:
    mutants = Mutants(StatementTable(), has("x"))
    mutants.conditions = [lambda s: s.operation == 1, lambda s: s.operation == 2]
    tests = [[Statement(number, -1, (argument("a long text"),))] for number in (1, 2)]
    assert [values(test[0]) for test in made_plain_on(mutants, *tests)] == [["x"], ["a"]]


def test_out_of_time_for_mutants_nothing_is_asked_of_tests() -> None:
    mutants = Mutants(StatementTable(), has("w"))

    def late(asked: object) -> list[frozenset[int]]:
        raise OutOfBudget

    test = mutants.table.testcase([Statement(1, -1, (argument("hello world"),))])
    (after,) = minimize([test], mutants.covered, mutants.table, kills=late)
    assert mutants.table.statements(after) == [Statement(1, -1, (argument("a"),))]


def test_mutants_that_must_die_are_goals_like_targets() -> None:
    mutants = Mutants(StatementTable(), has("w"), has("x"), has("z"))
    mutants.conditions = [lambda s: s.operation == 1]
    tests = [[call(5), Statement(number, -1, (argument(text),))] for number, text in ((1, "hello"), (2, "a wide box"))]
    candidates = [mutants.table.testcase(test) for test in tests]
    found = minimize(candidates, mutants.covered, mutants.table, kills=mutants.kills, mutants={0, 1})
    assert [values(s) for testcase in found for s in mutants.table.statements(testcase)] == [["a"], ["wx"]]


def test_without_time_tests_keep_killing_what_must_die() -> None:
    mutants = Mutants(StatementTable(), has("w"))
    test = mutants.table.testcase([Statement(1, -1, (argument("hello world"),))])
    calls = iter(range(100))

    def late(asked: Sequence[tuple[TestCase, Sequence[int] | None]]) -> list[frozenset[int]]:
        if next(calls) > 1:
            raise OutOfBudget
        return mutants.kills(asked)

    assert minimize([test], mutants.covered, mutants.table, kills=late, mutants={0}) == [test]


def test_a_proposal_runs_on_mutants_only_if_it_is_to_be_taken() -> None:
    mutants = Mutants(StatementTable(), lambda statement: True)
    test = [Statement(1, -1, tuple(map(argument, ("hello", "a long text", "world"))))]
    proposed = len(list(plainer(test[0])))
    assert made_plain_on(mutants, test) == [[Statement(1, -1, (argument("a"),) * 3)]]
    assert mutants.asked.count([0]) < proposed / 8


def test_every_test_loses_what_it_need_not_say_before_any_is_simplified_further() -> None:
    table = StatementTable()
    numbers = range(2 * WAVE + 8)
    world = Arguments(table, [partial(calls_operation, number) for number in numbers])
    tests = [Statement(number, -1, (argument("hello"),), (("loud", argument(3)),)) for number in numbers]
    asked: list[list[object]] = []

    def covered(testcases: Sequence[TestCase]) -> NDArray[np.bool_]:
        asked.extend(values(table.statements(testcase)[0]) for testcase in testcases)
        if any(one != ["hello"] for one in asked):
            raise OutOfBudget
        return world.covered(testcases)

    found = minimize([table.testcase([test]) for test in tests], covered, table)
    assert [table.statements(testcase) for testcase in found] == [[test._replace(kwargs=())] for test in tests]


def calls_operation(number: int, statement: Statement) -> bool:
    return statement.operation == number


def test_parts_stay_together_if_only_together_they_kill() -> None:
    table = StatementTable()
    mutants = Mutants(table)
    mutants.conditions = [lambda s: s.operation == 1, lambda s: s.operation == 2]
    test = table.testcase([call(1), call(2, 0)])  # until the result of the first is written out in the second

    def lengths(kills: Kills | None) -> list[int]:
        known = [Seen({0: argument(1)})]
        return [len(t) for t in minimize([test], mutants.covered, table, seen=lambda _: known, kills=kills)]

    assert lengths(lambda asked: [frozenset({0} if len(testcase) == 2 else ()) for testcase, _ in asked]) == [2]
    assert lengths(None) == [1, 1]


def test_a_change_that_fails_is_not_tried_again() -> None:
    tried: list[TestCase] = []
    table = StatementTable()
    world = Arguments(table, [lambda statement: "hello" in values(statement) and len(statement.args) == 3])

    def covered(testcases: Sequence[TestCase]) -> NDArray[np.bool_]:
        tried.extend(testcases)
        return world.covered(testcases)

    before = Statement(1, -1, tuple(map(argument, ("hello", "a long text", "another long text"))))
    (after,) = minimize([table.testcase([before])], covered, table)
    assert [values(statement) for statement in table.statements(after)] == [["hello", "a", "a"]]
    assert len(tried) < len(list(plainer(before)))


def test_the_mutants_that_a_test_must_kill_are_sought_among_the_likely_ones() -> None:
    mutants = Mutants(StatementTable(), has("w"), has("o"))
    test = mutants.table.testcase([Statement(1, -1, (argument("hello world"),))])
    (after,) = minimize(
        [test], mutants.covered, mutants.table, kills=mutants.kills, likely=lambda tests, most: [[1]] * len(tests)
    )
    assert [values(statement) for statement in mutants.table.statements(after)] == [["o"]]
    assert mutants.asked[0] == [1]


# Annotations

COUNT, TITLE = Hint("class", "builtins.int"), Hint("union", args=(Hint("class", "builtins.str"), Hint("none")))
ANNOTATED = Operation(
    1,
    "function",
    "shop",
    "buy",
    parameters=(
        Parameter("title", "positional_or_keyword", TITLE, declared=True),
        Parameter("count", "positional_or_keyword", COUNT, required=False, declared=True),
        Parameter("gift", "keyword_only", ANY, required=False),
    ),
)


def values_of(changes: Iterable[Change], place: int | str) -> list[object]:
    return [eval(c.value.text) for c in changes if c.place == place and isinstance(c.value, Literal)]


def test_a_value_that_does_not_fit_its_annotation_is_replaced_by_one_that_does() -> None:
    changes = list(plainer(Statement(1, -1, (argument(5), argument("x"))), ANNOTATED))
    assert {"", "a", None} <= set(values_of(changes, 0))
    assert {0, 1} <= set(values_of(changes, 1))


def test_a_fitting_value_keeps_its_kind() -> None:
    assert all(
        isinstance(value, str) for value in values_of(plainer(Statement(1, -1, (argument("abc"),)), ANNOTATED), 0)
    )


def test_only_the_last_argument_with_a_default_and_keywords_can_go() -> None:
    statement = Statement(1, -1, (argument("x"), argument(3)), (("gift", argument(True)),))
    assert [change.place for change in plainer(statement, ANNOTATED) if change.value is None] == ["gift", 1]
    assert [change.place for change in plainer(statement) if change.value is None] == ["gift"]


@pytest.mark.parametrize(
    ("args", "kwargs", "expected"),
    [
        (("x", 3), {"gift": True}, (("x",), {})),
        (("x",), {"count": 3, "gift": True}, (("x",), {})),
        ((), {"title": "x", "gift": True}, ((), {"title": "x"})),
        (("x",), {}, (("x",), {})),
    ],
)
def test_arguments_that_may_be_left_out_go_together(
    args: tuple[object, ...], kwargs: dict[str, object], expected: tuple[tuple[object, ...], dict[str, object]]
) -> None:
    def call_of(args: tuple[object, ...], kwargs: dict[str, object]) -> Statement:
        return Statement(1, -1, tuple(map(argument, args)), tuple((name, argument(kwargs[name])) for name in kwargs))

    assert bare(call_of(args, kwargs), ANNOTATED) == call_of(*expected)


def test_the_name_of_its_parameter_is_the_plainest_text() -> None:
    (first, *_) = plainer(Statement(1, -1, (argument("abc"),)), ANNOTATED)
    assert first.value == argument("title")
    assert not list(plainer(Statement(1, -1, (argument("title"),)), ANNOTATED))


@pytest.mark.parametrize(
    ("given", "expected"),
    [((3, 3), {2, 3}), ((50, 50), {2, 3}), ((50, 50, 50), {1, 2, 3}), ((3, 2), {3, 2}), ((7,), {3})],
)
def test_numbers_become_different_ones(given: tuple[int, ...], expected: set[int]) -> None:
    ((statement,),) = made_plain(Statement(1, -1, tuple(map(argument, given))), lambda one: len(one.args) == len(given))
    assert {eval(value.text) for value in statement.args if isinstance(value, Literal)} == expected


@pytest.mark.parametrize("value", [argument("settings"), argument(3), Ref(0), Collection("list", (Ref(0),))])
def test_what_the_code_never_reads_becomes_none(value: Expression) -> None:
    parameter = Parameter("settings", "positional_or_keyword", NONE)
    operation = Operation(1, "function", "shop", "close", parameters=(parameter,))
    assert argument(None) in [change.value for change in plainer(Statement(1, -1, (value,)), operation)]
    assert list(plainer(Statement(1, -1, (argument(None),)), operation)) == []


@pytest.mark.parametrize(
    ("element", "expected"),
    [("shop.Gift", True), ("builtins.int", True), ("builtins.str", False), ("", False)],
)
def test_a_text_is_no_collection_of_something_else_than_characters(element: str, expected: bool) -> None:
    several = Hint("iterable", args=(Hint("class", element) if element else ANY,))
    parameter = Parameter("gifts", "positional_or_keyword", union([several, NONE]), declared=True)
    operation = Operation(1, "function", "shop", "send", parameters=(parameter,))
    found = [change.value for change in plainer(Statement(1, -1, (argument("gifts"),)), operation)]
    assert (Collection("list", ()) in found and argument(None) in found) is expected
    listed = Statement(1, -1, (Collection("list", (argument(3),)),))
    assert argument("gifts") not in [change.value for change in plainer(listed, operation)]


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (Collection("tuple", (argument(3),)), "constructor", True),
        (Collection("list", ()), "constructor", True),
        (argument(False), "constructor", True),
        (argument(3), "constructor", False),
        (argument("owner"), "constructor", False),
        (Ref(0), "constructor", False),
        (Collection("list", ()), "function", False),
    ],
)
def test_none_says_that_what_a_constructor_stores_does_not_matter(
    value: Expression, kind: OperationKind, expected: bool
) -> None:
    parameter = Parameter("owner", "positional_or_keyword", ANY)
    operation = Operation(1, kind, "shop", "Basket", parameters=(parameter,))
    assert (argument(None) in [change.value for change in plainer(Statement(1, -1, (value,)), operation)]) is expected
    if expected:
        after = Statement(1, -1, (argument(None),))
        assert argument(3) not in [change.value for change in plainer(after, operation)]


def test_a_call_that_raises_keeps_to_the_annotation_of_a_class() -> None:
    parameter = Parameter("box", "positional_or_keyword", Hint("class", "shop.Box"), declared=True)
    operation = Operation(1, "function", "shop", "send", parameters=(parameter,))
    assert list(plainer(Statement(1, -1, (Ref(0),)), operation, raises=True)) == []


def test_a_call_that_raises_does_so_with_something_plain_as_well() -> None:
    statement = Statement(1, -1, (Ref(0), Ref(0)), (("gift", Ref(0)),))
    assert [change.value for change in plainer(statement, ANNOTATED)] == [None, None]  # two arguments have a default
    changes = list(plainer(statement, ANNOTATED, raises=True))
    assert set(values_of(changes, 0)) == {None, "", "a"}
    assert set(values_of(changes, 1)) == {0, 1}
    assert set(values_of(changes, "gift")) == {None, 0, ""}


def test_only_the_call_that_raises_takes_something_plain_for_an_object() -> None:
    buy = Operation(1, "function", "shop", "buy", "", (Parameter("gift", "positional_or_keyword", ANY),), ANY)
    operations = (replace(buy, id=0, parameters=()), buy, replace(buy, id=2))
    table = StatementTable()
    test = table.testcase([Statement(0), Statement(1, args=(Ref(0),)), Statement(2, args=(Ref(1),))])
    keeping = Reduction(test, [0], Row(np.array([True]), "error"), Means(table, operations))
    assert {(position, change.value) for position, change in keeping._changes()} == {
        (2, argument(value)) for value in (None, 0, "")
    }


literals = st.one_of(st.integers(), st.floats(allow_nan=False), st.text(max_size=12), st.binary(max_size=6)).map(repr)


@given(st.lists(literals.filter(lambda text: "inf" not in text), max_size=3), st.booleans())
@settings(max_examples=60)
def test_every_change_saves_something(texts: list[str], raises: bool) -> None:
    statement = Statement(1, -1, (Collection("list", tuple(map(Literal, texts))), *map(Literal, texts)))
    for change in plainer(statement, raises=raises):
        after = changed(statement, [change])
        assert after != statement
        assert change.saved > 0


def test_changes_of_several_arguments_are_made_together() -> None:
    statement = Statement(1, -1, (argument(5), argument("x")), (("gift", argument(True)),))
    changes = [Change(0, argument(0), 1), Change("gift", None, 1)]
    assert changed(statement, changes) == Statement(1, -1, (argument(0), argument("x")))


def plainer_than(value: Collection) -> list[Expression | None]:
    return [change.value for change in plainer(Statement(1, -1, (value,)))]


@pytest.mark.parametrize("key", [None, True, False])
def test_an_odd_key_becomes_a_text(key: object) -> None:
    assert Collection("dict", (argument("a"), argument(3))) in plainer_than(
        Collection("dict", (argument(key), argument(3)))
    )


def test_the_key_of_a_number_stays() -> None:
    found = plainer_than(Collection("dict", (argument(3), argument(None))))
    assert Collection("dict", (argument("a"), argument(None))) not in found


def test_a_long_option_is_not_shortened() -> None:
    found = plainer_than(Collection("list", (argument("--verbose"), argument("value"))))
    left = {item for value in found if isinstance(value, Collection) for item in value.items}
    assert {item for item in left if "--" in str(item)} == {argument("--verbose")}
    assert argument("abcde") in left


@pytest.mark.parametrize("kind", ["iter", "set", "frozenset"])
@pytest.mark.parametrize("items", [(), (argument(3),)])
def test_other_containers_become_lists(kind: CollectionKind, items: tuple[Expression, ...]) -> None:
    assert Collection("list", items) in plainer_than(Collection(kind, items))
