"""Pattern changes: regular expressions with one difference."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.subject.code.pattern_changes import MOST, other_patterns

CHANGES: list[tuple[str, list[str]]] = [
    (r"1*", ["1+"]),
    (r"1+", ["1*", "1{1}"]),
    (r"1?", ["1{1}"]),
    (r"1*?", ["1*", "1+?"]),
    (r"1{2}", ["1{3}", "1{1}"]),
    (r"1{0}", ["1{1}", "1*"]),
    (r"1{2,3}", ["1{1,3}", "1{3,3}", "1{2,4}", "1{2,2}"]),
    (r"1{2,}", ["1{1,}", "1{3,}"]),
    (r"1{,2}", ["1{1,2}", "1{,3}", "1{,1}"]),
    (r"1{a", ["(?i:1{a)"]),  # no repetition
    (r"[12_]", ["[2_]", "[1_]", "[12]"]),
    (r"[1^]", [r"[\^]", "[1]"]),
    (r"[^\]1]", ["[^1]", r"[^\]]"]),
    (r"[]1]", ["[1]", "[]]"]),
    (r"[a-z]", ["[a-zA-Z]", "(?i:[a-z])"]),
    (r"[a-f-]", ["[-]", "[a-f]", "[A-Fa-f-]", "(?i:[a-f-])"]),
    (r"(?i)[a-z]", ["(?i)(?-i:[a-z])"]),
    (r"1|2", ["2", "1"]),
    (r"(?:1|2|)3", ["(?:2|)3", "(?:1|)3", "(?:1|2)3"]),
    (r"(?i)1|2", ["(?i)2", "(?i)1"]),
    (r"^1$", ["1$", r"^1\Z", "^1"]),
    (r"\A1\Z", [r"1\Z", r"\A1$", r"\A1"]),
    (r"\b1", ["1", "^1"]),
    (r"(?i)1\b2\b", ["(?i)12\\b", r"(?i)1\b2", r"(?i)1\b2$"]),
    (r"1\.2", ["1.2"]),
    (r".", ["(?s:.)"]),
    (r"(?s).", []),
    (r"\w\s\d", [r"[a-zA-Z0-9_]\s\d", r"\w \d"]),
    (r"(?!1)2", ["(?=|1)2"]),
    (r"(?<!1)2", ["(?=|1)2"]),
    (r"(?P<y>1)(?P=y)", []),
    ("(?x)1 # 2|3+\n *", ["(?x)1 # 2|3+\n +"]),
    ("(?x)a # b", ["(?x)(?i:a # b\n)"]),
    (r"\|\+\(\[", []),
    ("", []),
    ("(", []),
]


@pytest.mark.parametrize(("pattern", "expected"), CHANGES, ids=[pattern for pattern, _ in CHANGES])
def test_a_pattern_has_one_difference(pattern: str, expected: list[str]) -> None:
    assert list(other_patterns(pattern)) == expected


PIECES = st.sampled_from(
    [
        *("a", "1", ".", "^", "$", "|", "*", "+", "?", "{2}", "{1,3}", "(", "(?:", "(?P<x>", "(?!", "(?<!", ")"),
        *(
            "[a-z]",
            "[^0-9_]",
            "[]^]",
            "[",
            "]",
            r"\d",
            r"\w",
            r"\.",
            r"\\",
            r"\Z",
            r"\b",
            "#",
            " ",
            "\n",
            "(?i)",
            "(?x)",
        ),
    ]
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_changed_patterns_compile_and_are_few_and_different(pattern: str) -> None:
    others = other_patterns(pattern)
    assert len(others) <= MOST
    assert len({pattern, *others}) == len(others) + 1
    for other in others:
        re.compile(other)


def test_of_a_long_pattern_all_parts_are_changed() -> None:
    pattern = "".join(f"{number}+" for number in range(100))
    others = other_patterns(pattern)
    places = [next(i for i, (a, b) in enumerate(zip(pattern, other, strict=False)) if a != b) for other in others]
    assert len(others) == MOST
    assert places == sorted(places)
    assert places[0] < 20
    assert places[-1] > len(pattern) * 0.9
