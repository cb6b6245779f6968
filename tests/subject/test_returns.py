"""Returns: which functions can return a value, so that a None from them says something."""

from __future__ import annotations

import pytest

VALUED = {
    "def f(a): return a": ["f"],
    "def f(a):\n if a:\n  return 1": ["f"],
    "def f(a): return": [],
    "def f(a): return None": [],
    "def f(a): print(a)": [],
    "def f(a):\n return lambda b: b": ["f"],
    "def f(a):\n def g(b):\n  return b\n print(g)": ["f.<locals>.g"],
    "class A:\n def f(self):\n  return self.a\n def g(self):\n  self.a = 1": ["A.f"],
}


@pytest.mark.parametrize("source", VALUED)
def test_the_functions_that_return_a_value_are_known(source: str, inspected) -> None:  # type: ignore[no-untyped-def]
    subject = inspected(source)
    assert [subject.functions[one].name for one in sorted(subject.valued)] == VALUED[source]
