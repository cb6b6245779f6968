"""The part of a message that a test expects."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.suite.messages import MAX_PATTERN, pattern


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("", ""),
        ("no such book", "no such book"),
        ("  two\nlines", "two"),
        ("1 + 1 (is it 2?)", r"1 \+ 1 \(is it 2\?\)"),
        ("it's \"so\", isn't it", "it's \"so\", isn't it"),
        ("<Book object at 0x7f00aa11> is lost", ".* is lost"),
        ("lost: <Book object at 0x7f00aa11>", "lost:"),
        ("at 0x7f00aa11bb of 3", "at .* of 3"),
        ("word " * 20, "word " * 7 + "word"),
        ("x" * 60, "x" * 60),
        ("x" * 80, ""),
        ("x" * 80 + " is too long", "is too long"),
        ("<class 'shelf.books.fiction.comics.Book'>.title should be text but is int", "should be text but is int"),
    ],
)
def test_a_message_becomes_a_pattern(message: str, expected: str) -> None:
    assert pattern(message) == expected


@given(st.text(st.sampled_from("ab .*+?()[]{}\\^$|\n\"'0x<>7f"), max_size=90))
def test_the_pattern_is_found_in_the_message_and_not_long(message: str) -> None:
    found = pattern(message)
    assert re.search(found, message)
    assert len(found.replace("\\", "")) <= MAX_PATTERN + 2
