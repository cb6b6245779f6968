"""The call graph: the functions that a call can reach, by the names that functions mention."""

import ast

import pytest

from fitgym.instrument.rewriting.plan import plan
from fitgym.subject.callgraph import reachable


def reached(source, name):
    """Names of the functions that `name` leads to, itself left out."""
    functions = plan(ast.parse(source)).functions
    graph = reachable(source, tuple(functions))
    start = next(function.id for function in functions if function.name == name)
    return {functions[i].name for i in graph[start]} - {name}


@pytest.mark.parametrize(
    ("source", "name", "found"),
    [
        ("def f(): g()\ndef g(): h()\ndef h(): pass\ndef other(): pass", "f", {"g", "h"}),
        ("def f(): return g\ndef g(): pass", "f", {"g"}),
        ("def f(x): x.g()\nclass C:\n    def g(self): pass\n    def h(self): pass", "f", {"C.g"}),
        ("def f(): C()\nclass C:\n    def __init__(self): pass\n    def h(self): pass", "f", {"C.__init__"}),
        ("def f():\n    def inner(): g()\n    return inner\ndef g(): pass", "f", {"f.<locals>.inner", "g"}),
        ("def f(): return lambda: g()\ndef g(): pass", "f", {"f.<locals>.<lambda>", "g"}),
        (
            "def f(a): return a + 1\nclass C:\n    def __add__(self, o): pass\n    def __sub__(self, o): pass",
            "f",
            {"C.__add__"},
        ),
        ("def f(a): a -= 1\nclass C:\n    def __isub__(self, o): pass", "f", {"C.__isub__"}),
        ("def f(a):\n    with a: pass\nclass C:\n    def __enter__(self): pass", "f", {"C.__enter__"}),
        ("def f(a): a[0] = 1\nclass C:\n    def __setitem__(self, k, v): pass", "f", {"C.__setitem__"}),
        ("def f(a):\n    if a: pass\nclass C:\n    def __bool__(self): pass", "f", {"C.__bool__"}),
        ("def f(a): return getattr(a, 'g')\ndef g(): pass\ndef h(): pass", "f", {"g"}),
        ("def deco(x): return x\n@deco\ndef f(): pass\ndef h(): pass", "f", {"deco"}),
        ("def f(): pass\ndef g(): pass\nregister('name', g)", "f", {"g"}),
        ("def f(): pass\ndef main(): f()\nif __name__ == '__main__':\n    main()", "f", set()),
        ("async def f(): await g()\nasync def g(): pass", "f", {"g"}),
    ],
)
def test_a_function_leads_to_what_it_mentions(source, name, found):
    assert reached(source, name) == found


def test_a_name_that_is_computed_leads_everywhere():
    source = "def f(a, n): return getattr(a, n)()\ndef g(): pass\nclass C:\n    def h(self): pass"
    assert reached(source, "f") >= {"g", "C.h"}


def test_functions_that_call_each_other_reach_the_same():
    source = "def f(): g()\ndef g(): f()"
    assert reached(source, "f") == {"g"}
    assert reached(source, "g") == {"f"}
