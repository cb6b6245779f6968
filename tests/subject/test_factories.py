"""Factories: annotated functions and methods that build objects of a class."""

import sys
import textwrap
import types

import pytest

from fitgym import generate
from fitgym.execution.executor import Executor
from fitgym.subject.introspection.factories import Factories, is_factory_name
from fitgym.subject.source import locate

SOURCE = """
from __future__ import annotations

class Tree: pass

class Parser:
    def parse(self, text) -> Tree: ...
    def _parse(self) -> Tree: ...
    def root(self) -> Tree: ...

def load(name) -> Tree | None: ...
def walk(tree) -> list[Tree]: ...
def count(tree) -> int: ...
def _private() -> Tree: ...
def unannotated(): ...
"""


@pytest.fixture
def package(monkeypatch):
    module = types.ModuleType("grove.trees")
    exec(SOURCE, vars(module))
    monkeypatch.setitem(sys.modules, "grove.trees", module)
    return module


def test_functions_come_before_methods_and_private_ones_are_left_out(package):
    assert [one.name for one in Factories("grove").mentioning(package.Tree)] == ["load", "walk", "Parser.parse"]


def test_the_elements_of_an_evaluated_annotation_count(package):
    package.walk.__annotations__["return"] = tuple[package.Tree, ...]
    assert "walk" in [one.name for one in Factories("grove").mentioning(package.Tree)]


def test_a_package_without_loaded_modules_has_no_factories(package):
    assert Factories("orchard").mentioning(package.Tree) == []


@pytest.mark.parametrize("name", ["from_text", "parse", "loads", "create", "open", "of"])
def test_names_of_class_methods_that_build(name):
    assert is_factory_name(name)


@pytest.mark.parametrize("name", ["formatter", "offset", "reset", "count"])
def test_names_of_class_methods_that_do_something_else(name):
    assert not is_factory_name(name)


WOOD = {
    "__init__": "from wood.parsing import count, parse",
    "nodes": """
        class Node:
            def __init__(self, name: str = "") -> None:
                self.name = name
                self.children = []
    """,
    "parsing": """
        from wood.nodes import Node

        def parse(text: str) -> tuple[Node, ...]:
            found = tuple(map(Node, text.split()))
            for node in found:
                node.children += map(Node, node.name)
            return found

        def count(text: str) -> list[int]:
            return []
    """,
    "front": """
        from wood.nodes import Node

        def depth(node: Node) -> int:
            return 2 if node.children else 1
    """,
}


@pytest.fixture
def wood(tmp_path):
    (tmp_path / "wood").mkdir()
    for name, source in WOOD.items():
        (tmp_path / "wood" / f"{name}.py").write_text(textwrap.dedent(source))
    return tmp_path


def test_the_first_item_of_what_a_parser_returns_is_an_object_that_its_constructor_leaves_empty(wood):
    with Executor(locate("wood.front", str(wood))) as executor:
        operations = executor.subject.operations
    assert [(one.name, one.returns.name) for one in operations if one.drive] == [("parse", "wood.nodes.Node")]


def test_tests_use_the_first_item_of_what_a_parser_returns(wood):
    run = generate("wood.front", path=str(wood), budget="800x", output=wood / "tests")
    assert run.record["measured"]["branches"] == [2, 2] or "[0]" in run.source
    assert "parse(" in run.source and ")[0]" in run.source
