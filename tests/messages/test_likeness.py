"""A result equal to an earlier one is recognised without running code of the subject."""

from __future__ import annotations

import dataclasses
from typing import Any

import attrs
import pytest

from fitgym.messages.observation import observe
from fitgym.testcase.expression import Collection, Literal, Ref


@dataclasses.dataclass
class Sale:
    isbn: str
    copies: int = 1
    notes: list[object] = dataclasses.field(default_factory=list)


@attrs.define
class Parcel:
    weight: int


class Plain:
    def __init__(self, n: int) -> None:
        self.n = n


class Strange(Plain):
    def __eq__(self, other: object) -> bool:
        raise AssertionError("nobody may ask")

    __hash__ = Plain.__hash__


@dataclasses.dataclass(eq=False)
class Alone:
    n: int


first, second = Sale("a"), Sale("b")

RESULTS: list[tuple[str, list[Any], object]] = [
    ("a data class with the same content", [Sale("a"), Sale("a")], Ref(0)),
    ("the nearest of several that are equal", [Sale("b"), Sale("a"), Sale("a")], Ref(1)),
    ("an attrs class", [Parcel(3), Parcel(3)], Ref(0)),
    ("another content", [Sale("a"), Sale("a", 2)], None),
    ("another class", [Sale("a"), Parcel(1)], None),
    ("a class that compares by identity", [Plain(1), Plain(1)], None),
    ("a class with an equality of its own", [Strange(1), Strange(1)], None),
    ("a data class without equality", [Alone(1), Alone(1)], None),
    ("content that cannot be told", [Sale("a", notes=[Plain(1)]), Sale("a", notes=[Plain(1)])], None),
    ("a list of earlier results", [first, second, [second, first]], Collection("list", (Ref(1), Ref(0)))),
    ("a list with an equal one", [Sale("a"), [Sale("a"), None]], Collection("list", (Ref(0), Literal("None")))),
    ("a tuple with a text", [first, ("x", first)], Collection("tuple", (Literal("'x'"), Ref(0)))),
    ("a list with something unknown", [first, [first, Plain(1)]], None),
    ("a list of plain values", [first, [1, 2]], None),
    ("an empty list", [first, []], None),
]


@pytest.mark.parametrize(("results", "expected"), [case[1:] for case in RESULTS], ids=[case[0] for case in RESULTS])
def test_the_last_result_is_equal_to(results: list[Any], expected: object) -> None:
    last = len(results) - 1
    facts = [fact for fact in observe(results).observations if fact.position == last and fact.kind == "equal"]
    referring = [fact.expression for fact in facts if "Ref" in repr(fact.expression)]
    assert referring == ([] if expected is None else [expected])
