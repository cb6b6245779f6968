"""The mutants that each assertion kills, and the fewest assertions that kill most."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import combinations
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from shelf_subject import LEN, ROOM, SHELF, SUBJECT, text

from fitgym.instrument.trace import Trace
from fitgym.messages.effect import Effect, Expectation
from fitgym.messages.observation import Observation, Observed
from fitgym.suite.assertions import finished_test
from fitgym.suite.kills import Kills, KillsOfTest, fewest, kills_of, trials
from fitgym.testcase.expression import Literal
from fitgym.testcase.statement import Statement, TestCase

SIZE = Observation(1, "", "equal", Literal("2"))
NAME = Observation(0, ".name", "equal", Literal("'a long name'"))
OWNER = Observation(0, ".owner", "is", Literal("None"))


class Mutants:
    """Mutants of functions `f` and `g`, and what they do to test cases: by test case and mutant, facts that fail."""

    def __init__(self, done: dict[tuple[int, int], Effect]) -> None:
        self.done = done
        self.tried: list[tuple[TestCase, int]] = []

    def kill(
        self, trials: Sequence[tuple[TestCase, int]], expected: Mapping[TestCase, Expectation]
    ) -> list[Effect | None]:
        self.tried += trials
        return [self.done.get((testcase[0], mutant), Effect()) for testcase, mutant in trials]


def function(number: int, name: str) -> Any:
    return SimpleNamespace(id=number, name=name)


PROGRAM: Any = SimpleNamespace(
    functions=(function(0, "f"), function(1, "g")),
    sites=(SimpleNamespace(function=0), SimpleNamespace(function=1)),
)
MUTANTS: list[Any] = [SimpleNamespace(function=name) for name in ("f", "g", "f", "<lambda>")]


def trace(*sites: int) -> Trace:
    return Trace((array("I", sites).tobytes(), b"", b""))


def matrices(mutants: Mutants, *facts: Sequence[Observation], seen: Sequence[Observed | None] | None = None) -> Any:
    testcases = [(number,) for number in range(len(facts))]
    known = [Observed(tuple(some)) for some in facts] if seen is None else seen
    return kills_of(testcases, known, facts, dict.fromkeys(testcases, trace(0, 1)), MUTANTS, PROGRAM, mutants.kill)


def by_fact(mutants: Mutants, *facts: Sequence[Observation]) -> list[Kills]:
    return [one.by_fact for one in matrices(mutants, *facts)]


def test_an_assertion_kills_the_mutants_on_which_its_fact_does_not_hold() -> None:
    mutants = Mutants({(0, 0): Effect("value", (0,)), (0, 2): Effect("value", (0, 1)), (1, 1): Effect("value", (0,))})
    assert by_fact(mutants, [SIZE, NAME], [OWNER]) == [{SIZE: {0, 2}, NAME: {2}}, {OWNER: {1}}]


def test_a_mutant_that_ends_the_test_in_another_way_needs_no_assertion() -> None:
    mutants = Mutants({(0, 0): Effect("raises", (0,)), (0, 1): Effect("timeout", (0,)), (0, 2): Effect("value", (0,))})
    (found,) = matrices(mutants, [SIZE])
    assert found == KillsOfTest({SIZE: {2}}, {0, 1})
    assert found.all == {0, 1, 2}


def test_a_mutant_that_only_one_of_several_runs_may_stop_at_a_limit_is_not_counted() -> None:
    assert matrices(Mutants({(0, 0): Effect("clock"), (0, 1): Effect("memory")}), [SIZE]) == [
        KillsOfTest({SIZE: set()}, set())
    ]


def test_a_test_without_candidates_kills_by_its_outcome_and_a_skipped_one_not_at_all() -> None:
    mutants = Mutants({(0, 1): Effect("raises")})
    found = matrices(mutants, [], [SIZE], [SIZE], seen=[Observed(), None, Observed((SIZE,))])
    assert found == [KillsOfTest({}, {1}), KillsOfTest(), KillsOfTest({SIZE: set()}, set())]
    assert {testcase for testcase, _ in mutants.tried} == {(0,), (2,)}


def test_only_mutants_of_functions_that_are_entered_are_tried() -> None:
    traces = {(7,): trace(0), (8,): trace(1), (9,): trace()}
    tried = [((7,), 0), ((7,), 2), ((7,), 3), ((8,), 1), ((8,), 3), ((9,), 3)]  # a lambda could be anywhere
    assert trials(traces, MUTANTS, PROGRAM) == tried
    assert trials(traces, MUTANTS, PROGRAM, most=3) == [((7,), 0), ((7,), 2)]  # every second mutant
    infected = {testcase: {number} for testcase, number in tried}  # of several numbers, the last
    assert trials(traces, MUTANTS, PROGRAM, infected=infected) == [
        (t, number) for t in infected for number in infected[t]
    ]


def test_the_fewest_are_those_that_kill_most() -> None:
    assert fewest([SIZE, NAME, OWNER], {SIZE: {1}, NAME: {1, 2, 3}, OWNER: {4}}) == [NAME, OWNER]


def test_of_equally_deadly_assertions_the_plainest_of_the_first_result_is_kept() -> None:
    deadly = {SIZE: {1, 2}, NAME: {1, 2}, OWNER: {1, 2}}
    assert fewest([SIZE, NAME, OWNER], deadly) == [SIZE]
    assert fewest([NAME, OWNER, SIZE], deadly) == [OWNER]


def test_of_more_than_are_wanted_those_that_kill_most_are_taken() -> None:
    assert fewest([SIZE, NAME, OWNER], {SIZE: {1}, NAME: {2, 3}, OWNER: {4, 5}}, 2) == [NAME, OWNER]


def test_the_kills_of_two_sets_of_mutants_are_joined() -> None:
    joined = KillsOfTest({SIZE: {1}, NAME: set()}, {2}).joined(KillsOfTest({SIZE: {3}, NAME: {4}}, {5}))
    assert joined == KillsOfTest({SIZE: {1, 3}, NAME: {4}}, {2, 5})
    some = KillsOfTest(complete=False)
    assert some.joined(KillsOfTest()).complete and not some.joined(some).complete


def test_one_that_later_ones_make_superfluous_goes() -> None:
    # Greedy takes the one that kills three first, and then needs both others.
    a, b, c = (Observation(0, path, "is", Literal("True")) for path in (".a", ".b", ".c"))
    assert fewest([a, b, c], {a: {2, 3, 4}, b: {1, 2, 5}, c: {3, 4, 6}}) == [b, c]


def test_assertions_that_kill_nothing_are_not_taken() -> None:
    assert fewest([SIZE, NAME], {SIZE: set()}) == []


facts = [Observation(0, f".a{number}", "equal", Literal(str(number))) for number in range(5)]
drawn = st.dictionaries(st.sampled_from(facts), st.frozensets(st.integers(0, 6)), max_size=5)


@given(drawn)
def test_the_chosen_kill_as_many_as_all_and_none_of_them_is_superfluous(
    matrix: dict[Observation, frozenset[int]],
) -> None:
    def killed(some: list[Observation]) -> set[int]:
        return {mutant for fact in some for mutant in matrix.get(fact, ())}

    chosen = fewest(facts, matrix)
    assert killed(chosen) == killed(facts)
    assert chosen == [fact for fact in facts if fact in chosen]
    for rest in combinations(chosen, max(0, len(chosen) - 1)):
        assert not chosen or killed(list(rest)) < killed(chosen)


def test_a_test_asserts_what_kills_and_falls_back_to_its_effect() -> None:
    statements = [Statement(SHELF, args=(text(2.5),)), Statement(LEN, 0), Statement(ROOM, 0)]
    length, room = Observation(1, "", "equal", Literal("0")), Observation(2, "", "approx", Literal("2.5"))
    seen = [Observed((length, room))]

    def asserted(matrix: dict[Observation, set[int]] | None) -> tuple[Observation, ...]:
        test = finished_test(statements, seen, SUBJECT, kills=None if matrix is None else KillsOfTest(matrix))
        assert test is not None
        return test.assertions

    assert asserted({length: set(), room: {1}}) == (room,)
    assert asserted({length: {1}, room: set()}) == (length, room)  # the test is about the room
    assert asserted({length: set(), room: set()}) == (room,)  # of the last statement
    assert asserted(None) == (length, room)
