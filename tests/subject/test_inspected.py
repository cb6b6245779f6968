"""Parameters for which a function handles values that their annotation forbids."""

from __future__ import annotations

import ast

import pytest

from fitgym.subject.types.inspected import inspected

FUNCTIONS = {
    "def f(a: int, b): return isinstance(a, str)": {"a"},
    "def f(a: int, b): return type(b) is str": {"b"},
    "def f(a, *, b=None): return a if b is None else b": {"b"},
    "def f(a):\n    match a:\n        case 1: pass": {"a"},
    "def f(*args, **kw): return callable(args) or hasattr(kw, 'x')": {"args", "kw"},
    "def f(a, b):\n    if a: raise TypeError('no')": {"a", "b"},
    "def f(a, b):\n    if a: raise ValueError('no')": set(),
    "def f(a, b):\n    try: a + b\n    except (ValueError, TypeError): pass": {"a", "b"},
    "def f(a, b):\n    try: a + b\n    except: pass": {"a", "b"},
    "def f(a, b):\n    try: a + b\n    except KeyError: pass": set(),
    "def __add__(self, other): return NotImplemented": {"self", "other"},
    "def f(a): return isinstance(other, str)": set(),
    "def f(a): return a + 1": set(),
}


@pytest.mark.parametrize("source", FUNCTIONS)
def test_a_function_is_prepared_for(source):
    (function,) = ast.parse(source).body
    assert inspected(function) == FUNCTIONS[source]
