"""Rank selection prefers the best by the published amount."""

import numpy as np

from fitgym.evolution.selection import rank_selection


class _Fixed:
    """A generator that always draws the same number."""

    def __init__(self, value):
        self.value = value

    def random(self):
        return self.value


def test_the_extremes_of_the_draw_are_the_first_and_the_last_rank():
    assert rank_selection(50, _Fixed(0.0)) == 0
    assert rank_selection(50, _Fixed(np.nextafter(1.0, 0.0))) == 49


def test_the_middle_draw_is_where_the_formula_says():
    # b = 1.7, r = 0.5: (1.7 - sqrt(2.89 - 4 * 0.7 * 0.5)) / 1.4 = (1.7 - sqrt(1.49)) / 1.4 = 0.342388...
    assert rank_selection(1000, _Fixed(0.5)) == 342


def test_a_single_individual_is_always_chosen():
    rng = np.random.default_rng(0)
    assert {rank_selection(1, rng) for _ in range(20)} == {0}


def test_the_best_is_expected_b_times_as_often_as_under_uniform_choice():
    rng = np.random.default_rng(1)
    draws = np.bincount([rank_selection(10, rng) for _ in range(40_000)], minlength=10) / 40_000
    # Linear ranking: P(rank i of 10) = integral of (b - 2 (b - 1) x) over [i/10, (i+1)/10].
    expected = [0.1 * (1.7 - 1.4 * (i + 0.5) / 10) for i in range(10)]
    assert np.abs(draws - expected).max() < 0.01
