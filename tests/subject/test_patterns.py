"""Patterns: the regular expressions of a source, and sampled strings that match them."""

import ast
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.subject.code.matches import near_miss, sample
from fitgym.subject.code.patterns import patterns


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import re\nre.compile('a+')", ["a+"]),
        ("import re\nre.match(r'\\d', x)", [r"\d"]),
        ("import re as r\nr.search('a|b', x)", ["a|b"]),
        ("from re import compile as c\nc('xy?')", ["xy?"]),
        ("import re\nre.compile('a' 'b' + 'c')", ["abc"]),
        ("import re\nA = '[0-9]'\nre.compile(A + '+')", ["[0-9]+"]),
        ("import re\nA = 'x'\nre.compile(f'{A}*y')", ["x*y"]),
        ("import re\nA = 'x'\nre.compile('(%s|%s)' % (A, 'y'))", ["(x|y)"]),
        ("import re\nA = 'x'\nre.compile('{}{b}'.format(A, b='y'))", ["xy"]),
        ("import re\nre.compile('|'.join(['a', 'b']))", ["a|b"]),
        ("import re\nclass C:\n    A = 'q'\n    def f(self): return re.match(self.A, x)", ["q"]),
        ("import re\nre.compile('a', re.I)", ["(?i)a"]),
        ("import re\nre.compile('a b', flags=re.VERBOSE | re.M)", ["(?mx)a b"]),
        ("import re\nre.compile('(?i)a', re.S)", ["(?is)a"]),
        ("import re\nre.compile('(')", []),
        ("import re\nre.compile(b'a')", []),
        ("import re\nre.compile(unknown + 'a')", []),
        ("import re\nre.sub('a', 'b', x)\nre.sub('a', 'c', x)", ["a"]),
        ("import re\nx = 1\nx = 'a'\nre.compile(x)", []),  # bound twice: which one is not known
        (r"PATTERNS = [r'\d+:\d+', 'plain']", [r"\d+:\d+"]),
        ("RULES = [('(?i)(quiz)$', 'x'), ('^ox', 'y'), ('s$', 'z'), ('$', '^')]", ["(?i)(quiz)$", "^ox", "s$"]),
        ("'''docs \\\\d+\nmore'''", []),
        ("re = 3", []),
    ],
)
def test_the_expressions_of_a_program(source, found):
    assert list(patterns(ast.parse(source))) == found


EXPRESSIONS = [
    r"",
    r"abc",
    r"a|bc|",
    r"[a-c]{2,4}",
    r"[^a]",
    r"[^\W\d_]",
    r"\d{4}-\d\d-\d\d",
    r"^\s*(\w+)\s*=\s*(.*)$",
    r"(a|b)\1",
    r"(?P<quote>[\"'])x(?P=quote)",
    r"(?i)hello",
    r"(?x) a  b  # spaces do not count",
    r"(?:ab)+?c",
    r"a*b*",
    r"(a)?(?(1)b|c)",
    r"(?s).",
    r"\.\*\\",
    r"x{3}",
    r"(?!b)a",
    r"\bword\b",
]


@pytest.mark.parametrize("pattern", EXPRESSIONS)
@given(seed=st.integers(0, 2**32))
def test_a_sample_matches(pattern, seed):
    assert re.fullmatch(pattern, sample(pattern, random.Random(seed)))


@pytest.mark.parametrize("pattern", [r"(?<=a)b", r"a(?=b)", r"(?=.*\d)[a-z\d]{3,5}"])
@given(seed=st.integers(0, 1000))
def test_a_lookaround_is_satisfied_where_it_stands(pattern, seed):
    assert re.search(pattern, sample(pattern, random.Random(seed)))


def test_repetitions_stay_short():
    rng = random.Random(0)
    assert max(len(sample("a*", rng)) for _ in range(200)) <= 6
    assert len(sample("(a{50}){50}", rng)) <= 50 * 50


def test_an_expression_that_cannot_match_still_ends():
    assert isinstance(sample("(?!)", random.Random(0)), str)
    assert sample("(", random.Random(0)) == ""


def test_matching_is_not_tried_where_it_could_take_for_ever():
    text = sample(r"(a+)+(a+)+(a+)+(?!)", random.Random(0))
    assert set(text) == {"a"}


@given(st.integers(0, 2**32))
def test_the_same_seed_gives_the_same_strings(seed):
    pattern = r"(\w+)@(\w+)\.(com|org)"
    first = [f(pattern, random.Random(seed)) for f in (sample, near_miss)]
    assert first == [f(pattern, random.Random(seed)) for f in (sample, near_miss)]


@given(st.integers(0, 2**32))
def test_a_near_miss_is_at_most_one_character_off_or_of_another_case(seed):
    text = near_miss("abcdef", random.Random(seed))
    assert abs(len(text) - 6) <= 1
    assert sum(1 for character in "abcdef" if character in text.lower()) >= 5


@pytest.mark.parametrize(
    ("pattern", "mistake"),
    [
        (r"[a-z0-9]+", r"[a-z]+"),
        (r"a+b", r"a*b"),
        (r"(?:ab|cd)x", r"(?:ab)x"),
        (r"\w+$", r"\w+\Z"),
        (r"x\.y", r"x.y"),
        (r".*", r"(?s:.)*"),
        (r"ab", r"(?i)ab"),
        (r"\w+", r"[a-zA-Z0-9_]+"),
        (r"a{2,3}", r"a{2,4}"),
        (r"(?!aa)\w+", r"\w+"),
    ],
)
def test_near_misses_tell_a_pattern_from_one_with_a_mistake(pattern: str, mistake: str) -> None:
    rng = random.Random(5)

    def found(expression: str, text: str) -> str | None:
        match = re.match(expression, text)
        return match and match.group()

    texts = [near_miss(pattern, rng) for _ in range(300)]
    assert any(found(pattern, text) != found(mistake, text) for text in texts)


def test_most_near_misses_do_not_match():
    rng = random.Random(1)
    missed = [re.fullmatch(r"\d{4}-\d\d", near_miss(r"\d{4}-\d\d", rng)) is None for _ in range(200)]
    assert sum(missed) > 150


def test_the_standard_library_is_understood():
    folder = Path(re.__file__).parent.parent
    rng = random.Random(0)
    failed = []
    count = 0
    for name in ("textwrap", "string", "tokenize", "shlex", "_strptime", "html/parser", "http/cookies", "json/decoder"):
        for pattern in patterns(ast.parse((folder / f"{name}.py").read_text(encoding="utf-8"))):
            count += 1
            if not re.search(pattern, sample(pattern, rng)):
                failed.append(pattern)
    assert count > 20
    assert failed == []
