"""Methods that bring objects of other modules, which are arguments, into other states."""

from __future__ import annotations

from pathlib import Path

from fitgym.execution.executor import Executor
from fitgym.subject.source import locate

NODES = """
class Node:
    def __init__(self): self.parts = []
    def append(self, part): self.parts.append(part)
    def clear(self): self.parts = []

class Leaf(Node):
    pass

class Branch(Node):
    def clear(self): self.parts = [self]
    def grow(self): self.append(Leaf())
"""


def test_an_inherited_method_is_added_once_for_all_subclasses(tmp_path: Path) -> None:
    package = tmp_path / "wood"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "nodes.py").write_text(NODES)
    (package / "walk.py").write_text(
        "from wood.nodes import Branch, Leaf\n\ndef first(leaf: Leaf, branch: Branch):\n    return leaf.parts\n"
    )
    with Executor(locate("wood.walk", str(tmp_path))) as executor:
        methods = [(one.name, one.owner) for one in executor.subject.operations if one.kind == "method"]
        classes = executor.subject.classes
    assert sorted(methods) == [
        ("Branch.clear", "wood.nodes.Branch"),
        ("Branch.grow", "wood.nodes.Branch"),
        ("Node.append", "wood.nodes.Node"),
        ("Node.clear", "wood.nodes.Node"),
    ]
    assert "wood.nodes.Node" in classes["wood.nodes.Leaf"].bases  # so a leaf can be the receiver
