"""The values of constant expressions."""

import ast

import pytest

from fitgym.testcase.expression import Collection, Literal
from fitgym.testcase.seeding.folding import NotConstant, folded, written_as


def value(text):
    return folded(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1),
        ("-1.5", -1.5),
        ("not 1", False),
        ("2 ** 10 + 1", 1025),
        ("'ab' * 3", "ababab"),
        ("b'a' + b'b'", b"ab"),
        ("'a,b'.split(',')", ["a", "b"]),
        ("' '.join(['a', 'b'])", "a b"),
        ("'a'.encode('utf-8').upper()", b"A"),
        ("f'a{1}b'", "a1b"),
        ("textwrap.dedent('  a')", "a"),
        ("[0] * 3", [0, 0, 0]),
        ("(1, [2, {'a': None}])", (1, [2, {"a": None}])),
        ("range(1, 4)", [1, 2, 3]),
    ],
)
def test_the_value_of_an_expression(text, expected):
    assert value(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "f(1)",
        "1 / 0",
        "'a' * 10**9",
        "[0] * 10**9",
        "10 ** 10 ** 10",
        "1 << 10**6",
        "range(10**9)",
        "'%0999999999d' % 1",
        "f'{1:>999999999}'",
        "'a'.join(5)",
        "{[]: 1}",
        "{**a}",
        "'a'.zfill(10**9)",
        "2 ** 900 ** 2",
        "open('a')",
        "''.__class__",
        "9 ** 999 ** 3",
        "------------------------------1",
    ],
)
def test_names_and_what_would_be_large_have_no_value(text):
    with pytest.raises(NotConstant):
        value(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("None", Literal("None")),
        ("...", Literal("...")),
        ("1e999", Literal('float("inf")')),
        ("(1, 'a')", Collection("tuple", (Literal("1"), Literal("'a'")))),
        ("{'a': [1]}", Collection("dict", (Literal("'a'"), Collection("list", (Literal("1"),))))),
        ("{1, 1.0, 2}", Collection("set", (Literal("1"), Literal("2")))),
    ],
)
def test_a_value_as_an_expression(text, expected):
    assert written_as(value(text)) == expected


@pytest.mark.parametrize("value", ["a" * 2000, list(range(200)), object(), range(3), [[object()]]])
def test_what_cannot_be_written_is_no_constant(value):
    with pytest.raises(NotConstant):
        written_as(value)
