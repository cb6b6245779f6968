"""Parameters that a function never reads."""

from __future__ import annotations

import ast

import pytest

from fitgym.subject.types.unused import unused

FUNCTIONS = {
    "def f(a, b): return a": {"b"},
    "def f(a, /, b, *, c): return b": {"a", "c"},
    "def f(a, *args, **kw): return 1": {"a"},
    "async def f(a, b): return await a": {"b"},
    "def f(a):\n    def g(): return a\n    return g": set(),
    "def f(a): return [b for b in (1, 2)]": {"a"},
    "def f(a): return f'{a}'": set(),
    "def f(a): return locals()": set(),
    "def f(a): return eval('a')": set(),
    "@staticmethod\ndef f(a): return 1": {"a"},
    "@abc.abstractmethod\ndef f(a): return 1": {"a"},
    "@cached\ndef f(a): return 1": set(),
    "@wraps(g)\ndef f(a): return 1": set(),
    "def f(a): pass": set(),
    "def f(a):\n    'docs'\n    raise NotImplementedError": set(),
    "def f(a): ...": set(),
    "def f(a):\n    a = 1\n    return 2": set(),
}


@pytest.mark.parametrize("source", FUNCTIONS)
def test_a_function_does_not_read(source: str) -> None:
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    assert unused(function) == FUNCTIONS[source]


def test_a_lambda_does_not_read() -> None:
    function = ast.parse("lambda a, b: b", mode="eval").body
    assert isinstance(function, ast.Lambda)
    assert unused(function) == {"a"}
