"""Immutable values are shared by copies and cannot be changed."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import pkgutil

import pytest

import fitgym
from fitgym.immutable import Lookup, immutable
from fitgym.subject.source import locate
from fitgym.testcase.expression import Collection, Literal
from fitgym.testcase.statement import Statement


def _marked() -> list[type]:
    """Every class of the package that is marked in its own definition."""
    mark = immutable(type("Marked", (), {})).__deepcopy__  # type: ignore[attr-defined]
    found = {}
    for room in ("subject", "instrument", "testcase", "fitness", "evolution"):
        for module in pkgutil.walk_packages([f"{fitgym.__path__[0]}/{room}"], f"fitgym.{room}."):
            for one in vars(importlib.import_module(module.name)).values():
                if isinstance(one, type) and vars(one).get("__deepcopy__") is mark:
                    found[f"{one.__module__}.{one.__qualname__}"] = one
    return list(found.values())


@pytest.mark.parametrize("cls", _marked(), ids=lambda cls: cls.__qualname__)
def test_what_is_marked_immutable_is_a_frozen_dataclass_or_a_tuple(cls: type) -> None:
    frozen = dataclasses.is_dataclass(cls) and cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert frozen or issubclass(cls, tuple)


def test_subjects_statements_and_traces_are_among_them() -> None:
    assert {"Subject", "Operation", "Statement", "Literal", "Trace", "Individual"} <= {
        one.__name__ for one in _marked()
    }


def test_a_copy_of_an_immutable_value_is_itself() -> None:
    statement = Statement(0, args=(Collection("list", (Literal("1"),)),))
    held = {"statements": [statement], "reference": locate("textwrap")}
    twin = copy.deepcopy(held)
    assert twin == held
    assert twin["statements"] is not held["statements"]
    assert twin["statements"][0] is statement
    assert twin["reference"] is held["reference"]


def test_a_copy_of_a_lookup_holds_the_same_and_is_another_one() -> None:
    tests = {"first": Lookup([((1, 2), "one")])}
    tests["again"] = tests["first"]
    twin = copy.deepcopy(tests)
    assert twin == tests and twin["first"] is twin["again"] is not tests["first"]
    assert next(iter(twin["first"])) is next(iter(tests["first"]))
    twin["first"][3,] = "new"
    assert (3,) not in tests["first"]
