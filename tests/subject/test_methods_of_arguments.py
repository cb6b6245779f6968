"""Methods that bring objects of other modules, which are arguments, into other states."""

from __future__ import annotations

from pathlib import Path

import fitgym
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


def write_package(package: Path, **modules: str) -> None:
    package.mkdir()
    (package / "__init__.py").touch()
    for name, source in modules.items():
        (package / f"{name}.py").write_text(source)


def test_an_inherited_method_is_added_once_for_all_subclasses(tmp_path: Path) -> None:
    walk = "from wood.nodes import Branch, Leaf\n\ndef first(leaf: Leaf, branch: Branch):\n    return leaf.parts\n"
    write_package(tmp_path / "wood", nodes=NODES, walk=walk)
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


BUFFER = """
class Buffer:
    def __init__(self): self.data = b""
    def __iadd__(self, more: bytes):
        self.data += more
        return self
    def __setitem__(self, key: str, value: int): self.data = key.encode() * value
    def __add__(self, more): return self
    def __len__(self): return len(self.data)
"""


def test_operators_that_change_an_argument_are_helpers_too(tmp_path: Path) -> None:
    reader = (
        "from wire.buffers import Buffer\n\n"
        "def kind(buffer: Buffer):\n"
        "    return 'empty' if not buffer.data else 'start' if buffer.data.startswith(b'GET') else 'other'\n"
    )
    write_package(tmp_path / "wire", buffers=BUFFER, reader=reader)
    with Executor(locate("wire.reader", str(tmp_path))) as executor:
        helpers = [one for one in executor.subject.operations if one.kind == "operator" and not one.unsearched]
    assert sorted(one.name for one in helpers) == ["Buffer.__iadd__", "Buffer.__setitem__"]
    run = fitgym.generate(str(tmp_path / "wire" / "reader.py"), goal="coverage", budget="800x", seed=1)
    assert 'buffer += b"GET' in run.source
    assert "iadd" not in run.source
