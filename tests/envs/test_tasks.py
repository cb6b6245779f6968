"""Numbered tasks: splits are disjoint ranges, and every draw belongs to its split."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.envs.tasks import LARGEST, SPLITS, drawn, numbers, task_of
from fitgym.errors import InputError


def test_no_task_belongs_to_two_splits():
    for one, other in itertools.combinations(SPLITS.values(), 2):
        assert one.stop <= other.start or other.stop <= one.start


def test_the_numbers_from_400_to_999_belong_to_no_split():
    assert not [n for n in range(400, 1000) if any(n in split for split in SPLITS.values())]


@given(st.sampled_from(sorted(SPLITS)), st.integers(0, 2**32))
def test_a_drawn_task_belongs_to_its_split(split, seed):
    assert drawn(split, np.random.default_rng(seed)) in SPLITS[split]


def test_a_range_can_be_written_out_and_includes_both_ends():
    assert numbers("400-402") == range(400, 403)
    assert numbers("7-7") == range(7, 8)


@pytest.mark.parametrize("split", ["", "tests", "3-", "-3", "5-4", f"0-{LARGEST}", "a-b", "1.5-2"])
def test_a_split_that_does_not_exist_is_refused(split):
    with pytest.raises(InputError):
        numbers(split)


@pytest.mark.parametrize("given", [-1, LARGEST, 1.0, "3", None, True])
def test_what_is_no_number_of_a_task_is_refused(given):
    with pytest.raises(InputError, match="expected a whole number from 0"):
        task_of(given)


def test_numbers_of_numpy_are_tasks_too():
    assert task_of(np.int64(5)) == 5
