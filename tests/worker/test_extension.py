"""Extensions: subclasses that a test makes and calls like their class."""

from __future__ import annotations

import abc
import asyncio
import inspect

import pytest

from fitgym.subject.subject import Operation, Parameter, subclass_name
from fitgym.worker.callee import Callee
from fitgym.worker.extension import extending


class Shape(abc.ABC):
    def __init__(self, name: str, scale: int = 1) -> None:
        self.name, self.scale = name, scale

    @property
    @abc.abstractmethod
    def corners(self) -> int: ...


HOOKS = {"corners": "@property\ndef corners(self):", "get": "async def get(self, x, y=1):", "limit": "limit ="}


def test_arguments_for_members_define_them_and_the_others_are_passed_on() -> None:
    make = extending(Shape, HOOKS)
    shape = make("a", scale=2, corners=4, get=[1], limit=9)
    assert isinstance(shape, Shape) and type(shape).__name__ == "ConcreteShape"
    assert (shape.name, shape.scale, shape.corners, shape.limit) == ("a", 2, 4, 9)
    assert asyncio.run(shape.get(1)) == [1]


def test_without_them_the_class_itself_is_called() -> None:
    with pytest.raises(TypeError, match="abstract"):
        extending(Shape, HOOKS)("a")
    assert type(extending(dict, {"limit": "limit ="})(a=1)) is dict


def test_two_objects_keep_their_own_members() -> None:
    make = extending(Shape, HOOKS)
    first, second = make("a", corners=3), make("b", corners=4)
    assert (first.corners, second.corners) == (3, 4)


@pytest.mark.parametrize("value", [[1], {"a": [1]}, (1, [2]), {1}])
def test_every_call_evaluates_a_display_again(value: object) -> None:
    shape = extending(Shape, HOOKS)("a", corners=value)
    assert shape.corners == value and shape.corners is not shape.corners


def test_every_call_starts_an_iterator_again() -> None:
    shape = extending(Shape, HOOKS)("a", corners=iter([1, 2]))
    assert list(shape.corners) == list(shape.corners) == [1, 2]


def test_other_objects_stay_the_same() -> None:
    thing = object()
    shape = extending(Shape, HOOKS)("a", corners=thing, limit=[thing])
    assert shape.corners is thing and shape.limit is shape.limit


def test_its_signature_is_that_of_the_class_and_members_are_no_arguments() -> None:
    assert inspect.signature(extending(Shape, HOOKS)) == inspect.signature(Shape)
    name = Parameter("name", "positional_or_keyword", None)  # type: ignore[arg-type]
    corners = Parameter("corners", "keyword_only", None, hook=HOOKS["corners"])  # type: ignore[arg-type]
    callee = Callee(Operation(0, "constructor", __name__, "Shape", "Shape", (name, corners)))
    assert callee.binds(1, ["corners"]) and callee.binds(1, ["scale", "corners"])
    assert not callee.binds(0, ["corners"]) and not callee.binds(1, ["unknown"])


@pytest.mark.parametrize(
    ("qualname", "expected"),
    [("Shape", "ConcreteShape"), ("Outer._Shape", "ConcreteShape"), ("AbstractShape", "ConcreteShape")],
)
def test_the_subclass_is_named_after_the_class(qualname: str, expected: str) -> None:
    assert subclass_name(qualname) == expected
