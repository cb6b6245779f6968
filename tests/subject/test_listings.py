"""The constants that names of a source stand for."""

from __future__ import annotations

import ast

import pytest

from fitgym.subject.code.listings import listed, listings


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("['a', 'b', 'a']", ("a", "b")),
        ("('a', 1, 2.5, b'c')", ("a", 1, 2.5, b"c")),
        ("{'a': 1, **others}", ("a",)),
        ("{'a', name, None, True}", ("a",)),
        ("frozenset({'a', 'b'})", ("a", "b")),
        ("dict(a=1, b=2)", ("a", "b")),
        ("dict({'c': 3}, a=1)", ("a", "c")),
        ("['a'] + ['b']", ("a", "b")),
        ("{'a': 1} | {'b': 2}", ("a", "b")),
        ("list(range(3))", ()),
        ("other(['a'])", ()),
        ("'abc'", ()),
        ("[x for x in 'abc']", ()),
    ],
)
def test_a_display_lists_its_constants(source: str, values: tuple[object, ...]) -> None:
    assert listed(ast.parse(source, mode="eval").body) == tuple(map(repr, values))


def test_names_of_modules_and_classes_have_listings() -> None:
    source = "A = ['x']\nB: dict = {1: 2}\nC, D = [1], [2]\nE = len('abc')\nclass F:\n    A = ('y',)\n    def g(self): H = ['z']\n"
    assert listings(ast.parse(source)) == {"A": ("'x'",), "B": ("1",), "F.A": ("'y'",)}
