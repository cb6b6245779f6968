"""Comparison: an effect size by hand, intervals with the right coverage, and clear errors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.errors import InputError
from fitgym.run.evaluation import Row
from fitgym.run.setting import Setting
from fitgym.study.comparison import a12, contrast, contrasts
from fitgym.study.verdict import judge


def rows(**values: dict[str, list[float]]) -> list[Row]:
    """By agent and subject what the runs reached."""
    return [
        Row(Setting(agent=agent, subject=subject, seed=seed), value)
        for agent, subjects in values.items()
        for subject, found in subjects.items()
        for seed, value in enumerate(found)
    ]


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ([1], [0], 1.0),
        ([0], [1], 0.0),
        ([2, 2], [2, 2, 2], 0.5),
        ([1, 2, 3], [2], 0.5),
        ([1, 3], [2, 2, 0], 4 / 6),
        # Pairs won by 2, 3, 3 and 4: 1.5, 3, 3 and 4.
        ([2, 3, 3, 4], [1, 2, 3, 3], 11.5 / 16),
    ],
)
def test_a12_is_the_share_of_pairs_that_are_won(ours: list[float], theirs: list[float], expected: float) -> None:
    assert a12(ours, theirs) == pytest.approx(expected)


values = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=8)


@given(values, values)
def test_a12_counts_pairs(ours: list[float], theirs: list[float]) -> None:
    won = sum((x > y) + (x == y) / 2 for x, y in itertools.product(ours, theirs))
    assert a12(ours, theirs) == pytest.approx(won / (len(ours) * len(theirs)))
    assert a12(theirs, ours) == pytest.approx(1 - a12(ours, theirs))


def test_a12_needs_values() -> None:
    with pytest.raises(ValueError, match="nothing to compare"):
        a12([], [1.0])


@pytest.mark.parametrize(
    ("seeds", "p", "verdict"),
    [(1, 1.0, "one seed: no verdict"), (3, 0.1, "no difference shown"), (4, 2 / 70, "better")],
)
def test_nothing_is_better_by_a_few_runs_on_one_subject(seeds: int, p: float, verdict: str) -> None:
    """Mann and Whitney over the runs: 2 of the 20 orders of three and three, 2 of the 70 of four and four."""
    (found,) = judge(contrasts(rows(ours={"html": [2.0] * seeds}, theirs={"html": [1.0] * seeds}), ["theirs"]))
    assert (found.evidence.low, found.evidence.runs, found.verdict) == (1.0, seeds, verdict)
    assert found.evidence.p == pytest.approx(p)
    assert (found.evidence.seeds, found.evidence.toward) == (seeds, 1)


def test_the_test_of_a_contrast_is_over_the_median_runs_of_the_subjects() -> None:
    """Six subjects on which one side is ahead: 2 of the 2^6 signs. The means of the runs say the opposite."""
    ours = {f"s{n}": [float(n), 10.0 + n, 11.0 + n] for n in range(6)}
    theirs = {f"s{n}": [0.5 * n, 0.7 * n, 300.0] for n in range(6)}
    (found,) = contrasts(rows(ours=ours, theirs=theirs), ["theirs"])
    assert found.ours == tuple(10.0 + n for n in range(6)) and found.toward == 1
    assert found.p == pytest.approx(2 / 64)
    means = contrast(
        "ours", "theirs", *({k: dict(enumerate(v)) for k, v in side.items()} for side in (ours, theirs)), means=True
    )
    assert means.toward == -1 and means.ours[0] == 7.0
    assert (found.seeds, found.subjects) == (3, 6)


def test_the_number_of_seeds_is_the_median_over_the_subjects() -> None:
    (found,) = contrasts(
        rows(ours={"x": [1] * 9, "y": [1], "z": [1]}, theirs={"x": [2] * 9, "y": [2], "z": [2]}), ["theirs"]
    )
    assert found.seeds == 1 and judge([found])[0].verdict == "one seed: no verdict"


def test_each_agent_is_put_beside_each_baseline() -> None:
    found = contrasts(
        rows(
            ucb={"colorsys": [3, 4], "html": [1, 1], "only_here": [9]},
            fixed={"colorsys": [1, 2], "html": [1, 2]},
            uniform={"colorsys": [3, 4], "html": [1, 1]},
        ),
        ["fixed", "uniform"],
    )
    assert [(c.agent, c.baseline, c.a12, c.better, c.worse, c.subjects) for c in found] == [
        ("ucb", "fixed", (1.0 + 0.25) / 2, 1, 1, 2),
        ("ucb", "uniform", 0.5, 0, 0, 2),
        ("fixed", "uniform", (0.0 + 0.75) / 2, 1, 1, 2),
        ("uniform", "fixed", (1.0 + 0.25) / 2, 1, 1, 2),
    ]


def test_the_interval_tells_a_difference_from_none() -> None:
    rng = np.random.default_rng(3)
    subjects = [f"subject_{n}" for n in range(8)]
    found = contrasts(
        rows(
            high={name: list(rng.normal(1.5, 1, 10)) for name in subjects},
            like={name: list(rng.normal(0, 1, 10)) for name in subjects},
            base={name: list(rng.normal(0, 1, 10)) for name in subjects},
        ),
        ["base"],
    )
    assert [(c.evidence.agent, c.verdict) for c in judge(found)] == [
        ("high", "better"),
        ("like", "no difference shown"),
    ]
    assert all(c.low < c.a12 < c.high for c in found)
    (reverse,) = contrasts(
        rows(base={name: [0.0, 1.0] for name in subjects}, high={name: [2.0, 3.0] for name in subjects}), ["high"]
    )
    assert (reverse.a12, reverse.low, reverse.high, judge([reverse])[0].verdict) == (0.0, 0.0, 0.0, "worse")


def test_an_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    """95 % intervals of 60 experiments without any difference: no more than 10 may miss one half (binomial, p < 0.001)."""
    missed = 0
    for experiment in range(60):
        rng = np.random.default_rng(experiment)
        sides = {side: {f"s{n}": list(rng.normal(size=6)) for n in range(6)} for side in ("ours", "theirs")}
        (found,) = contrasts(rows(**sides), ["theirs"])
        missed += not found.low <= 0.5 <= found.high
    assert missed <= 10


def test_an_interval_knows_that_subjects_share_their_seeds() -> None:
    """As above, but what a seed draws (one combination for a whole run) is good or bad on every subject alike."""
    missed = 0
    for experiment in range(60):
        rng = np.random.default_rng(experiment)
        luck = 3 * rng.normal(size=10)
        ours = {f"s{n}": list(luck + rng.normal(size=10)) for n in range(12)}
        theirs = {f"s{n}": list(rng.normal(size=10)) for n in range(12)}
        (found,) = contrasts(rows(ours=ours, theirs=theirs), ["theirs"])
        missed += not found.low <= 0.5 <= found.high
    assert missed <= 10


def test_a_subject_without_some_of_the_seeds_counts_as_much_as_any() -> None:
    ours = {"x": [2.0] * 8, "y": [0.0]}
    theirs = {"x": [1.0] * 8, "y": [1.0]}
    (found,) = contrasts(rows(ours=ours, theirs=theirs), ["theirs"])
    assert (found.a12, found.low, found.high) == (0.5, 0.0, 1.0)


def test_runs_that_are_the_same_seed_by_seed_are_no_different_for_sure() -> None:
    runs = {"x": [1.0, 5.0, 9.0], "y": [7.0, 3.0, 0.0]}
    (found,) = contrasts(rows(ours=runs, theirs=runs), ["theirs"])
    assert (found.a12, found.low, found.high) == (0.5, 0.5, 0.5)


def test_only_seeds_that_both_have_are_compared() -> None:
    (found,) = contrasts(rows(ours={"x": [1, 2, 9, 9]}, theirs={"x": [1, 3]}), ["theirs"])
    assert (found.a12, found.subjects) == ((0.5 + 1.0) / 4, 1)


def test_the_same_rows_give_the_same_intervals() -> None:
    found = rows(a={"x": [1, 5, 2], "y": [2, 2, 7]}, b={"x": [2, 3, 4], "y": [1, 2, 3]})
    assert contrasts(found, ["b"]) == contrasts(found, ["b"])


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (rows(a={"x": [1]}), "no run of the baseline 'b'; expected one of: a"),
        ([Row(Setting(agent="b", subject="x"), error="no")], "no run of the baseline 'b'; expected one of: none"),
        (rows(a={"x": [1]}, b={"y": [1]}), "no subject and seed in common"),
    ],
)
def test_what_cannot_be_compared_is_refused(found: list[Row], message: str) -> None:
    with pytest.raises(InputError, match=message):
        contrasts(found, ["b"])
