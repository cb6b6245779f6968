"""The rule for verdicts: an effect needs interval and corrected test, and more than one seed."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.study.comparison import contrast
from fitgym.study.verdict import Verdict, judge, too_few, verdict


@dataclass(frozen=True)
class Found:
    """Evidence by hand."""

    low: float
    high: float
    p: float
    toward: int
    seeds: int = 10
    none: float = 0.5


AHEAD = Found(0.6, 0.8, 0.01, 1)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (AHEAD, "better"),
        (Found(0.2, 0.4, 0.01, -1), "worse"),
        (Found(0.6, 0.8, 0.05, 1), "no difference shown"),  # the test does not agree
        (Found(0.5, 0.8, 0.01, 1), "no difference shown"),  # the interval holds no effect
        (Found(0.2, 0.5, 0.01, -1), "no difference shown"),
        (Found(0.6, 0.8, 0.01, -1), "no difference shown"),  # they point to different sides
        (Found(0.2, 0.4, 0.01, 1), "no difference shown"),
        (Found(0.6, 0.8, math.nan, 1), "no difference shown"),
        (Found(0.6, 0.8, 0.01, 1, seeds=1), "one seed: no verdict"),
        (Found(-0.3, 0.2, 0.01, 1, none=-0.5), "better"),
        (Found(-0.3, 0.2, 0.01, 1, none=0.0), "no difference shown"),
    ],
)
def test_an_effect_is_stated_only_if_interval_and_test_agree(found: Found, said: str) -> None:
    assert judge([found])[0].verdict == said


def test_the_correction_is_for_the_whole_table() -> None:
    """p = 0.01 is below 0.05 beside three others (times 4 or less), and not beside nine."""
    others = [Found(0.3, 0.7, 0.9, 0)] * 9
    few, many = judge([AHEAD, *others[:3]]), judge([AHEAD, *others])
    assert (few[0].p, few[0].verdict) == (pytest.approx(0.04), Verdict.BETTER)
    assert (many[0].p, many[0].verdict) == (pytest.approx(0.1), Verdict.OPEN)


def test_comparisons_with_one_seed_are_not_tested_and_do_not_count() -> None:
    one_seed = Found(0.6, 0.8, 0.001, 1, seeds=1)
    found = judge([one_seed, AHEAD, one_seed])
    assert [one.shown_p for one in found] == ["-", "0.01", "-"]
    assert [one.verdict.stated for one in found] == [False, True, False]


def test_the_sentences_name_both_sides() -> None:
    said = [one.sentence("ucb", "uniform") for one in Verdict]
    assert said == [
        "ucb is better than uniform",
        "ucb is worse than uniform",
        "ucb beside uniform: no difference shown",
        "ucb beside uniform, one seed: no verdict",
    ]


@given(
    st.lists(
        st.builds(
            Found,
            st.floats(0, 1),
            st.floats(0, 1),
            st.floats(0, 1),
            st.sampled_from([-1, 0, 1]),
            st.integers(1, 3),
        ),
        max_size=6,
    ),
    st.randoms(use_true_random=False),
)
def test_a_verdict_never_states_more_than_alone_and_does_not_depend_on_the_order(
    table: list[Found], random: object
) -> None:
    judged = judge(table)
    for one in judged:
        alone = verdict(one.evidence, one.evidence.p)
        assert one.verdict == alone or not one.verdict.stated
        if one.verdict.stated:
            assert one.p < 0.05 and one.evidence.seeds > 1
    places = list(range(len(table)))
    random.shuffle(places)  # type: ignore[attr-defined]
    again = judge([table[place] for place in places])
    assert [(one.verdict, repr(one.p)) for one in again] == [(judged[at].verdict, repr(judged[at].p)) for at in places]


def test_too_few_subjects_cannot_show_a_difference() -> None:
    """2^-11 of twelve subjects: times 102 it is below 0.05, times 103 not. Five subjects are too few for one comparison."""
    assert not too_few(12, 102) and too_few(12, 103)
    assert too_few(5, 1) and not too_few(6, 1) and not too_few(1, 1)
    assert judge([AHEAD])[0].verdict.stated


def test_without_any_difference_a_table_rarely_states_one() -> None:
    """40 tables of 6 comparisons without a difference: at 5 % a table, more than 8 have p < 0.001 (binomial)."""
    wrong = 0
    for table in range(40):
        rng = np.random.default_rng(table)
        sides = [{f"s{n}": dict(enumerate(rng.normal(size=4).tolist())) for n in range(10)} for _ in range(4)]
        pairs = itertools.combinations(range(4), 2)
        wrong += any(one.verdict.stated for one in judge([contrast("a", "b", sides[i], sides[j]) for i, j in pairs]))
    assert wrong <= 8
