"""Contents: what objects of library classes show, as a test would read it."""

from __future__ import annotations

import array
import configparser
import functools
import io
import json
import re
import sqlite3
import types
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from email.message import EmailMessage
from typing import Any
from xml.dom import minidom

import numpy as np
import pytest

from fitgym.messages.observation import Observation, describe
from fitgym.messages.protocol import encode_expression
from fitgym.testcase.expression import Literal, Name
from fitgym.worker.check import check


def written(text: str) -> io.StringIO:
    file = io.StringIO()
    file.write(text)
    return file


def closed() -> io.StringIO:
    file = io.StringIO("text")
    file.close()
    return file


def nameless() -> types.ModuleType:
    module = types.ModuleType("made")
    del module.__name__
    return module


def tree() -> ElementTree.Element:
    return ElementTree.fromstring("<a x='1'><b>text</b></a>")


def row() -> sqlite3.Row:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    found: sqlite3.Row = connection.execute("select 1, 'a'").fetchone()
    connection.close()
    return found


def message() -> EmailMessage:
    made = EmailMessage()
    made["To"] = "a@example.org"
    return made


def settings() -> configparser.ConfigParser:
    made = configparser.ConfigParser()
    made.read_string("[a]\nb = 1")
    return made


def shown(value: object) -> dict[str, object]:
    """Return the facts about a value: the expected value by the left side of the assertion."""
    return {_left(fact): _right(fact) for fact in describe(value, 0)}


def _left(fact: Observation) -> str:
    view = {"text": "str({})", "list": "list({})", "length": "len({})", "isinstance": "type({})"}.get(fact.kind, "{}")
    return view.format(f"v{fact.path}")


def _right(fact: Observation) -> object:
    expression: Any = fact.expression
    return expression.qualname if isinstance(expression, Name) else _value(expression)


def _value(expression: Any) -> object:
    if isinstance(expression, Literal):
        return eval(expression.text)
    items = [_value(item) for item in expression.items]
    return dict(zip(items[::2], items[1::2], strict=True)) if expression.kind == "dict" else items


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: written("text"), {"v.getvalue()": "text"}),
        (lambda: io.BytesIO(b"text"), {"v.getvalue()": b"text"}),
        (closed, {"type(v)": "StringIO"}),
        (lambda: re.match("(a)b", "abc"), {"v.group()": "ab", "v.groups()": ["a"], "v.span()": [0, 2]}),
        (lambda: re.compile("a+"), {"v.pattern": "a+"}),
        (
            lambda: functools.partial(int, base=2),
            {"v.func": "int", "v.args": [], "v.keywords": {"base": 2}},
        ),
        (
            tree,
            {
                "v.tag": "a",
                "v.attrib": {"x": "1"},
                "v.text": None,
                "v[0].tag": "b",
                "v[0].attrib": {},
                "v[0].text": "text",
            },
        ),
        (lambda: minidom.parseString("<a>b</a>").documentElement, {"v.toxml()": "<a>b</a>"}),
        (lambda: slice(0, 3), {"v.start": 0, "v.stop": 3, "v.step": None}),
        (lambda: memoryview(b"ab"), {"v.tobytes()": b"ab"}),
        (lambda: array.array("i", [1, 2]), {"list(v)": [1, 2]}),
        (row, {"list(v)": [1, "a"]}),
        (message, {"str(v)": "To: a@example.org\n\n"}),
        (settings, {"v.sections()": ["a"]}),
        (lambda: json, {"v.__name__": "json"}),
        (lambda: types.ModuleType("made"), {"v.__name__": "made"}),
        (nameless, {}),
        (lambda: array.array("i", range(100)), {"len(v)": 100}),
        (lambda: np.zeros((2, 1000)), {"type(v)": "ndarray"}),
        (lambda: np.array([[1, 2], [3, 4]]), {"v.tolist()": [[1, 2], [3, 4]]}),
        (lambda: type("Made", (), {}), {"v.__name__": "Made"}),
    ],
)
def test_an_object_of_a_library_shows_its_content(make: Callable[[], object], expected: dict[str, object]) -> None:
    assert shown(make()) == expected


def test_a_table_shows_its_columns() -> None:
    pandas = pytest.importorskip("pandas")
    assert shown(pandas.DataFrame({"a": [1, 2]})) == {'v.to_dict("list")': {"a": [1, 2]}}


def test_what_an_object_shows_can_be_checked_again() -> None:
    (fact,) = describe(written("text"), 0)
    holds = check((fact.position, fact.path, fact.kind, encode_expression(fact.expression)))
    assert holds([written("text")])
    assert not holds([written("other")])


def test_the_content_of_a_subclass_is_not_read() -> None:
    class Own(io.StringIO):
        def getvalue(self) -> str:
            raise SystemExit("code of the subject ran")

    assert "v.getvalue()" not in shown(Own("text"))


def test_an_object_that_stores_a_file_shows_its_text() -> None:
    assert shown(types.SimpleNamespace(out=written("text"))) == {"v.out.getvalue()": "text"}
