"""Keyword arguments that a class accepts without naming them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fitgym.execution.executor import Executor
from fitgym.run.generation import generate
from fitgym.subject.source import locate
from fitgym.subject.subject import Subject

NODES = """
class Node:
    def __init__(self, **parts):
        self.parts = parts
    @property
    def this(self): return self.parts.get("this")
    def walk(self): return [self]

class Sum(Node):
    pass

class Named:
    def __init__(self, name, **others):
        self.name = name

class Plain:
    def __init__(self, name): self.name = self.size = name
"""


def described(folder: Path, walk: str) -> Subject:
    package = folder / "wood"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "nodes.py").write_text(NODES)
    (package / "walk.py").write_text(f"from wood.nodes import Named, Node, Plain, Sum\n\n{walk}\n")
    with Executor(locate("wood.walk", str(folder))) as executor:
        return executor.subject


@pytest.mark.parametrize(
    ("walk", "name", "keywords"),
    [
        ("def f(x: Sum): return x.this", "Sum", ["this"]),
        ("def f(x: Sum): return x.parts.get('left'), x.parts['walk']", "Sum", ["left", "walk"]),
        ("def f(x: Sum): return x.walk()", "Sum", []),  # a method is no content
        ("def f(x: Sum, y: Node): return x.left, y.this", "Sum", ["this", "left"]),  # what is read from a base, too
        ("def f(x: Named): return x.name, x.size", "Named", ["name", "size"]),
        ("def f(x: Plain): return x.name, x.size", "Plain", ["name"]),
        ("def f(x: Sum): return 1", "Sum", []),
    ],
)
def test_what_the_code_reads_from_arguments_is_a_keyword(
    walk: str, name: str, keywords: list[str], tmp_path: Path
) -> None:
    operations = described(tmp_path, walk).operations
    (made,) = [one for one in operations if one.kind == "constructor" and one.name == name]
    assert [parameter.name for parameter in made.parameters] == keywords
    assert all(not parameter.required for parameter in made.parameters if parameter.name != "name")


def test_a_test_gives_content_to_objects_of_the_declared_class(tmp_path: Path) -> None:
    walk = "def kind(x: Sum) -> str:\n    if x.this is None:\n        return 'empty'\n    return 'full'"
    described(tmp_path, walk)
    source = generate("wood.walk", path=str(tmp_path), budget="1500x", seed=0, goal="tests").source
    assert "Sum(this=" in source and "SimpleNamespace" not in source, source
