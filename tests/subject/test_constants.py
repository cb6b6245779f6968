"""Constants: the literals of the source that are kept, and their text."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.subject.code.constants import LONGEST, constants


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = 1", ["1"]),
        ("x = -1", ["-1"]),
        ("x = 1 - 2", ["1", "2"]),
        ("x = -1.5e3", ["-1500.0"]),
        ("x = 'a' 'b'", ["'ab'"]),
        ("x = b'a'", ["b'a'"]),
        ("x = [True, False, None]", []),
        ("x = {'key': 1, 2: 'value'}", ["'key'", "2", "1", "'value'"]),
        ("x = f'left {y} right'", ["'left '", "' right'"]),
        ("x = f'{y:>10}'", ["'>10'"]),
        ("x = 1\ny = 2\nz = 1", ["1", "2"]),
        ("'module docstring'\nx = 1", ["1"]),
        ("def f():\n    'docstring'\n    return 3", ["3"]),
        ("class C:\n    'docstring'\n    x = 4", ["4"]),
        ("def f(x: 'Name' = 5) -> 'Other': ...", ["5"]),
        ("x: 'Name' = 6", ["6"]),
        ("x: 'Name'", []),
        ("@wraps('g')\ndef f(): pass", ["'g'"]),
        ("match x:\n    case 'a' | 7: pass", ["'a'", "7"]),
        ("x = 1e999", []),
        ("x = 2j", ["2j"]),
        ("s.startswith('https')", ["'https'"]),
    ],
)
def test_the_literals_of_a_program(source, found):
    assert sorted(constants(ast.parse(source))) == sorted(found)


def test_the_first_occurrence_gives_the_order():
    assert constants(ast.parse("a = 'z'\nb = 3\nc = 'z'\nd = 'a'")) == ("'z'", "3", "'a'")


def test_a_long_string_is_a_message():
    assert constants(ast.parse(repr("x" * LONGEST) + " in y")) == (repr("x" * LONGEST),)
    assert constants(ast.parse(repr("x" * (LONGEST + 1)) + " in y")) == ()


literal = (
    st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20) | st.binary(max_size=20)
)


@given(st.lists(literal))
def test_every_constant_is_source_of_an_equal_value(values):
    source = "x = [" + ", ".join(repr(value) for value in values) + "]"
    found = [ast.literal_eval(text) for text in constants(ast.parse(source))]
    assert sorted(map(repr, found)) == sorted({repr(value) for value in values})
