"""Case tables: ids are those of pytest, and single cases can be removed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from ruff_accepts import assert_ruff_accepts

from fitgym.suite.text.case_table import case_ids, without_cases
from fitgym.suite.text.generated import GENERATED
from fitgym.suite.text.suite_file import SuiteFile

TABLE = """import pytest


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("ä ☃", 1),
        ("", -2),
        ("a-b [c] ::d", 2.5),
        (None, True),
        ("\\n\\x00'", 1e300),
        ([1, 2], {"a": 1}),
        ((1,), 3),
    ],
)
def test_two(text, number):
    assert text is not number


@pytest.mark.parametrize("text", ["one", "two", [3]])
def test_one(text):
    assert text


def test_plain():
    assert 1 + 1 == 2
"""


def function(text: str, name: str) -> ast.FunctionDef:
    return next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef) and node.name == name)


def test_the_ids_are_those_of_pytest(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TABLE, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    theirs = [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]
    ours = [f"{name}[{one}]" for name in ("test_two", "test_one") for one in case_ids(function(TABLE, name))]
    assert theirs == [*ours, "test_plain"]


@pytest.mark.parametrize("row", ["int", "Genre.NOVEL", 'b"raw"', "(1, int)"])
def test_an_id_that_depends_on_an_object_is_not_guessed(row: str) -> None:
    names = '("a", "b")' if row.startswith("(") else '"a"'
    text = f"@pytest.mark.parametrize({names}, [{row}])\ndef test_it(a): ...\n"
    assert case_ids(function(text, "test_it")) == ("",)


@pytest.mark.parametrize("decorator", ["@pytest.mark.slow", "@pytest.mark.parametrize('a', range(3))", "@mark"])
def test_other_marks_are_no_table(decorator: str) -> None:
    assert case_ids(function(f"{decorator}\ndef test_it(a): ...\n", "test_it")) == ()


@pytest.mark.parametrize("cases", [{0}, {3}, {6}, {0, 6}, {1, 2, 3}, {0, 1, 2, 3, 4, 5}, {1, 2, 3, 4, 5, 6}])
def test_a_case_is_removed_with_its_line(cases: set[int], tmp_path: Path) -> None:
    shorter = without_cases(TABLE, function(TABLE, "test_two"), cases)
    lines = TABLE.splitlines()
    first = lines.index('        ("ä ☃", 1),')
    assert shorter.splitlines() == [line for number, line in enumerate(lines) if number - first not in cases]
    (tmp_path / "test_it.py").write_text(shorter, encoding="utf-8")
    assert_ruff_accepts(tmp_path / "test_it.py", ["format", "--check"])


@pytest.mark.parametrize(
    ("cases", "left"), [({0}, '["two", [3]]'), ({1}, '["one", [3]]'), ({2}, '["one", "two"]'), ({0, 2}, '["two"]')]
)
def test_a_case_is_removed_from_a_table_on_one_line(cases: set[int], left: str) -> None:
    assert f'"text", {left})' in without_cases(TABLE, function(TABLE, "test_one"), cases)


def test_a_generated_test_with_fewer_cases_counts_as_generated() -> None:
    suite = SuiteFile(f'"""Tests, {GENERATED} 1."""\n\n{TABLE}').sealed("abc")
    shorter = suite.without_cases("test_two", {2})
    assert [test.name for test in shorter.own] == ["test_two", "test_one", "test_plain"]
    assert not shorter.edited and not shorter.removed and len(shorter.tests[0].cases) == 6


def test_an_edited_test_with_fewer_cases_is_still_the_persons() -> None:
    suite = SuiteFile(f'"""Tests, {GENERATED} 1."""\n\n{TABLE}').sealed("abc")
    edited = SuiteFile(suite.body.replace("def test_one(text):", "def test_mine(text):"), suite.checksums, "abc")
    assert [test.name for test in edited.without_cases("test_mine", {0}).edited] == ["test_mine"]
