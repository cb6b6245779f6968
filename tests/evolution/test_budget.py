"""Budgets are parsed from text and count their unit."""

import pytest

from fitgym.errors import BudgetError
from fitgym.evolution.budget import Budget


@pytest.mark.parametrize(
    ("text", "amount", "unit"), [("60s", 60, "s"), ("0.5s", 0.5, "s"), ("20000x", 20000, "x"), (" 200 g ", 200, "g")]
)
def test_a_budget_is_a_number_and_a_unit(text, amount, unit):
    assert Budget.parse(text) == Budget(amount, unit)


@pytest.mark.parametrize("text", ["", "60", "s", "-3g", "60m", "1e3x", "ten g", "60 s s", "nan s"])
def test_anything_else_is_refused_in_one_sentence_that_names_it(text):
    with pytest.raises(BudgetError, match="cannot be read: expected a number and a unit") as caught:
        Budget.parse(text)
    assert f"'{text}'" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_zero_is_refused():
    with pytest.raises(BudgetError, match="'0g' must be more than zero"):
        Budget.parse("0g")


@pytest.mark.parametrize(("text", "noun"), [("1.5g", "generations"), ("0.5x", "executions")])
def test_events_are_counted_in_whole_numbers(text, noun):
    with pytest.raises(BudgetError, match=f"whole number of {noun}"):
        Budget.parse(text)


def test_only_its_own_unit_is_counted():
    assert Budget(200, "g").spent(generations=50, executions=10**9, seconds=1e9) == 0.25
    assert Budget(200, "x").spent(generations=10**9, executions=50) == 0.25
    assert Budget(200, "s").spent(generations=10**9, seconds=50.0) == 0.25


def test_a_share_never_exceeds_one():
    assert Budget(10, "g").spent(generations=11) == 1.0


def test_seconds_are_the_only_unit_that_cannot_be_repeated():
    assert [Budget(1, unit).deterministic for unit in "gxs"] == [True, True, False]


@pytest.mark.parametrize("text", ["60s", "0.5s", "20000x", "200g"])
def test_a_budget_is_written_as_it_was_read(text):
    assert str(Budget.parse(text)) == text
