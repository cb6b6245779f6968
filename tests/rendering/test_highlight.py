"""Syntax highlighting preserves any text and its lines."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.rendering.highlight import highlighted


def text_of(lines: list[str]) -> str:
    return unescape(re.sub(r"</?i[^>]*>", "", "\n".join(lines)))


def test_keywords_strings_and_definitions_have_a_class() -> None:
    (line,) = highlighted('def sell(): return "<b>"')
    assert (
        line
        == "<i class=k>def</i> <i class=d>sell</i>(): <i class=k>return</i> <i class=s>&quot;</i><i class=s>&lt;b&gt;</i><i class=s>&quot;</i>"
    )


def test_a_string_over_several_lines_has_its_class_on_each() -> None:
    assert all("<i class=s>" in line for line in highlighted('"""one\ntwo\nthree"""'))


@pytest.mark.parametrize("source", ["", "\n", "\n\n", "x = 1\n", "\t\f\n", "def (:\n\\", "\x00\x1b[31m", "'" * 5])
def test_the_lines_are_those_of_the_source(source: str) -> None:
    assert text_of(highlighted(source)) == source


@given(st.text(alphabet=st.sampled_from("ab<>&\"'#\n\\(){} =:.0é\x0c"), max_size=60))
def test_any_text_comes_back(source: str) -> None:
    lines = highlighted(source)
    assert text_of(lines) == source and len(lines) == len(source.split("\n"))


@given(st.text(max_size=40))
def test_no_text_becomes_a_tag(source: str) -> None:
    assert "<" not in re.sub(r"</?i( class=[csnkd])?>", "", "".join(highlighted(source)))
