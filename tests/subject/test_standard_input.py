"""The standard input: which modules read it, and tests that bring their own."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from nightly import nightly
from ruff_accepts import assert_ruff_accepts

from fitgym.run.generation import generate
from fitgym.subject.introspection.standard_input import reads_input


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import sys\ndef read(): return sys.stdin.read()", True),
        ("from sys import stdin as lines\ndef count(): return len(list(lines))", True),
        ("def ask(): return input('name? ')", True),
        ("import fileinput\ndef total(): return sum(1 for line in fileinput.input())", True),
        ("ask = lambda: input()", True),
        ("import sys\nTEXT = sys.stdin", False),
        ("import sys\ndef read(stream=sys.stdin): return stream.read()", False),
        ("def double(input): return 2 * input", False),
        ("from six.moves import input\ndef ask(): return input()", False),
        ("import sys\ndef write(): sys.stdout.write('a')", False),
    ],
)
def test_functions_that_read_it_are_found(source: str, expected: bool) -> None:
    assert reads_input(ast.parse(source)) is expected


SOURCE = """
    import sys

    def count() -> int:
        return sum(len(line.split()) for line in sys.stdin if not line.startswith("#"))

    def confirm(question: str) -> bool:
        while True:
            answer = input(question)
            if answer == "yes":
                return True
            if answer == "no":
                return False

    def closing() -> str:
        text = sys.stdin.readline()
        return text.upper() if text else "nothing"
"""


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        ("pytest", 'monkeypatch.setattr("sys.stdin", io.StringIO("yes'),
        pytest.param("unittest", 'self.enterContext(unittest.mock.patch("sys.stdin", io.StringIO("yes', marks=nightly),
    ],
)
def test_a_test_brings_its_own(dialect: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "votes.py").write_text(textwrap.dedent(SOURCE))
    run = generate(str(tmp_path / "votes.py"), budget="2000x", output=tmp_path / "tests", format=dialect)
    assert run.suite_path is not None
    assert expected in run.source and 'io.StringIO("")' in run.source
    assert run.record["measured"]["branches"]["covered"] == run.record["measured"]["branches"]["total"]
    assert_ruff_accepts(run.suite_path, ["check"])
    assert_ruff_accepts(run.suite_path, ["format", "--check"])
    done = subprocess.run(
        [sys.executable, "-m", dialect, run.suite_path.name],
        cwd=run.suite_path.parent,
        input=b"a text of whoever runs it",
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout
