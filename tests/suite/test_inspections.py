"""Inspections: a call at the end of a test shows what a statement without a result has changed."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
from nightly import every

from fitgym.run.generation import generate

SHOWN = {
    "a lookup with the same key": (
        """
        class Cache:
            def __init__(self):
                self._data = {}
            def put(self, key: str, value: int) -> None:
                self._data[key] = value
            def get(self, key: str):
                return self._data.get(key)
        """,
        r'cache\.put\("key", 3\)\n\n    assert cache\.get\("key"\) == 3\n',
    ),
    "a property": (
        """
        class Switch:
            def __init__(self):
                self._on = False
            def turn_on(self):
                self._on = True
            @property
            def on(self):
                return self._on
        """,
        r"switch\.turn_on\(\)\n\n    assert switch\.on is True\n",
    ),
    "the length": (
        """
        class Bag:
            def __init__(self):
                self._items = []
            def drop(self, item: str) -> None:
                self._items.append(item)
            def __len__(self):
                return len(self._items)
        """,
        r'bag\.drop\("item"\)\n\n    assert len\(bag\) == 1\n',
    ),
    "a test of membership": (
        """
        class Names:
            def __init__(self):
                self._names = set()
            def allow(self, name: str) -> None:
                self._names.add(name)
            def __contains__(self, name):
                return name in self._names
        """,
        r'names\.allow\("name"\)\n\n    assert "name" in names\n',
    ),
    "a method of an object that was passed": (
        """
        class Counter:
            def __init__(self):
                self._count = 0
            def tick(self) -> None:
                self._count += 1
            def value(self) -> int:
                return self._count
        def run(counter: Counter) -> None:
            counter.tick()
            counter.tick()
        """,
        r"run\(counter\)\n\n    assert counter\.value\(\) == 2\n",
    ),
}

UNCHANGED = {
    "what changes an attribute is checked by it": (
        """
        class Account:
            def __init__(self):
                self.balance = 0
            def pay(self, amount: int) -> None:
                self.balance += amount
            def report(self) -> str:
                return f"balance: {self.balance}"
        """,
        r"account\.pay\(3\)\n\n    assert account\.balance == 3\n",
    ),
    "a result that was the same before shows nothing": (
        """
        class Bell:
            def ring(self) -> None:
                self._rung = True
            def color(self) -> str:
                return "golden"
        """,
        r"bell\.ring\(\) is None\n",
    ),
    "a result that differs from run to run shows nothing": (
        """
        class Seat:
            def take(self) -> None:
                self._token = object()
            def token(self) -> int:
                return id(self.__dict__.get("_token"))
        """,
        r"seat\.take\(\) is None\n",
    ),
}


def suite_for(source: str, folder: Path) -> str:
    """The suite for a module."""
    (folder / "subject_module.py").write_text(textwrap.dedent(source))
    return generate(str(folder / "subject_module.py"), budget="300x", seed=1, goal="coverage").source


@pytest.mark.parametrize("case", every(2, SHOWN))
def test_a_call_shows_the_change(case: str, tmp_path: Path) -> None:
    source, expected = SHOWN[case]
    suite = suite_for(source, tmp_path)
    assert re.search(expected, suite), suite


@pytest.mark.parametrize("case", every(2, UNCHANGED))
def test_no_call_is_added_without_need(case: str, tmp_path: Path) -> None:
    source, expected = UNCHANGED[case]
    suite = suite_for(source, tmp_path)
    assert re.search(expected, suite), suite
