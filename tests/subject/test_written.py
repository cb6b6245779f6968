"""The tests of a file as examples."""

import ast
import pickle
import textwrap

import pytest

from fitgym.subject.written import written


def bodies(text, package="", *conftests):
    return [
        "; ".join(ast.unparse(ast.fix_missing_locations(statement)) for statement in example.body)
        for example in written(textwrap.dedent(text), package, conftests)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def test_a():\n    f(1)\n\n\ndef helper():\n    f(2)\n", ["f(1)"]),
        ("from m import f\n\ndef test_a():\n    f(1)\n", ["from m import f; f(1)"]),
        ("A = 1\nB = A + 1\nC = 3\n\ndef test_a():\n    f(B)\n", ["A = 1; B = A + 1; f(B)"]),
        ("async def test_a():\n    await f(1)\n", ["await f(1)"]),
        (
            "class TestIt:\n    size = 3\n    def setUp(self):\n        self.g = G()\n    def test_a(self):\n        self.g.f()\n",
            ["self.size = 3; self.g = G(); self.g.f()"],
        ),
        (
            "@pytest.mark.parametrize('x, y', [(1, 2), pytest.param(3, 4, id='c')])\ndef test_a(x, y):\n    f(x, y)\n",
            ["x, y = (1, 2); f(x, y)", "x, y = (3, 4); f(x, y)"],
        ),
        ("@pytest.mark.parametrize('x', [1])\ndef test_a(x):\n    f(x)\n", ["x = 1; f(x)"]),
        ("@pytest.mark.parametrize(['x'], [1])\ndef test_a(x):\n    f(x)\n", ["x = 1; f(x)"]),
        ("@pytest.mark.parametrize('x', CASES)\ndef test_a(x):\n    f(x)\n", ["f(x)"]),
        (
            "@pytest.fixture\ndef g():\n    h = H()\n    return G(h)\n\ndef test_a(g):\n    g.f()\n",
            ["h = H(); g = G(h); g.f()"],
        ),
        ("@pytest.fixture()\ndef g():\n    yield G()\n    close()\n\ndef test_a(g):\n    g.f()\n", ["g = G(); g.f()"]),
        ("def g():\n    return 1\n\ndef test_a(g):\n    f(g)\n", ["f(g)"]),  # a function that is no fixture
        ("def test_a(:\n", []),
        ("", []),
    ],
)
def test_each_test_with_what_it_needs(text, expected):
    assert bodies(text) == expected


CONFTEST = """from .shop import Store
SIZE = 3

@pytest.fixture
def store():
    return Store(SIZE)

@pytest.fixture
def full(store):
    store.fill()
    yield store
"""


def test_a_fixture_of_a_conftest_brings_its_imports_and_constants():
    test = "from m import f\n\ndef test_a(full):\n    f(full)\n"
    assert bodies(test, "", ("p.tests", CONFTEST)) == [
        "from p.tests.shop import Store; SIZE = 3; from m import f; store = Store(SIZE); store.fill(); full = store; f(full)"
    ]


def test_the_nearest_fixture_of_a_name_is_used():
    near = "@pytest.fixture\ndef store():\n    return 1\n"
    test = "def test_a(store):\n    f(store)\n"
    assert bodies(test, "", ("", near), ("p.tests", CONFTEST)) == ["store = 1; f(store)"]
    assert bodies(test + near.replace("1", "2"), "", ("", near)) == ["store = 2; f(store)"]
    assert bodies(test, "", ("", "def broken(:"), ("", near)) == ["store = 1; f(store)"]


def test_relative_imports_are_made_absolute():
    assert bodies("from ..core import f\n\ndef test_a():\n    f()\n", "p.q.tests") == ["from p.q.core import f; f()"]


def test_a_long_list_of_cases_is_taken_evenly():
    cases = ", ".join(map(str, range(80)))
    found = bodies(f"@pytest.mark.parametrize('x', [{cases}])\ndef test_a(x):\n    f(x)\n")
    assert found == [f"x = {number}; f(x)" for number in range(0, 80, 10)]


def test_an_example_can_be_pickled_and_brings_its_functions():
    (example,) = written("def helper(x):\n    return x\n\ndef test_a():\n    helper(1)\n")
    assert list(pickle.loads(pickle.dumps(example)).functions) == ["helper"]
