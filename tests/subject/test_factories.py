"""Factories: annotated functions and methods that build objects of a class."""

import sys
import types

import pytest

from fitgym.subject.introspection.factories import Factories, is_factory_name

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


def test_a_package_without_loaded_modules_has_no_factories(package):
    assert Factories("orchard").mentioning(package.Tree) == []


@pytest.mark.parametrize("name", ["from_text", "parse", "loads", "create", "open", "of"])
def test_names_of_class_methods_that_build(name):
    assert is_factory_name(name)


@pytest.mark.parametrize("name", ["formatter", "offset", "reset", "count"])
def test_names_of_class_methods_that_do_something_else(name):
    assert not is_factory_name(name)
