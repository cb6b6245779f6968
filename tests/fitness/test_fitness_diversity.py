"""Diversity is the paper's sum of edit distances, whatever is cached."""

from __future__ import annotations

import copy
import pickle
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from subject_by_hand import build, operation_named

from fitgym.engine import Engine
from fitgym.errors import InputError, UnknownName
from fitgym.evolution.individual import Individual
from fitgym.evolution.measurements import Measurements
from fitgym.execution.executor import Executor
from fitgym.fitness import _pairs
from fitgym.fitness._pairs import Pairs
from fitgym.fitness._texts import LONGEST, last_two, texts
from fitgym.fitness.diversity import Diversity
from fitgym.instrument.trace import Trace
from fitgym.subject.source import locate
from fitgym.testcase.expression import Collection, Lambda, Literal, Name, Ref
from fitgym.testcase.statement import Statement, StatementTable

SUBJECT = build()
SHOP = Name("shop", "Color.RED")


def call(name, *args, receiver=-1, **kwargs):
    """A statement; arguments that are text stand for constants."""

    def made(argument):
        return Literal(argument) if isinstance(argument, str) else argument

    operation = operation_named(SUBJECT, name).id
    named = tuple((key, made(value)) for key, value in kwargs.items())
    return Statement(operation, receiver, tuple(map(made, args)), named)


def diversity_of(*testcases, **variant):
    table = StatementTable()
    return Diversity(SUBJECT, **variant).diversity([table.testcase(one) for one in testcases], table)


def levenshtein(a, b):
    """Equation 7, row after row."""
    last = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (x != y)))
        last = row
    return last[-1]


def by_definition(testcases, read=texts):
    """Equation 8 over all pairs of statements."""
    read_ones = [read(one, SUBJECT) for one in testcases]
    return sum(levenshtein(s, t) for a, b in combinations(read_ones, 2) for s in a for t in b)


# Texts


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (call("mystery", "1.5"), "mystery(1.5)"),
        (call("mystery", "'a b'"), "mystery('a b')"),
        (call("mystery", "None"), "mystery(None)"),
        (call("Version"), "Version()"),
        (call("Version.parse", "'1'"), "Version.parse('1')"),
        (call("Version.major", receiver=0), "major"),
        (call("Version.size", "5", receiver=0), "size(5)"),
        (call("Version.bump", "2", minor="True", receiver=0), "bump(2, minor=True)"),
        (call("Version.__add__", Ref(0), receiver=0), "__add__(Version('0'))"),
        (call("mystery", SHOP), "mystery(Color.RED)"),
        (call("mystery", Collection("list", (Literal("1"), Ref(0)))), "mystery(list(1, Version('0')))"),
        (call("mystery", Lambda(2, Ref(-2))), "mystery(lambda: x1)"),
    ],
)
def test_a_text_says_what_is_called_with_what(statement, text):
    assert texts([call("Version", "'0'"), statement], SUBJECT)[1] == text


def test_variables_are_replaced_by_what_defined_them_wherever_they_come_from():
    near = [call("Version", "'1'"), call("raise_", Ref(0))]
    far = [call("mystery", "7"), call("Version", "'1'"), call("mystery", "8"), call("raise_", Ref(1))]
    assert texts(near, SUBJECT)[-1] == texts(far, SUBJECT)[-1] == "raise_(Version('1'))"


def test_texts_that_would_double_at_every_statement_are_cut():
    doubling = [call("Version"), *(call("Version.compare", Ref(k), Ref(k)) for k in range(38))]
    found = texts(doubling, SUBJECT)
    assert found[2] == "Version.compare(Version.compare(Version(), Version()), Version.compare(Version(), Version()))"
    assert max(map(len, found)) == LONGEST == 128


def test_the_released_code_reads_the_last_number_and_the_last_statement_only():
    assert last_two([call("mystery", "1"), call("apply", "2", "None"), call("mystery", "'x'")], SUBJECT) == (
        "2",
        "mystery('x')",
    )
    assert last_two([call("mystery", "True"), call("mystery", "'x'")], SUBJECT) == ("mystery('x')",)
    nested = Collection("dict", (Literal("1"), Collection("list", (Literal("-2.5"),))))
    assert last_two([call("untyped", nested, Lambda(1, Literal("'a'")))], SUBJECT)[0] == "-2.5"
    assert last_two([], SUBJECT) == ()


# Numbers by hand


def test_three_tests_of_one_statement_are_as_far_apart_as_their_numbers():
    # 1 to 12: one insertion. 1 to 345 and 12 to 345: three, because no digit is the same. 1 + 3 + 3
    suite = [[call("mystery", "1")], [call("mystery", "12")], [call("mystery", "345")]]
    assert diversity_of(*suite) == 7


def test_every_statement_is_compared_with_every_one_of_the_other_test():
    # 1 and 1: 0. 1 and 34: 2. 2 and 1: 1. 2 and 34: 2.
    assert (
        diversity_of([call("mystery", "1"), call("mystery", "2")], [call("mystery", "1"), call("mystery", "34")]) == 5
    )


def test_a_copy_is_as_far_as_the_statements_of_a_test_are_from_each_other():
    # 1 and 1: 0. 1 and 22: 2. 22 and 1: 2. 22 and 22: 0.
    pair = [call("mystery", "1"), call("mystery", "22")]
    assert diversity_of(pair, pair) == 4
    assert diversity_of(pair[:1], pair[:1]) == 0


def test_the_fitness_is_one_by_one_plus_the_sum():
    table = StatementTable()
    a, b, c = (table.testcase([call("mystery", number)]) for number in ("1", "12", "345"))
    values = Diversity(SUBJECT).of_tests([[a, b, c], [a, c], [a, b], [a], []], table)
    assert values.tolist() == [1 / 8, 1 / 4, 1 / 2, 1.0, 1.0]


def test_the_released_variant_has_at_most_four_distances_for_a_pair():
    # 5 and 77: 2. 5 and mystery('y'): 12 characters, none of them 5. 77 and mystery('x'): 12. x and y: 1.
    first = [call("mystery", "4"), call("mystery", "5"), call("mystery", "'x'")]
    second = [call("mystery", "77"), call("mystery", "'y'")]
    assert diversity_of(first, second, last_two=True) == 27
    # All six pairs: 4 and 77, 5 and 77: 2 each. 4 and 'y', 5 and 'y': 3 each. 'x' and 77: 3. 'x' and 'y': 1.
    assert diversity_of(first, second) == 14


def test_the_released_variant_is_rounded_to_seven_decimals():
    class Known(Diversity):
        def diversity(self, testcases, table):
            return len(testcases)

    suites = [(), (0,) * 27, (0,) * 10000, (0,) * 10001]
    # 1 / 28 = 0.03571428..., 1 / 10001 = 0.00009999..., 1 / 10002 = 0.00009998...
    assert Known(SUBJECT, last_two=True).of_tests(suites, StatementTable()).tolist() == [1.0, 0.0357143, 0.0001, 0.0001]
    exact = Known(SUBJECT).of_tests(suites, StatementTable()).tolist()
    assert exact[2] > exact[3]


# Properties


constants = st.sampled_from(["0", "12", "-3.5", "None", "'a'", "'ab c'", "'é中'", "[]"])
statements = st.one_of(
    st.builds(lambda text: call("mystery", text), constants),
    st.builds(lambda one, other: call("untyped", one, other), constants, constants),
    st.just(call("Version")),
)
tests = st.lists(statements, min_size=1, max_size=4)
suites = st.lists(tests, max_size=5)
quick = settings(max_examples=40, deadline=None)


@quick
@given(suite=suites, released=st.booleans())
def test_it_is_the_sum_of_the_definition(suite, released):
    expected = by_definition(suite, last_two if released else texts)
    assert diversity_of(*suite, last_two=released) == expected


@quick
@given(suite=suites, data=st.data())
def test_the_order_of_tests_and_of_statements_does_not_matter(suite, data):
    shuffled = [data.draw(st.permutations(one)) for one in data.draw(st.permutations(suite))]
    assert diversity_of(*shuffled) == diversity_of(*suite)


@quick
@given(suite=suites, extra=tests)
def test_a_further_test_adds_its_distances_to_the_others(suite, extra):
    added = sum(levenshtein(s, t) for one in suite for s in texts(one, SUBJECT) for t in texts(extra, SUBJECT))
    assert diversity_of(*suite, extra) == diversity_of(*suite) + added


@quick
@given(suite=suites)
def test_only_suites_of_equal_texts_have_none(suite):
    found = {text for one in suite for text in texts(one, SUBJECT)}
    assert (diversity_of(*suite) == 0) == (len(found) <= 1 or len(suite) <= 1)


@quick
@given(groups=st.lists(st.lists(st.text("ab(", max_size=4), max_size=4), min_size=1, max_size=6), data=st.data())
def test_what_is_remembered_or_forgotten_makes_no_difference(groups, data):
    pairs = Pairs(limit=data.draw(st.sampled_from([1, 3, 8, 100])))
    for _ in range(data.draw(st.integers(1, 5))):
        chosen = data.draw(st.lists(st.sampled_from(range(len(groups))), max_size=5))
        expected = sum(levenshtein(s, t) for a, b in combinations(chosen, 2) for s in groups[a] for t in groups[b])
        assert pairs.total(chosen, groups.__getitem__) == expected
        if data.draw(st.booleans()):
            kept = data.draw(st.sets(st.sampled_from(range(len(groups)))))
            before = len(pairs)
            pairs.retain(kept)
            assert len(pairs) <= min(before, len(kept))
        if data.draw(st.booleans()):
            pairs = pickle.loads(pickle.dumps(pairs))


def test_sums_may_be_larger_than_any_distance_of_two_tests_can_be():
    # Nothing in common: 200 for each of 60 * 60 pairs of texts, 720 000 for each of 3 pairs of groups of them.
    groups = [[mark * 200] * 60 for mark in "abc"]
    assert Pairs().total(range(3), groups.__getitem__) == 3 * 60 * 60 * 200


# What is computed


@pytest.fixture
def compared(monkeypatch):
    """The texts that were compared, as pairs of what was given to each call."""
    calls, real = [], _pairs.cdist

    def spy(queries, choices, **options):
        calls.append((sorted(queries), sorted(choices)))
        return real(queries, choices, **options)

    monkeypatch.setattr(_pairs, "cdist", spy)
    return calls


def test_only_the_new_texts_of_a_changed_test_are_compared(compared):
    groups = {"one": ["a", "b"], "two": ["b", "c"], "three": ["d"], "changed": ["b", "new"]}
    pairs = Pairs()
    pairs.total(["one", "two", "three"], groups.__getitem__)
    compared.clear()
    pairs.total(["one", "changed", "three"], groups.__getitem__)
    assert compared == [(["new"], ["a", "b", "d", "new"])]
    pairs.total(["three", "changed", "one"], groups.__getitem__)
    assert len(compared) == 1


def test_texts_that_no_living_group_has_are_forgotten(compared):
    groups = {"one": ["a", "b"], "two": ["b", "c"], "three": ["d"]}
    pairs = Pairs()
    pairs.total(["one", "two", "three"], groups.__getitem__)
    pairs.retain({"one", "three"})
    assert len(pairs) == 2
    compared.clear()
    pairs.total(["one", "three"], groups.__getitem__)
    assert compared == []
    pairs.total(["one", "three", "two"], groups.__getitem__)
    assert compared == [(["c"], ["a", "b", "c", "d"])]


def test_what_is_remembered_is_bounded():
    pairs = Pairs(limit=10)
    for first in range(50):
        pairs.total(range(first, first + 4), lambda key: [str(key)])
        assert len(pairs) <= 10
    pairs.total(range(30), lambda key: [str(key)])  # one suite may be larger
    assert len(pairs) == 30


def test_suites_are_valued_once_and_forgotten_with_their_tests():
    class Counting(Diversity):
        valued = 0

        def of_tests(self, suites, table):
            self.valued += len(suites)
            return super().of_tests(suites, table)

    table = StatementTable()
    testcases = [table.testcase([call("mystery", str(number))]) for number in range(4)]
    fitness = Counting(SUBJECT)
    measurements = Measurements({"diversity": fitness}, table)
    measurements.add(testcases, [Trace()] * 4, frozenset())
    small, large = Individual(tuple(testcases[:2])), Individual(tuple(testcases))
    for asked in ([small], [small, large], [large]):
        measurements.suite_fitness("diversity", asked)
    assert fitness.valued == 2
    assert measurements.suite_fitness("diversity", [small, large]).tolist() == [1 / 2, 1 / 7]
    measurements.retain([small], [testcases[2]])
    assert len(fitness._pairs) == 3
    assert measurements.suite_fitness("diversity", [small]).tolist() == [1 / 2]
    assert fitness.valued == 2


# In a search


@pytest.fixture(scope="module")
def executor():
    with Executor(locate(str(Path(__file__).parents[1] / "programs" / "account.py"))) as running:
        yield running


@pytest.mark.parametrize("variant", [{}, {"last_two": True}])
def test_the_values_of_a_run_are_those_of_a_function_that_remembers_nothing(executor, variant):
    running = Engine(executor, fitness=("diversity",), variants={"diversity": variant}, seed=3, population=6)
    for _ in range(25):  # there is a sweep after 20
        running.step()
    for individual in running.search.population:
        fresh = Diversity(running.subject, **variant)
        expected = fresh.of_tests([individual.testcases], running.table)[0]
        assert running.fitness_of("diversity", individual) == expected
    assert running.search.fitness.tolist() == sorted(running.search.fitness.tolist())


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda engine: pickle.loads(pickle.dumps(engine))])
def test_a_copy_of_a_run_goes_on_alike(executor, twin_of):
    running = Engine(executor, fitness=("diversity", "branch"), seed=5, population=6)
    for _ in range(4):
        running.step()
    twin = twin_of(running)
    with twin.executor:
        for engine in (running, twin):
            for _ in range(18):
                engine.step()
    assert twin.search.fitness.tolist() == running.search.fitness.tolist()
    assert twin.search.best.testcases == running.search.best.testcases


def test_functions_that_are_covered_stay_in_a_search_for_diversity(executor):
    running = Engine(executor, fitness=("branch", "diversity"), population=8)
    for _ in range(60):
        running.step()
    assert running.coverage()["branch"][0] == running.coverage()["branch"][1]
    assert not running.factory.selection.excluded


def test_a_variant_that_does_not_exist_is_refused(executor):
    with pytest.raises(
        InputError, match=r"fitness function 'diversity' has no argument 'lasttwo' \(available: last_two"
    ):
        Engine(executor, variants={"diversity": {"lasttwo": True}})
    with pytest.raises(InputError, match=r"'branch' has no argument 'last_two' \(available: none\)"):
        Engine(executor, variants={"branch": {"last_two": True}})
    with pytest.raises(UnknownName, match="diversty"):
        Engine(executor, variants={"diversty": {}})
