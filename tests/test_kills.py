"""Which assertions kill which mutants, and the fewest of them that kill most."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st
from shelf_subject import LEN, ROOM, SHELF, SUBJECT, text

from fitgym.execution.observation import Observation, Observed
from fitgym.suite.assertions import finished_test
from fitgym.suite.kills import fewest, kills
from fitgym.testcase.expression import Literal, Name
from fitgym.testcase.statement import Statement

SIZE = Observation(1, "", "equal", Literal("2"))
NAME = Observation(0, ".name", "equal", Literal("'a long name'"))
OWNER = Observation(0, ".owner", "is", Literal("None"))
ERROR = (Name("builtins", "ValueError"), Name("builtins", "Exception"))


def test_an_assertion_kills_the_mutants_that_do_not_show_its_fact() -> None:
    matrix = kills(
        [SIZE, NAME],
        Observed((SIZE, NAME, OWNER)),
        {"same": Observed((SIZE, NAME)), "other size": Observed((NAME,)), "nothing": Observed(())},
    )
    assert matrix == {SIZE: {"other size", "nothing"}, NAME: {"nothing"}}


def test_a_mutant_that_ends_the_test_in_another_way_needs_no_assertion() -> None:
    mutants = {
        "raises": Observed(raises=ERROR, position=1),
        "time": Observed(failure="timeout"),
        "value": Observed(),
    }
    assert kills([SIZE], Observed((SIZE,)), mutants) == {SIZE: {"value"}}


def test_the_same_exception_elsewhere_or_another_one_is_another_ending() -> None:
    seen = Observed((NAME,), ERROR, 2)
    mutants = {
        "same": Observed((), ERROR[:1], 2),
        "earlier": Observed((), ERROR, 1),
        "another": Observed((), ERROR[1:], 2),
    }
    assert kills([NAME], seen, mutants) == {NAME: {"same"}}


def test_the_fewest_are_those_that_kill_most() -> None:
    assert fewest([SIZE, NAME, OWNER], {SIZE: {1}, NAME: {1, 2, 3}, OWNER: {4}}) == [NAME, OWNER]


def test_of_equally_deadly_assertions_the_plainest_is_kept() -> None:
    assert fewest([NAME, OWNER, SIZE], {SIZE: {1, 2}, NAME: {1, 2}, OWNER: {1, 2}}) == [SIZE]


def test_one_that_later_ones_make_superfluous_goes() -> None:
    # Greedy takes the one that kills three first, and then needs both others.
    a, b, c = (Observation(0, path, "is", Literal("True")) for path in (".a", ".b", ".c"))
    assert fewest([a, b, c], {a: {2, 3, 4}, b: {1, 2, 5}, c: {3, 4, 6}}) == [b, c]


def test_assertions_that_kill_nothing_are_not_taken() -> None:
    assert fewest([SIZE, NAME], {SIZE: set()}) == []


facts = [Observation(0, f".a{number}", "equal", Literal(str(number))) for number in range(5)]
matrices = st.dictionaries(st.sampled_from(facts), st.frozensets(st.integers(0, 6)), max_size=5)


@given(matrices)
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
        test = finished_test(statements, seen, SUBJECT, kills=matrix)
        assert test is not None
        return test.assertions

    assert asserted({length: {1}, room: set()}) == (length,)
    assert asserted({length: set(), room: set()}) == asserted(None) == (length, room)
