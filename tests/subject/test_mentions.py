"""The operations that examples call."""

import ast

import pytest

from fitgym.subject.example import Example
from fitgym.subject.mentions import mentions


@pytest.mark.parametrize(
    ("text", "paths", "members"),
    [
        ("import p\np.f(1)", ("p.f",), ()),
        ("import p as q\nq.r.f(1); q.r.f(2); q.g()", ("p.r.f", "p.g"), ()),
        ("from p.q import f as h\nh(1)", ("p.q.f",), ()),
        ("from p import C\nc = C()\nc.grow(1)", ("p.C",), ("grow",)),
        ("def f():\n    from p import g\n    g()", ("p.g",), ()),
        ("f(1)", (), ()),
        ("import p\np.value", (), ()),
        ("", (), ()),
    ],
)
def test_the_paths_and_members_that_are_called(text, paths, members):
    found = mentions([Example(tuple(ast.parse(text).body))])
    assert (found.paths, found.members) == (paths, members)
