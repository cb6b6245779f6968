"""Classes of other modules of the package, recognised by the attributes that a parameter is used with."""

import textwrap

from fitgym.execution.executor import Executor
from fitgym.subject.introspection.attributes import _set_by
from fitgym.subject.source import locate
from fitgym.subject.types.hints import PATH_TEXT, Hint, choices


def test_attributes_that_methods_set_are_read_off_their_byte_code():
    names = [f"name{number}" for number in range(600)]  # more than one byte can number
    space = {}
    exec("def f(self):\n" + "".join(f"    self.{name} = self.other\n" for name in names), space)
    assert _set_by(space["f"].__code__) == set(names)
    assert _set_by((lambda self: self.other.append(1)).__code__) == set()


def test_attributes_that_a_method_sets_on_other_objects_are_not_those_of_its_receiver():
    def method(self, other, value):
        self.first = value
        other.second = value
        other.third = self
        self.fourth = other
        return lambda: other

    assert _set_by(method.__code__) == {"first", "fourth"}


def test_any_says_no_more_than_no_annotation(tmp_path):
    (tmp_path / "shop.py").write_text(
        textwrap.dedent(
            """
            from typing import Any

            class Basket:
                def add(self, item): ...

            def fill(basket: Any): ...
            def empty(basket): ...
            """
        )
    )
    with Executor(locate(str(tmp_path / "shop.py"))) as executor:
        fill, empty = (next(o for o in executor.subject.operations if o.name == name) for name in ("fill", "empty"))
    assert fill.parameters == empty.parameters and Hint("class", "shop.Basket") in choices(fill.parameters[0].hint)


def test_a_class_of_another_module_is_recognised_by_attributes_that_only_its_methods_set(tmp_path):
    package = tmp_path / "book"
    package.mkdir()
    (package / "__init__.py").write_text("from book import sheet, writer\n")
    (package / "sheet.py").write_text(
        textwrap.dedent(
            """
            class Sheet:
                def __init__(self, title):
                    self.heading = title
                    self._reset()

                def _reset(self):
                    self.cells = {}
                    self.margin = 2
            """
        )
    )
    (package / "writer.py").write_text(
        textwrap.dedent(
            """
            class Writer:
                def __init__(self, ws):
                    self.ws = ws

                def write(self):
                    return [self.ws.heading, self.ws.margin, *self.ws.cells]
            """
        )
    )
    with Executor(locate(str(package / "writer.py"))) as executor:
        (ws,) = next(one for one in executor.subject.operations if one.name == "Writer").parameters
        made = [one.name for one in executor.subject.operations if one.kind == "constructor"]
    assert ws.hint == Hint("class", "book.sheet.Sheet")
    assert "Sheet" in made


def test_a_text_that_is_opened_may_be_the_path_of_a_file_that_the_test_writes(tmp_path):
    (tmp_path / "settings.py").write_text(
        "def load(name: str):\n    with open(name) as stream:\n        return stream.read()\n"
    )
    with Executor(locate(str(tmp_path / "settings.py"))) as executor:
        load, *helpers = executor.subject.operations
    assert choices(load.parameters[0].hint) == (Hint("class", "builtins.str"), PATH_TEXT)
    assert {one.name for one in helpers} >= {"str", "Path", "Path.write_text", "Path.write_bytes"}
    assert next(one for one in helpers if one.name == "str").returns == PATH_TEXT


def test_of_many_subclasses_those_are_built_that_need_the_fewest_arguments(tmp_path):
    package = tmp_path / "shapes"
    package.mkdir()
    (package / "__init__.py").write_text("from shapes import base, more\n")
    (package / "base.py").write_text("class Base:\n    def area(self):\n        return self.side**2\n")
    body = "".join(f"class Hard{number}(Base):\n    def __init__(self, a, b): pass\n" for number in range(300))
    (package / "more.py").write_text(f"from shapes.base import Base\n{body}class Easy(Base):\n    side = 2\n")
    with Executor(locate(str(package / "base.py"))) as executor:
        made = [one.name for one in executor.subject.operations if one.kind == "constructor"]
    assert made[:2] == ["Base", "Easy"] and len(made) == 1 + 12
