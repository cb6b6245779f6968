"""Parameters for which a function handles values that their annotation forbids."""

from __future__ import annotations

import ast
import builtins
import collections

import pytest

from fitgym.subject.types.hints import ANY, NONE, Hint, union
from fitgym.subject.types.inspected import Inspected, inspected

FUNCTIONS = {
    "def f(a: int, b): return isinstance(a, str)": {"a"},
    "def f(a: int, b): return type(b) is str": {"b"},
    "def f(a, *, b=None): return a if b is None else b": {"b"},
    "def f(a, b): return a if b is True else b": set(),
    "def f(a):\n    match a:\n        case 1: pass": {"a"},
    "def f(*args, **kw): return callable(args) or hasattr(kw, 'x')": {"args", "kw"},
    "def f(a, b):\n    if a: raise TypeError('no')": {"a"},
    "def f(a, b):\n    if b: return 1\n    raise TypeError('no')": set(),
    "def f(a, b):\n    if a:\n        for x in b:\n            if x: raise TypeError": {"a"},
    "def f(a, b):\n    while a:\n        raise TypeError": {"a"},
    "def f(a, b):\n    if a: pass\n    elif b: raise TypeError": {"a", "b"},
    "def f(a, b):\n    if a: raise ValueError('no')": set(),
    "def f(a, b, c):\n    try: a + b\n    except (ValueError, TypeError): pass": {"a", "b"},
    "def f(a, b):\n    try: a + 1\n    except: pass": {"a"},
    "def f(a, b):\n    try: a + b\n    except KeyError: pass": set(),
    "def f(a, b):\n    try: int(a)\n    except ValueError: raise TypeError from None": {"a"},
    "def __add__(self, other): return NotImplemented": {"self", "other"},
    "def f(a): return isinstance(other, str)": set(),
    "def f(a): return a + 1": set(),
}


@pytest.mark.parametrize("source", FUNCTIONS)
def test_a_function_is_prepared_for(source):
    (function,) = ast.parse(source).body
    assert set(inspected(function)) == FUNCTIONS[source]


TEXT, NUMBER, TRUTH = (Hint("class", f"builtins.{name}") for name in ("str", "int", "bool"))
MAP = Hint("dict", args=(TEXT, NUMBER))
NAMES = {**vars(builtins), "collections": collections, "both": (str, bytes), "late": None}


@pytest.mark.parametrize(
    ("hint", "kind", "beyond"),
    [
        (NUMBER, "int", True),  # a check of the annotation
        (NUMBER, "str", True),
        (NUMBER, "bool", False),  # some numbers are
        (MAP, "collections.OrderedDict", False),
        (MAP, "dict", True),
        (union([TEXT, NUMBER]), "str", False),  # the other member takes the other way
        (union([TEXT, NUMBER]), "bytes", True),
        (union([TEXT, NONE]), "str", False),
        (union([TEXT, MAP]), "dict", False),
        (NUMBER, "(bool, int)", True),
        (union([TEXT, NUMBER]), "(str, int)", True),  # and whatever is neither
        (union([TEXT, NUMBER, MAP]), "(str, int)", False),
        (union([TEXT, NUMBER]), "str | bytes", True),
        (union([TEXT, NUMBER]), "both", True),
        (NUMBER, "unknown.Class", True),
        (NUMBER, "kinds()", True),
        (NUMBER, "late", True),
        (ANY, "str", True),
    ],
)
def test_an_isinstance_test_asks_for_other_values_unless_allowed_ones_pass_and_fail_it(hint, kind, beyond):
    (function,) = ast.parse(f"def f(a): return isinstance(a, {kind})").body
    assert inspected(function)["a"].is_beyond(hint, NAMES) is beyond


@pytest.mark.parametrize(
    ("test", "beyond"),
    [
        ("type(a) is bool", False),
        ("type(a) == int", True),
        ("type(a) not in (bool,)", False),
        ("type(a) in {bool, str}", True),
        ("type(a) is type(1)", True),
        ("type(a)", True),
    ],
)
def test_a_comparison_with_the_type_is_a_test_for_a_class(test, beyond):
    (function,) = ast.parse(f"def f(a): return {test}").body
    assert inspected(function)["a"].is_beyond(NUMBER, NAMES) is beyond


def test_a_test_for_all_members_of_a_union_asks_for_what_is_none_of_them():
    (function,) = ast.parse("def f(a):\n    if not (a is None or isinstance(a, str)): raise ValueError").body
    assert inspected(function)["a"].is_beyond(union([TEXT, NONE]), NAMES)
    assert not inspected(function)["a"].is_beyond(union([TEXT, NUMBER, NONE]), NAMES)


def test_a_function_that_compares_with_none_gets_none_and_nothing_else():
    (function,) = ast.parse("def f(a): return a is not None").body
    found = inspected(function)["a"]
    assert (found.widened(TEXT), found.is_beyond(TEXT, NAMES)) == (union([TEXT, NONE]), False)
    assert found.widened(ANY) == ANY
    assert Inspected().widened(TEXT) == TEXT
