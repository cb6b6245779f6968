"""The tree of errors: its shape, its texts, and pickling between processes."""

from __future__ import annotations

import pickle

import pytest

from fitgym import errors
from fitgym.errors import FitgymError, InputError, UnknownName

ERRORS = [name for name in errors.__all__ if isinstance(getattr(errors, name), type)]


def test_the_drawing_in_the_docstring_names_every_error() -> None:
    assert errors.__doc__ is not None
    drawn = [line.replace("│", " ").strip("├└─ ").split()[0] for line in errors.__doc__.splitlines() if "Error" in line]
    drawn += [name for name in ("UnknownName", "OutOfBudget", "ResetNeeded") if f"── {name} " in errors.__doc__]
    assert sorted(ERRORS) == sorted(drawn)


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_has_one_root_and_says_what_it_means(name: str) -> None:
    error = getattr(errors, name)
    assert issubclass(error, FitgymError)
    assert error.__doc__


@pytest.mark.parametrize("name", ["BudgetError", "SubjectError", "UnknownName"])
def test_what_the_user_can_put_right_is_an_input_error(name: str) -> None:
    assert issubclass(getattr(errors, name), InputError)


@pytest.mark.parametrize("name", ["ExecutionError", "ResetNeeded"])
def test_what_the_user_did_not_ask_for_wrongly_is_no_input_error(name: str) -> None:
    assert not issubclass(getattr(errors, name), InputError)


@pytest.mark.parametrize(
    ("name", "known", "text"),
    [
        ("brnch", ["line", "branch"], "no goal named 'brnch'; did you mean 'branch'? (there are: branch, line)"),
        ("zzz", ["line", "branch"], "no goal named 'zzz' (there are: branch, line)"),
        ("", ["line"], "no goal named '' (there are: line)"),
    ],
)
def test_an_unknown_name_offers_the_nearest_and_lists_all(name: str, known: list[str], text: str) -> None:
    assert str(UnknownName("goal", name, known)) == text


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (InputError("budget 'a\nb' is no budget"), "budget 'a\\nb' is no budget"),
        (UnknownName("goal", "a\r\x1b[2J", ["line"]), "no goal named 'a\\r\\x1b[2J' (there are: line)"),
        (InputError("the name 'Zoë' has 2 parts"), "the name 'Zoë' has 2 parts"),
    ],
)
def test_what_the_user_can_put_right_is_told_in_one_line(error: InputError, text: str) -> None:
    assert str(error) == text
    assert str(pickle.loads(pickle.dumps(error))) == text


def test_an_unknown_name_is_pickled_with_its_parts() -> None:
    error = UnknownName("goal", "brnch", ("line", "branch"))
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert (copy.noun, copy.name, copy.known) == ("goal", "brnch", ["branch", "line"])


@pytest.mark.parametrize("name", [name for name in ERRORS if name != "UnknownName"])
def test_every_other_error_is_pickled_with_its_message(name: str) -> None:
    copy = pickle.loads(pickle.dumps(getattr(errors, name)("too much of 'it'")))
    assert type(copy).__name__ == name
    assert str(copy) == "too much of 'it'"
