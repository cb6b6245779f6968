"""Statistics, against numbers by hand and published ones."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.errors import InputError
from fitgym.study.statistics import (
    area_under_curve,
    correlation,
    friedman,
    holm,
    iqm,
    likelihood,
    mann_whitney,
    normalised,
    signed_ranks,
    time_to,
    wilcoxon,
)

# Demsar 2006, table 6: AUC of C4.5 without and with two of its parameters on 14 data sets. Where the table prints equal values
# but different ranks (voting), the ranks are kept.
DEMSAR = {
    "C4.5": [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.0, 0.940, 0.619, 0.972, 0.957],
    "m": [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.0, 0.962, 0.666, 0.981, 0.978],
    "cf": [0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1.0, 0.965, 0.614, 0.9751, 0.946],
    "m+cf": [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1.0, 0.962, 0.669, 0.975, 0.970],
}


def test_ranks_and_the_critical_difference_are_those_of_demsar() -> None:
    found = friedman(DEMSAR)
    assert found.names == ("m+cf", "m", "cf", "C4.5")
    assert [round(mean, 3) for mean in found.means] == [1.964, 2.0, 2.893, 3.143]
    assert found.critical == pytest.approx(1.25, abs=0.005)
    ranks = np.array(found.means)
    without_ties = 12 * 14 / (4 * 5) * ((ranks**2).sum() - 4 * 5**2 / 4)
    assert without_ties == pytest.approx(9.28, abs=0.005)
    assert without_ties <= found.test.statistic < without_ties + 1.0  # the correction for ties makes it larger
    assert found.test.p < 0.05
    assert found.pairs["m+cf", "m"] > 0.9
    assert found.pairs["m+cf", "C4.5"] == pytest.approx(
        0.07, abs=0.02
    )  # 1.179 apart: below 1.25, above the 1.15 of 0.10


@pytest.mark.parametrize(("arms", "q"), [(3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (10, 3.164)])
def test_critical_values_are_those_of_demsars_table(arms: int, q: float) -> None:
    rng = np.random.default_rng(0)
    found = friedman({str(arm): rng.random(20) for arm in range(arms)})
    assert found.critical / math.sqrt(arms * (arms + 1) / (6 * 20)) == pytest.approx(q, abs=0.001)


def test_arms_that_are_always_equal_do_not_differ() -> None:
    found = friedman({"a": [1.0, 2.0], "b": [1.0, 2.0], "c": [1.0, 2.0]})
    assert found.means == (2.0, 2.0, 2.0) and found.test.p == 1.0 and set(found.pairs.values()) == {1.0}


def test_the_smallest_is_first_where_less_is_better_and_subjects_with_gaps_are_left_out() -> None:
    nan = float("nan")
    found = friedman({"a": [1, 1, nan], "b": [2, 2, 0], "c": [3, 3, 0]}, larger_is_better=False)
    assert found.names == ("a", "b", "c") and found.blocks == 2
    with pytest.raises(InputError, match="2 arms and 3 subjects"):
        friedman({"a": [1, 1, 1], "b": [2, 2, 2]})


def test_the_normalised_count_is_the_share_of_the_most_on_a_subject() -> None:
    found = normalised({"a": [[1, 4], [0, 0]], "b": [[2, float("nan")], [0, 0]]})
    np.testing.assert_array_equal(found["a"], [[0.25, 1.0], [1.0, 1.0]])
    np.testing.assert_array_equal(found["b"], [[0.5, np.nan], [1.0, 1.0]])


def test_mann_whitney_of_two_separate_groups_of_three() -> None:
    assert mann_whitney([4, 5, 6], [1, 2, 3]).p == pytest.approx(2 / 20)  # 2 of the 20 ways to choose three of six
    assert mann_whitney([4, 5, 6], [1, 2, 3], "greater").p == pytest.approx(1 / 20)
    assert mann_whitney([4, 5, 6], [1, 2, 3], "less").p == pytest.approx(20 / 20)
    assert math.isnan(mann_whitney([float("nan")], [1.0]).p)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_runs_that_are_all_the_same_say_nothing(alternative: Literal["two-sided", "greater", "less"]) -> None:
    found = mann_whitney([7.0, 7.0, 7.0], [7.0, 7.0], alternative)
    assert (found.statistic, found.p) == (3.0, 1.0)
    assert holm([found.p, 0.01]) == pytest.approx([1.0, 0.02])


def test_few_runs_with_ties_are_tested_by_all_ways_to_divide_them() -> None:
    """2 of the 20 ways to divide six runs; of four and four 2 of 70. Of {1, 1} and {1, 2} two of six are as extreme each way."""
    assert mann_whitney([2, 2, 2], [1, 1, 1]).p == pytest.approx(0.1)
    assert mann_whitney([2, 2, 2], [1, 1, 1], "greater").p == pytest.approx(0.05)
    assert mann_whitney([2, 2, 2], [1, 1, 1], "less").p == pytest.approx(1.0)
    assert mann_whitney([2] * 4, [1] * 4).p == pytest.approx(2 / 70)
    assert mann_whitney([1, 1], [1, 2]).p == pytest.approx(1.0)
    assert mann_whitney([1, 1], [1, 2], "less").p == pytest.approx(0.5)


def test_wilcoxon_of_five_pairs_that_all_rise() -> None:
    assert wilcoxon([2, 4, 6, 8, 10], [1, 2, 3, 4, 5]).p == pytest.approx(2 / 32)
    assert wilcoxon([1, 2], [1, 2]).p == 1.0


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.6, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []
    # 0.01 * 4, 0.02 * 3, then 0.022 * 2 is lower and takes the one before it, 0.5.
    assert holm([0.02, 0.5, 0.01, 0.022]) == pytest.approx([0.06, 0.5, 0.04, 0.06])


def test_holm_leaves_out_what_was_not_tested_and_refuses_what_is_no_p() -> None:
    found = holm([float("nan"), 0.01, 0.04, float("nan")])
    assert found[1:3] == pytest.approx([0.02, 0.04]) and np.isnan([found[0], found[3]]).all()
    with pytest.raises(InputError, match=r"p-value 1.5 is outside \[0, 1\]"):
        holm([0.1, 1.5])


@given(st.lists(st.floats(0.0, 1.0), max_size=8), st.randoms(use_true_random=False))
def test_holm_does_not_depend_on_the_order(p_values: list[float], random: Any) -> None:
    places = list(range(len(p_values)))
    random.shuffle(places)
    found = holm(p_values)
    assert holm([p_values[place] for place in places]) == [found[place] for place in places]


def test_signed_ranks_by_hand() -> None:
    """Ranks of 1, 2, 2, 4 are 1, 2.5, 2.5, 4: above 0 are 2.5 + 4, below 1 + 2.5. Zeros and NaN do not count."""
    assert signed_ranks([-1.0, 2.0, -2.0, 4.0, 0.0, float("nan")]) == 3.0
    assert signed_ranks([0.0]) == 0.0


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8))
def test_correction_keeps_the_order_and_never_lowers(p_values: list[float]) -> None:
    corrected = holm(p_values)
    assert all(0.0 <= p <= c <= 1.0 for p, c in zip(p_values, corrected, strict=True))
    assert all(corrected[i] <= corrected[j] for i, p in enumerate(p_values) for j, q in enumerate(p_values) if p < q)


def test_the_interquartile_mean_leaves_out_a_quarter_at_each_end() -> None:
    found = iqm([[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 100.0]])
    assert found.value == pytest.approx((2.0 + 3.0 + 4.0 + 5.0) / 4)
    assert found.low <= found.value <= found.high
    same = iqm([[2.0, 2.0], [2.0, float("nan")]])
    assert (same.value, same.low, same.high) == (2.0, 2.0, 2.0)


def test_the_likelihood_counts_every_subject_the_same_and_a_single_subject_says_little() -> None:
    found = likelihood([[1.0, 1.0, 1.0, 1.0], [0.0, 1.0, np.nan, np.nan]])
    assert found.value == 0.75 and found.low <= 0.5 and found.high == 1.0
    one = likelihood([[1.0], [0.0], [0.0], [0.0]])  # one run each: only the subjects say how sure this is
    assert one.value == 0.25 and one.low == 0.0 and one.high == 0.75
    assert np.isnan(likelihood([[np.nan]]).value)


def test_the_area_under_steps() -> None:
    assert area_under_curve([10, 20, 40], [0.2, 1.0, 0.5]) == pytest.approx((0.2 * 10 + 1.0 * 20) / 40)
    assert area_under_curve([40], [7.0]) == 0.0


def test_half_of_the_patients_of_freireich_have_relapsed_after_23_weeks() -> None:
    # 6-mercaptopurine against leukaemia, weeks in remission; those with a plus were in remission when they were last seen.
    relapsed = [6, 6, 6, 7, 10, 13, 16, 22, 23]
    seen_last = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]
    x = [[week] for week in relapsed + seen_last]
    y = [[1.0]] * len(relapsed) + [[0.0]] * len(seen_last)
    assert time_to(1.0, x, y) == (23.0, 9)
    placebo = [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23]
    assert time_to(1.0, [[week] for week in placebo], [[1.0]] * 21) == (8.0, 21)


def test_what_is_never_reached_takes_for_ever() -> None:
    assert time_to(0.9, [[1, 2], [1, 2]], [[0.1, 0.2], [0.1, 0.3]]) == (math.inf, 0)
    assert time_to(0.3, [[10, 20], [10, 20], [10, 20]], [[0.1, 0.2], [0.1, 0.2], [0.3, 0.3]]) == (math.inf, 1)


def test_the_point_biserial_correlation_by_hand() -> None:
    # Means 3 and 1, deviation of all sqrt(1.25), half and half: (3 - 1) / sqrt(1.25) * 0.5 ... = 0.894
    assert correlation([False, False, True, True], [0.5, 1.5, 2.5, 3.5]).statistic == pytest.approx(2 / math.sqrt(5))
    assert math.isnan(correlation([True, True], [1.0, 2.0]).statistic)
