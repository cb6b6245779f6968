"""Constructors set attributes; methods of the classes that inherit them say what the arguments must be."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from fitgym.execution.executor import Executor
from fitgym.subject.source import locate
from fitgym.subject.types.hints import Hint, choices
from fitgym.subject.types.usage import Usage

INT, STR, FLOAT = (Hint("class", f"builtins.{name}") for name in ("int", "str", "float"))

SHAPES = """
    class Base:
        def __init__(self, data, name=None):
            self.data = data
            self.label = name

    class Plain(Base):
        def name(self):
            return self.label.upper()

    class Deep(Plain):
        def size(self):
            return self.data["size"] + 1

    class Other(Base):
        def flag(self):
            return self.data.startswith("x")

    class Own(Base):
        def __init__(self, text, number):
            super().__init__(text, name=number)

        def both(self):
            return self.data.upper(), self.label + 1.5
"""


def demands(owner: str, definer: str) -> dict[str, Hint]:
    module = ast.parse(textwrap.dedent(SHAPES))
    classes = {one.name: one for one in module.body if isinstance(one, ast.ClassDef)}
    constructor = classes[definer].body[0]
    assert isinstance(constructor, ast.FunctionDef)
    return Usage(module).demands(constructor, classes[owner])


@pytest.mark.parametrize(
    ("owner", "definer", "expected"),
    [
        ("Base", "Base", {}),
        ("Plain", "Base", {"name": STR}),
        ("Deep", "Base", {"data": "record", "name": STR}),
        ("Other", "Base", {"data": STR}),
        ("Own", "Own", {"text": STR, "number": FLOAT}),
    ],
)
def test_each_class_has_its_own_demands(owner: str, definer: str, expected: dict[str, object]) -> None:
    found = demands(owner, definer)
    found.pop("self", None)
    assert found.keys() == expected.keys()
    for name, wanted in expected.items():
        parts = choices(found[name])
        assert wanted in parts or wanted in {part.kind for part in parts}, found[name]


MODEL = """
    class Model:
        def __init__(self, attrs=None, client=None):
            self.client = client
            self.attrs = attrs or {}

        def id(self):
            return self.attrs.get("id")
"""
IMAGE = """
    from stock.model import Model

    class Image(Model):
        def labels(self):
            return self.attrs["config"].get("labels") or {}

        def history(self):
            return self.client.api.history("a")

"""


@pytest.fixture
def image(tmp_path: Path) -> dict[str, Hint]:
    (tmp_path / "stock").mkdir()
    for name, text in (("__init__", ""), ("model", MODEL), ("image", IMAGE)):
        (tmp_path / "stock" / f"{name}.py").write_text(textwrap.dedent(text))
    with Executor(locate("stock.image", str(tmp_path))) as executor:
        (made,) = (one for one in executor.subject.operations if (one.kind, one.name) == ("constructor", "Image"))
    return {one.name: one.hint for one in made.parameters}


def test_a_constructor_of_another_module_is_looked_at_too(image: dict[str, Hint]) -> None:
    records = [one for one in choices(image["attrs"]) if one.kind == "record"]
    assert {text for one in records for text in one.texts} == {"'config'", "'id'"}
    (client,) = (one for one in choices(image["client"]) if one.texts)
    assert (client.name, client.texts) == ("types.SimpleNamespace", ("api",))
