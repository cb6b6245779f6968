"""Differences of means: by hand, against a margin, and between groups of subjects."""

from __future__ import annotations

import numpy as np
import pytest

from fitgym.errors import InputError
from fitgym.study.difference import difference, growth
from fitgym.study.verdict import judge

Side = dict[str, dict[int, float]]


def sides(gain: float, subjects: int = 8, seeds: int = 4, noise: float = 0.01) -> tuple[Side, Side]:
    """Two sides that differ by so much and some noise."""
    rng = np.random.default_rng(subjects)
    theirs = {f"s{n}": {s: float(rng.normal(n, noise)) for s in range(seeds)} for n in range(subjects)}
    ours = {name: {s: gain + float(rng.normal(int(name[1:]), noise)) for s in runs} for name, runs in theirs.items()}
    return ours, theirs


def test_a_difference_is_the_mean_over_the_subjects_that_both_have() -> None:
    found = difference(
        {"x": {0: 3.0, 1: 5.0}, "y": {0: 1.0}, "z": {0: 9.0}}, {"x": {0: 1.0, 1: 1.0}, "y": {0: 2.0, 5: 7.0}}
    )
    assert (found.value, found.by_subject, found.seeds) == (1.0, (3.0, -1.0), 1)
    assert found.low >= -1.0 and found.high <= 4.0 and found.toward == 1


def test_a_clear_difference_is_stated_and_none_is_not() -> None:
    (clear,) = judge([difference(*sides(0.1))])
    assert clear.verdict == "better" and clear.evidence.p == pytest.approx(2 / 2**8)
    assert clear.evidence.low < 0.1 < clear.evidence.high
    assert judge([difference(*sides(-0.1))])[0].verdict == "worse"
    assert judge([difference(*sides(0.0))])[0].verdict == "no difference shown"
    assert judge([difference(*sides(0.1, seeds=1))])[0].verdict == "one seed: no verdict"


def test_a_margin_moves_what_counts_as_no_effect() -> None:
    """0.02 less is clearly within 0.05 of the other side, and clearly not within 0.01."""
    ours, theirs = sides(-0.02, noise=0.001)
    assert judge([difference(ours, theirs, -0.05)])[0].verdict == "better"
    assert judge([difference(ours, theirs, -0.01)])[0].verdict == "worse"


def test_of_one_subject_the_runs_are_tested() -> None:
    """Five and five that do not overlap: 2 of 252 ways to divide them."""
    theirs = {"x": {seed: float(seed) for seed in range(5)}}
    found = difference({"x": {seed: 10.0 + seed for seed in range(5)}}, theirs)
    assert found.p == pytest.approx(2 / 252) and judge([found])[0].verdict == "better"
    assert difference({"x": {seed: 10.0 + seed for seed in range(5)}}, theirs, 20.0).toward == -1


def test_growth_is_the_difference_between_groups_of_subjects() -> None:
    found = growth(sides(0.5), sides(0.1, subjects=7))
    assert found.value == pytest.approx(0.4, abs=0.01) and judge([found])[0].verdict == "better"
    assert judge([growth(sides(0.1), sides(0.5, subjects=7))])[0].verdict == "worse"
    assert judge([growth(sides(0.1), sides(0.1, subjects=7))])[0].verdict == "no difference shown"
    assert growth(sides(0.5), sides(0.1, seeds=1)).seeds == 1


def test_the_same_runs_give_the_same_interval() -> None:
    assert difference(*sides(0.1)) == difference(*sides(0.1))


def test_sides_without_a_run_in_common_are_refused() -> None:
    with pytest.raises(InputError, match="no subject and seed in common"):
        difference({"x": {0: 1.0}}, {"x": {1: 1.0}})
