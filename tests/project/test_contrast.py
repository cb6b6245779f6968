"""Contrasts: the differences between two versions, in plain words."""

from __future__ import annotations

import pytest

from fitgym.messages.observation import NOT_RUN, Observed, observe
from fitgym.project.diff.contrast import VALUES, contrast
from fitgym.testcase.expression import Name


class Thing:
    """Has attributes."""

    def __init__(self, **attributes: object) -> None:
        vars(self).update(attributes)


def raising(error: BaseException) -> Observed:
    """What a test case of one statement shows that raises."""
    seen = observe([NOT_RUN], error)
    names = tuple(Name("builtins", cls.__name__) for cls in type(error).__mro__[:-1])
    return Observed(seen.observations, names, 0, message=str(error))


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        (3, 4, ("3", "4")),
        ("a", "b", ("'a'", "'b'")),
        (None, 3, ("None", "3")),
        (1, True, ("1", "True")),
        ([1, 2], [2, 1], ("[1, 2]", "[2, 1]")),
        (0.5, 0.25, ("0.5", "0.25")),
        ({"a": 1}, {"a": 2}, ('{"a": 1}', '{"a": 2}')),
        (float("nan"), 0.0, ('float("nan")', "0.0")),
        (Thing(a=1), None, ("an object with a = 1", "None")),
        (Thing(a=1, b=2), Thing(a=1, b=3), ("2", "3")),
    ],
)
def test_other_values_are_told_by_both(before: object, now: object, words: tuple[str, str]) -> None:
    found = contrast(observe([before]), observe([now]), 1)
    assert found is not None
    assert (found.before.replace("'", '"'), found.now.replace("'", '"')) == tuple(w.replace("'", '"') for w in words)
    assert found.kinds == VALUES


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (3, 3),
        (0.1 + 0.2, 0.3),
        ([0.1 + 0.2, 1.0], [0.3, 1.0]),
        (Thing(a=1), Thing(a=1, b=2)),
        (float("inf"), float("inf")),
        (float("nan"), float("nan")),
    ],
)
def test_equal_values_and_new_attributes_are_no_difference(before: object, now: object) -> None:
    assert contrast(observe([before]), observe([now]), 1) is None


def test_an_attribute_that_differs_is_named_by_its_path() -> None:
    found = contrast(observe([Thing(pence=3)]), observe([Thing(pence=4)]), 1)
    assert found is not None and (found.path, found.before, found.now) == (".pence", "3", "4")
    assert [fact.path for fact in found.facts] == [".pence"]


def test_a_lost_attribute_is_a_difference() -> None:
    assert contrast(observe([Thing(a=1, b=2)]), observe([Thing(a=1)]), 1) is not None


def test_the_type_of_an_equal_number_is_a_difference() -> None:
    found = contrast(observe([3]), observe([3.0]), 1)
    assert found is not None and (found.before, found.now) == ("3", "3.0")


def test_an_exception_instead_of_a_value_is_told_with_its_message() -> None:
    found = contrast(observe([3]), raising(ValueError("too small")), 1)
    assert found is not None
    assert (found.before, found.now, found.kinds) == ("3", "ValueError: too small", ("value", "ValueError"))
    back = contrast(raising(ValueError("too small")), observe([3]), 1)
    assert back is not None and (back.before, back.now) == ("ValueError: too small", "3")


def test_another_exception_is_a_difference_and_a_subclass_is_none() -> None:
    found = contrast(raising(ValueError("x")), raising(KeyError("x")), 1)
    assert found is not None and found.kinds == ("ValueError", "KeyError")
    assert contrast(raising(LookupError()), raising(KeyError()), 1) is None
    assert contrast(raising(KeyError()), raising(LookupError()), 1) is not None


def test_another_message_is_a_difference_and_an_unknown_one_is_none() -> None:
    assert contrast(raising(ValueError("a")), raising(ValueError("b")), 1) is not None
    assert contrast(raising(ValueError("a")), raising(ValueError("")), 1) is None


def test_the_first_statement_that_differs_counts() -> None:
    found = contrast(observe([1, 2, 3]), observe([1, 5, 4]), 3)
    assert found is not None and (found.position, found.before, found.now) == (1, "2", "5")


def test_results_before_an_exception_count_first() -> None:
    old, new = observe([1, 2]), observe([9, NOT_RUN], ValueError("x"))
    found = contrast(old, new, 2)
    assert found is not None and (found.position, found.before, found.now) == (0, "1", "9")


def test_ignored_results_do_not_count() -> None:
    assert contrast(observe([123]), observe([456]), 1, ignored=[0]) is None


def test_a_copy_instead_of_the_same_object_is_a_difference() -> None:
    shared: list[int] = [1]
    found = contrast(observe([shared, shared]), observe([shared, list(shared)]), 2)
    assert found is not None
    assert (found.before, found.now) == ("[1], the object of an earlier result", "[1], a new object")


@pytest.mark.parametrize("failure", ["fuel", "timeout", "memory", "crash", "exit", "blocked", "recursion_of_worker"])
def test_a_new_version_that_is_stopped_differs(failure: str) -> None:
    found = contrast(observe([3]), Observed(failure=failure), 1)  # type: ignore[arg-type]
    assert found is not None and found.before == "3" and found.kinds == ("value", failure)


def test_an_old_version_that_is_stopped_cannot_be_compared() -> None:
    assert contrast(Observed(failure="fuel"), observe([3]), 1) is None
    assert contrast(observe([3]), Observed(failure="setup"), 1) is None


def test_no_statements_are_no_difference() -> None:
    assert contrast(observe([]), observe([]), 0) is None


def test_many_attributes_are_cut_off_without_a_false_difference() -> None:
    old = Thing(**{f"b{number:02}": number for number in range(12)})
    new = Thing(**{"a": 0, **{f"b{number:02}": number for number in range(12)}})
    assert contrast(observe([old]), observe([new]), 1) is None
