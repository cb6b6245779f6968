"""Mixtures and recent things: the effect of experience on probabilities."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.testcase.arguments.mixture import ANY_KINDS, KIND_INDEX, Mixture
from fitgym.testcase.arguments.recent import Recent
from fitgym.testcase.rates import DEFAULT


def test_without_experience_kinds_are_drawn_as_often_as_the_table_says() -> None:
    total = sum(ANY_KINDS.values())
    assert Mixture("thing", DEFAULT).shares() == pytest.approx({kind: w / total for kind, w in ANY_KINDS.items()})


def test_the_name_of_a_parameter_makes_one_kind_four_times_as_heavy() -> None:
    shares = Mixture("counts2", DEFAULT).shares()  # as "count"
    assert shares["int"] / shares["str"] == pytest.approx(4.0)


def test_a_kind_that_worked_and_failed_weighs_what_the_formula_says() -> None:
    mixture = Mixture("thing", DEFAULT)
    for outcome in (0, 0, 0, 1):
        mixture.count(KIND_INDEX["int"], outcome)
    # s = (3 + 1) / (4 + 2) = 2/3, 4 s^2 = 16/9
    shares = mixture.shares()
    assert shares["int"] / shares["str"] == pytest.approx(16 / 9)


def test_no_kind_dies_out() -> None:
    mixture = Mixture("thing", DEFAULT)
    for _ in range(10_000):
        mixture.count(KIND_INDEX["int"], 1)
    shares = mixture.shares()
    assert shares["int"] / shares["str"] == pytest.approx(0.03)


@given(st.lists(st.tuples(st.integers(0, len(ANY_KINDS) - 1), st.integers(0, 1)), max_size=60), st.integers(0, 2**32))
def test_kinds_are_drawn_by_their_shares_whatever_was_drawn_before(counted: list[tuple[int, int]], seed: int) -> None:
    drawn_between, fresh = Mixture("thing", DEFAULT), Mixture("thing", DEFAULT)
    rng, other = np.random.default_rng(seed), np.random.default_rng(seed)
    for kind, outcome in counted:
        drawn_between.draw(np.random.default_rng(0))
        drawn_between.count(kind, outcome)
        fresh.count(kind, outcome)
    assert drawn_between.shares() == fresh.shares()
    assert [drawn_between.draw(rng) for _ in range(20)] == [fresh.draw(other) for _ in range(20)]


class Last:
    """The largest number that a source of chance can give."""

    def random(self) -> float:
        return float(np.nextafter(1.0, 0.0))


def test_the_largest_random_number_draws_the_last_kind() -> None:
    assert Mixture("thing", DEFAULT).draw(Last()) == list(ANY_KINDS)[-1]


# Recent


@given(st.lists(st.integers(0, 9)), st.integers(1, 4))
def test_the_last_different_things_are_kept(added: list[int], size: int) -> None:
    recent: Recent[int, int] = Recent(size)
    expected: list[int] = []
    for one in added:
        recent.add(one, -one)
        if one not in expected:
            expected = [*expected, one][-size:]
        assert [item for item in range(10) if item in recent] == sorted(expected)
        assert len(recent) == len(expected)
    rng = np.random.default_rng(0)
    assert {recent.draw(rng) for _ in range(100)} == ({-one for one in expected} or {None})


def test_recent_things_survive_pickling() -> None:
    recent: Recent[str, str] = Recent(2)
    for one in "abc":
        recent.add(one, one)
    copy = pickle.loads(pickle.dumps(recent))
    copy.add("d", "d")
    assert ["a" in copy, "b" in copy, "c" in copy, "d" in copy] == [False, False, True, True]
    assert "d" not in recent
