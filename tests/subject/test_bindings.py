"""Bindings: the search gets the literals and regular expressions that other modules and calls have made."""

from __future__ import annotations

import pytest

from fitgym.execution.executor import Executor
from fitgym.subject.source import locate

WORDS = """
    import re
    GREETING = "hello"
    LIMIT = 12.5
    KEYS = frozenset({"b", "a", 7})
    ALIASES = {"colour": ("color", "tint")}
    TABLE = {0x132: "IJ", 0x133: "ij"}
    KEY = re.compile(r"[a-z]+=\\d+", re.IGNORECASE | re.VERBOSE)
    RULES = [(re.compile(r"x+"), "many"), (re.compile(b"y"), "bytes")]
    class Strange:
        def __eq__(self, other):
            raise RuntimeError
        __hash__ = None
    STRANGE = Strange()
    def helper():
        return "not read"
"""

CASES = {
    "a name that is imported": ("from words import GREETING\ndef f(a): return a == GREETING", ["'hello'"], []),
    "an attribute of a module": ("import words\ndef f(a): return a < words.LIMIT", ["12.5"], []),
    "a name that is not read": ("from words import GREETING, LIMIT\ndef f(a): return a < LIMIT", ["12.5"], []),
    "a set, in an order of its own": ("from words import KEYS\ndef f(a): return a in KEYS", ["'a'", "'b'", "7"], []),
    "a dictionary": (
        "from words import ALIASES\ndef f(a): return ALIASES[a]",
        ["'colour'", "'color'", "'tint'"],
        [],
    ),
    "a table of characters": (
        "from words import TABLE\ndef f(a): return a.translate(TABLE)",
        ["'\u0132'", "'\u0133'", "306", "'IJ'", "307", "'ij'"],
        [],
    ),
    "a pattern": ("import words\ndef f(a): return words.KEY.match(a)", [], ["(?ix)[a-z]+=\\d+"]),
    "a table of patterns": (
        "from words import RULES\ndef f(a): return [b for r, b in RULES if r.match(a)]",
        ["'many'", "'bytes'"],
        ["x+"],
    ),
    "a pattern that a call makes": (
        "import re\nKEY = re.compile('|'.join(sorted(['one', 'two'])))\ndef f(a): return KEY.match(a)",
        ["'|'", "'one'", "'two'"],
        ["one|two"],
    ),
    "an attribute of a class": (
        "def low(a): return a.lower()\nclass A:\n key = low('NAME')\n def f(self, a): return a == self.key",
        ["'NAME'", "'name'"],
        [],
    ),
    "what describes the machine": (
        "import sys, os\nfrom sys import platform\ndef f(a): return a in (sys.version, os.sep, platform)",
        [],
        [],
    ),
    "an object of a strange class": ("from words import STRANGE\ndef f(a): return a is STRANGE", [], []),
}


@pytest.mark.parametrize("case", CASES)
def test_values_that_names_stand_for_are_known(case: str, inspected) -> None:  # type: ignore[no-untyped-def]
    source, literals, patterns = CASES[case]
    subject = inspected(source, words=WORDS)
    assert list(subject.constants) == literals
    assert list(subject.patterns) == patterns


def test_the_first_items_of_long_tables_are_read(inspected) -> None:  # type: ignore[no-untyped-def]
    subject = inspected("from words import ALL\ndef f(a): return a in ALL", words="ALL = list(range(1000))")
    assert subject.constants == tuple(map(str, range(24)))


def test_no_argument_has_what_belongs_to_this_run_or_machine(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "place.py").write_text(
        "import os, tempfile, time\nHERE = os.path.dirname(os.path.abspath(__file__))\nTEMPORARY = tempfile.gettempdir()\n"
        "NOW = time.time()\nDAY = time.strftime('%Y-%m-%d')\nWORD = 'w' + 'ord'\n"
        "def known(a): return a in (HERE, TEMPORARY, NOW, DAY, WORD)\n"
    )
    with Executor(locate(str(tmp_path / "place.py"))) as executor:
        assert set(executor.subject.constants) == {"'%Y-%m-%d'", "'w'", "'ord'", "'word'"}
