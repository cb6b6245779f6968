"""The pieces of text that a program looks for in strings."""

import ast

import pytest

from fitgym.subject.code.affixes import Affixes, affixes


@pytest.mark.parametrize(
    ("source", "starts", "ends", "separators"),
    [
        ("s.startswith('from ')", ("from ",), (), ()),
        ("s.startswith(('http:', b'ftp:'))", ("http:", "ftp:"), (), ()),
        ("s.removeprefix('v')", ("v",), (), ()),
        ("s.endswith('.py')", (), (".py",), ()),
        ("s[0] == '#'", ("#",), (), ()),
        ("s[:2] == '0x'", ("0x",), (), ()),
        ("s[-1] != '/'", (), ("/",), ()),
        ("s[-2:] == 'px'", (), ("px",), ()),
        ("s[3] == 'a'", (), (), ()),
        ("s.split(',')", (), (), (",",)),
        ("s.partition(b'=')", (), (), ("=",)),
        ("', '.join(s)", (), (), (", ",)),
        ("s.find(':') + s.replace('&', '')", (), (), (":", "&")),
        ("'://' in s", (), (), ("://",)),
        ("'key' in options", (), (), ()),  # more likely a key than a part of a string
        ("x in ('-', '+')", (), (), ()),
        ("s.startswith(prefix)", (), (), ()),
        ("s.split()", (), (), ()),
        ("s.split('" + "-" * 31 + "')", (), (), ()),
    ],
)
def test_the_pieces_of_a_program(source, starts, ends, separators):
    assert affixes(ast.parse(source)) == Affixes(starts, ends, separators)
