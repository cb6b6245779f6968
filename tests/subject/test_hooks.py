"""Hooks: a test defines the members that a class leaves to its subclasses."""

from __future__ import annotations

import pytest

from fitgym.run.generation import generate
from fitgym.subject.subject import Subject

HEAD = "import abc, enum, collections.abc, threading, typing\nABC, abstract = abc.ABC, abc.abstractmethod\n"


def hooks(subject: Subject, name: str = "Base") -> dict[str, str]:
    """The hooks of a class as `type: beginning of the definition`, an optional one with a question mark."""
    made = [one for one in subject.operations if one.kind == "constructor" and one.name == name]
    return {
        one.name: f"{one.hint.name.rpartition('.')[2] or one.hint.kind}{'' if one.required else '?'}: {one.hook}"
        for one in (made[0].parameters if made else ())
        if one.hook
    }


CLASSES = {
    "class Base(ABC):\n def f(self): return self.g(1)\n @abstract\n def g(self, n: int = 2, *, key='a') -> str: ...": {
        "g": "str: def g(self, n=2, *, key='a'):"
    },
    "class Base(ABC):\n def f(self): return 1\n @property\n @abstract\n def size(self) -> int: ...": {
        "size": "int: @property\ndef size(self):"
    },
    "class Base(ABC):\n def f(self): return 1\n @classmethod\n @abstract\n def make(cls) -> int: ...": {
        "make": "int: @classmethod\ndef make(cls):"
    },
    "class Base(ABC):\n def f(self): return 1\n @staticmethod\n @abstract\n def make(a=object()) -> int: ...": {
        "make": "int: @staticmethod\ndef make(a=None):"
    },
    "class Base(ABC):\n def f(self): return 1\n @abstract\n async def get(self) -> int: ...": {
        "get": "int: async def get(self):"
    },
    "class Base(ABC):\n def f(self): return len(self)\n @abstract\n def __len__(self): ...": {
        "__len__": "literal: def __len__(self):"
    },
    "class Base(collections.abc.Mapping):\n def f(self): return self['a']": {
        "__getitem__": "any: def __getitem__(self, key):",
        "__iter__": "iterator: def __iter__(self):",
        "__len__": "literal: def __len__(self):",
    },
    # without a declared type, the uses of the result say what it is
    "class Base:\n def rows(self): raise NotImplementedError\n def f(self):\n  for row in self.rows(): row.strip()": {
        "rows": "iterable?: def rows(self):"
    },
    "class Base:\n def g(self):\n  '''Of subclasses.'''\n  raise NotImplementedError('g')\n def f(self): range(self.g())": {
        "g": "int?: def g(self):"
    },
    "class Base:\n def f(self): return range(self.size)": {"size": "int?: size ="},
    "class Base:\n def f(self): return range(self.get(1, 2))": {"get": "int?: def get(self, x, y):"},
    "class Base:\n def f(self): return range(self.get(1)), self.get()": {"get": "int?: def get(self, *args):"},
}


@pytest.mark.parametrize("source", CLASSES)
def test_a_member_that_a_class_leaves_to_its_subclasses_is_an_argument_of_its_constructor(inspected, source):
    assert hooks(inspected(HEAD + source)) == CLASSES[source]


COMPLETE = [
    "class Base:\n def f(self): return self.size\n def __init__(self): self.size = 1",
    "class Base:\n size: int\n def f(self): return self.size",
    "class Base:\n def __new__(cls):\n  made = super().__new__(cls)\n  made.size = 1\n  return made\n"
    " def f(self): return self.size",
    "class Base:\n def f(self): return self.size\n def __getattr__(self, name): return 1",
    "class Base:\n def f(self): return self.size\n def fill(self, **k):\n  for a in k: setattr(self, a, k[a])",
    "class Base:\n def f(self): return self.size\n def fill(self, **k): self.__dict__.update(k)",
    "class Base(threading.Thread):\n def f(self): return self.some_attribute",
    "class Base(enum.Enum):\n A = 1\n def f(self): return self.size",
    "class Base:\n def f(self): return self.__class__, self.__dict__",
    # nothing calls it
    "class Base:\n def f(self): return 1\n def g(self): raise NotImplementedError",
    # a usable subclass
    "class Base(ABC):\n def f(self): return 1\n @abstract\n def g(self): ...\n"
    "class Heir(Base):\n def g(self): return 2",
    "class Base:\n def f(self): return self.size\nclass Heir(Base):\n size = 1",
    # a class that reacts to being subclassed
    "ALL = []\nclass Base:\n def f(self): return self.size\n def __init_subclass__(cls): ALL.append(cls)",
    "class Meta(type): pass\nclass Base(metaclass=Meta):\n def f(self): return self.size",
    "@typing.final\nclass Base:\n def f(self): return self.size",
    "class Base(typing.Protocol):\n def f(self): return self.size",
    # its constructor would be replaced
    "class Base(ABC):\n def f(self): return 1\n @abstract\n def __init__(self): ...",
]


@pytest.mark.parametrize("source", COMPLETE)
def test_a_class_that_lacks_nothing_or_cannot_be_subclassed_without_effects_has_no_hooks(inspected, source):
    assert hooks(inspected(f"{HEAD}{source}\ndef other(): pass")) == {}


def test_a_class_with_more_abstract_members_than_a_test_should_define_has_no_objects(inspected):
    members = "".join(f" @abstract\n def m{number}(self): ...\n" for number in range(13))
    subject = inspected(f"{HEAD}class Base(ABC):\n def f(self): return 1\n{members}")
    assert not [one for one in subject.operations if one.kind == "constructor"]


def test_a_member_that_every_test_defines_itself_is_not_under_test(inspected):
    subject = inspected(f"{HEAD}class Base(ABC):\n def f(self): return 1\n @abstract\n def g(self): ...")
    assert [one.name for one in subject.operations if one.under_test] == ["Base", "Base.f"]


def test_an_abstract_class_of_another_module_of_the_package_is_built_as_an_argument(tmp_path):
    package = tmp_path / "parts"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "shapes.py").write_text(
        f"{HEAD}class Shape(ABC):\n def __init__(self, name: str): ...\n @abstract\n def area(self) -> float: ...\n"
    )
    (package / "use.py").write_text(
        "from parts.shapes import Shape\ndef f(shape: Shape):\n if shape.area() > 9:\n  return 1\n"
    )
    result = generate(str(package / "use.py"), output=tmp_path, budget="600x", seed=1)
    assert result.record["measured"]["branches"] == {"covered": 2, "total": 2}
    assert "class ConcreteShape(Shape):" in (tmp_path / "test_parts_use.py").read_text()


TEMPLATE = """
import abc

class Report(abc.ABC):
    title = "report"

    def __init__(self, width: int = 10):
        self.width = width

    @abc.abstractmethod
    def rows(self, first: int) -> list[str]: ...

    @property
    @abc.abstractmethod
    def footer(self) -> str: ...

    def render(self):
        lines = [row for row in self.rows(1) if len(row) < self.width]
        if not lines:
            return self.title
        return " / ".join([*lines, self.footer])

class SizedMixin:
    def size(self):
        return "small" if self.limit < 5 else "large"
"""


def test_tests_of_abstract_classes_and_mixins_define_what_is_missing(tmp_path):
    (tmp_path / "reports.py").write_text(TEMPLATE)
    suite = tmp_path / "test_reports.py"
    result = generate(str(tmp_path / "reports.py"), output=tmp_path, budget="1500x", seed=0)
    assert result.record["measured"]["branches"] == {"covered": 2, "total": 2}
    text = suite.read_text()
    assert "class ConcreteReport(Report):\n        def rows(self, first):\n            return " in text
    assert "        @property\n        def footer(self):\n            return " in text
    assert "class ConcreteSizedMixin(SizedMixin):\n        limit = " in text
