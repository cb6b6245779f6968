"""Budget allocation: standings, rules, the best division in hindsight, shares in seconds, recorded curves."""

from __future__ import annotations

import copy
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.allocation.curve import Curve
from fitgym.allocation.hindsight import best_split
from fitgym.allocation.recorded import recorded
from fitgym.allocation.rules import RULES
from fitgym.allocation.shares import decisions, share
from fitgym.allocation.standing import Standing

COURSES = st.lists(st.integers(0, 9), max_size=6).map(lambda gains: tuple(itertools.accumulate(gains)))
STANDINGS = st.builds(lambda covered, more: Standing((covered or (0,))[-1] + more, covered), COURSES, st.integers(0, 9))
CURVES = st.lists(COURSES.map(lambda covered: [0, *covered]), max_size=4)


def handed_out(rule: str, standings: list[Standing], slices: int) -> list[int]:
    """Slices of each module after a rule has given out so many, none of which covers anything."""
    standings = list(standings)
    for _ in range(slices):
        place = RULES[rule](standings)
        standings[place] = standings[place].after(standings[place].now)
    return [one.slices for one in standings]


# Curves and standings


def test_a_curve_stays_where_it_ended() -> None:
    curve = Curve("shop", 0, 10, (3, 5))
    assert [curve.at(n) for n in (-1, 0, 1, 2, 3, 99)] == [0, 0, 3, 5, 5, 5]


def test_a_standing_counts_from_no_branch() -> None:
    one = Standing(20, (6, 8, 8))
    assert (one.slices, one.now, one.open, one.idle) == (3, 8, 12, 1)
    assert one.rate(1) == 0.0 and one.rate(2) == 1.0 and one.rate(3) == pytest.approx(8 / 3)
    assert one.rate(9) == one.rate(3)


def test_a_standing_without_slices_has_no_rate() -> None:
    one = Standing(20)
    assert (one.slices, one.now, one.open, one.idle, one.rate(3)) == (0, 0, 20, 0, 0.0)


def test_a_search_that_covers_nothing_is_idle_from_the_first_slice() -> None:
    assert Standing(20, (0, 0, 0)).idle == 3


@given(STANDINGS, st.integers(1, 8))
def test_the_rate_over_all_slices_is_what_is_covered(one: Standing, last: int) -> None:
    assert one.rate(one.slices + last) * one.slices == pytest.approx(one.now)
    assert 0.0 <= one.rate(last) <= one.now and 0 <= one.idle <= one.slices


# Rules


@pytest.mark.parametrize("rule", RULES)
@given(st.lists(STANDINGS, max_size=6))
def test_every_rule_chooses_a_module_with_open_branches(rule: str, standings: list[Standing]) -> None:
    place = RULES[rule](standings)
    assert place == 0 or standings[place].open
    assert RULES[rule](standings) == place
    if any(one.open for one in standings):
        assert standings[place].open


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_takes_the_first_module_where_nothing_is_left_or_nothing_is_there(rule: str) -> None:
    assert RULES[rule]([]) == 0
    assert RULES[rule]([Standing(3, (3,)), Standing(0)]) == 0


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_comes_to_each_of_two_equal_modules(rule: str) -> None:
    assert sorted(handed_out(rule, [Standing(10), Standing(10)], 8)) == [4, 4]


def test_in_turn_gives_equal_shares() -> None:
    assert handed_out("in_turn", [Standing(1), Standing(100), Standing(9)], 12) == [4, 4, 4]


def test_by_size_gives_shares_in_proportion_to_branches() -> None:
    assert handed_out("by_size", [Standing(100), Standing(300)], 12) == [3, 9]


def test_by_root_size_gives_shares_in_proportion_to_the_root() -> None:
    assert handed_out("by_root_size", [Standing(100), Standing(900)], 12) == [3, 9]


def test_by_open_and_by_root_open_leave_out_what_is_covered() -> None:
    standings = [Standing(1000, (900,)), Standing(300, (0,))]
    assert handed_out("by_open", standings, 10) == [3, 9]
    standings = [Standing(1000, (900,)), Standing(900, (0,))]
    assert handed_out("by_root_open", standings, 10) == [3, 9]


def test_last_gain_stays_with_the_module_that_gains() -> None:
    assert RULES["last_gain"]([Standing(50, (9, 9)), Standing(50, (1, 3))]) == 1


def test_recent_gain_looks_at_the_second_half() -> None:
    early, late = Standing(50, (20, 20, 20, 20)), Standing(50, (0, 0, 2, 4))
    assert RULES["recent_gain"]([early, late]) == 1


def test_recent_gain_tries_again_what_was_tried_less() -> None:
    assert RULES["recent_gain"]([Standing(9, (1,) * 20), Standing(9, (1,) * 10)]) == 1


def test_ucb_weighs_gain_against_uncertainty() -> None:
    gaining, idle = Standing(90, tuple(range(0, 40, 2))), Standing(90, (0, 0))
    assert RULES["ucb"]([gaining, idle]) == 1
    assert RULES["ucb"]([gaining, Standing(90, (0,) * 20)]) == 0


# Hindsight


@given(CURVES, st.integers(0, 8))
def test_the_best_split_is_the_best_of_all_splits(curves: list[list[int]], slices: int) -> None:
    def value(split: tuple[int, ...]) -> int:
        return sum(curve[min(n, len(curve) - 1)] for curve, n in zip(curves, split, strict=True))

    every = (split for split in itertools.product(range(slices + 1), repeat=len(curves)) if sum(split) <= slices)
    found = best_split(curves, slices)
    assert sum(found) <= slices and len(found) == len(curves)
    assert value(found) == max(map(value, every))


def test_slices_that_cover_nothing_are_given_to_nobody() -> None:
    assert best_split([[0, 5, 5, 5], [0, 0, 0, 4]], 6) == (1, 3)


def test_a_late_jump_is_seen_in_hindsight() -> None:
    assert best_split([[0, 1, 2, 3], [0, 0, 0, 10]], 3) == (0, 3)


def test_hindsight_of_no_module_or_no_budget_is_nothing() -> None:
    assert best_split([], 5) == ()
    assert best_split([[0, 4]], 0) == (0,)


# Shares in seconds


@given(st.floats(0, 1e6), st.lists(st.integers(1, 10_000), min_size=1, max_size=20), st.just(0.0) | st.floats(0, 1e6))
def test_modules_that_use_their_shares_use_everything(seconds: float, sizes: list[int], least: float) -> None:
    left = seconds
    for place, size in enumerate(sizes):
        given_ = share(left, size, sizes[place + 1 :], least=least)
        assert 0.0 <= given_ <= left
        left -= given_
    assert left == pytest.approx(0.0, abs=1e-6 * max(1.0, seconds))


def test_every_module_has_the_time_of_a_start() -> None:
    assert share(100.0, 1, [999], least=2.0) == pytest.approx(2.0 + 0.096)
    assert share(100.0, 999, [1], least=2.0) == pytest.approx(2.0 + 95.904)


def test_where_the_starts_cost_more_than_is_left_all_get_the_same() -> None:
    assert share(3.0, 1, [999, 5], least=2.0) == share(3.0, 999, [1, 5], least=2.0) == 1.0


def test_a_negative_start_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^least is -1\.0, expected seconds from 0$"):
        share(3.0, 1, [], least=-1.0)


def test_shares_are_in_proportion_to_size() -> None:
    assert share(40.0, 1, [3]) == 10.0 and share(30.0, 3, []) == 30.0


def test_what_is_not_used_is_handed_on() -> None:
    assert share(100.0, 25, [25]) == 50.0
    assert share(99.0, 25, []) == 99.0


@pytest.mark.parametrize("left", [0.0, -3.0])
def test_of_nothing_a_share_is_nothing(left: float) -> None:
    assert share(left, 4, [4]) == 0.0


@pytest.mark.parametrize(("size", "waiting"), [(0, [1]), (3, [2, -1])])
def test_a_size_below_one_is_refused(size: int, waiting: list[int]) -> None:
    with pytest.raises(ValueError, match=r"^the sizes are \[.*\], expected numbers from 1$"):
        share(10.0, size, waiting)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", 1),
        ("x = 1\n", 1),
        ("def f(x):\n    return 1 if x else 2\n", 2),
        ("def f(xs):\n    for x in xs:\n        if x and not x:\n            return [y for y in xs]\n", 5),
        ("this is not Python (", 1),
        ("x = '\0'", 1),
    ],
)
def test_decisions_measure_the_size_of_a_module(source: str, expected: int) -> None:
    assert decisions(source) == expected


def test_a_text_that_is_nested_too_deeply_counts_as_the_smallest() -> None:
    assert decisions("(" * 5000 + ")" * 5000) == 1


# Recorded curves


def test_recorded_curves_never_fall_and_never_pass_the_total() -> None:
    for modules in recorded().values():
        for name, curves in modules.items():
            assert curves, name
            for curve in curves:
                assert curve.module == name and list(curve.covered) == sorted(curve.covered)
                assert curve.total > 0 and curve.covered[-1] <= curve.total


def test_no_module_belongs_to_two_splits() -> None:
    found = recorded()
    assert list(found) == ["train", "validation", "test"]
    assert all(not found[a].keys() & found[b].keys() for a, b in itertools.combinations(found, 2))
    assert all(len(modules) >= 8 for modules in found.values())


def test_a_copy_of_recorded_curves_has_the_same_curves() -> None:
    found = recorded()
    twin = copy.deepcopy(found)
    assert twin == found
    assert twin["test"]["pprint"][0] is found["test"]["pprint"][0]
