"""The definitions of a source, and the mapping of arguments to parameters."""

from __future__ import annotations

import ast

import pytest

from fitgym.subject.code.definitions import (
    Definitions,
    bound,
    called_name,
    is_static,
    parameter_names,
    positional,
    receiver_of,
)

SOURCE = """
class Shape:
    def area(self, /, unit, *rest, exact=False, **more): pass
    @staticmethod
    def unit(name): pass

class Square(Shape):
    class Corner:
        def area(self): pass

def draw(shape):
    def inner(): pass

if True:
    async def show(shape): pass
"""


def test_functions_are_those_of_the_module_and_methods_have_owners():
    found = Definitions(ast.parse(SOURCE))
    assert list(found.functions) == ["draw", "show"]
    assert list(found.classes) == ["Shape", "Square", "Corner"]
    assert [(node.name, owner.name) for node, owner in found.owners.items()] == [
        ("area", "Shape"),
        ("unit", "Shape"),
        ("area", "Corner"),
    ]


def test_a_method_is_looked_for_in_the_bases_too():
    found = Definitions(ast.parse(SOURCE))
    inherited = found.method(found.classes["Square"], "area")
    assert inherited is found.method(found.classes["Shape"], "area") is not None
    assert found.method(found.classes["Square"], "volume") is None


def test_classes_that_inherit_from_each_other_have_no_endless_search():
    found = Definitions(ast.parse("class A(B): pass\nclass B(A): pass"))
    assert found.method(found.classes["A"], "f") is None


def test_parameters_and_receivers():
    found = Definitions(ast.parse(SOURCE))
    shape = found.classes["Shape"]
    area, unit = found.method(shape, "area"), found.method(shape, "unit")
    assert parameter_names(area) == ["self", "unit", "exact", "rest", "more"]
    assert positional(area) == ["self", "unit"]
    assert (is_static(area), receiver_of(area, shape)) == (False, "self")
    assert (is_static(unit), receiver_of(unit, shape)) == (True, "")
    assert receiver_of(found.functions["draw"], None) == ""


@pytest.mark.parametrize(
    "call, expected",
    [
        ("f(1, 2)", {"a": "1", "b": "2"}),
        ("f(1, b=2)", {"a": "1", "b": "2"}),
        ("f(1, *x, c=3)", {"a": "1", "c": "3"}),
        ("f(1, 2, 3, 4)", {"a": "1", "b": "2", "c": "3"}),
        ("f(**x)", {}),
    ],
)
def test_arguments_go_to_parameters_up_to_the_first_starred_one(call: str, expected: dict[str, str]):
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    assert {name: ast.unparse(argument) for name, argument in bound(node, ["a", "b", "c"])} == expected


@pytest.mark.parametrize("function, name", [("f", "f"), ("x.f", "f"), ("x[0]", "")])
def test_the_name_that_is_called(function: str, name: str):
    assert called_name(ast.parse(function, mode="eval").body) == name
