"""Suites of real modules meet users' expectations: formatted, well named, with an assertion in each test."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from nightly import every, nightly
from ruff_accepts import assert_ruff_accepts

from fitgym.run.generation import generate
from fitgym.suite.names import MAX_LENGTH

MODULES = {
    "textwrap": "coverage",
    "shlex": "exceptions",
    "fnmatch": "coverage",
    "colorsys": "coverage",
    "graphlib": "exceptions",
    "fractions": "exceptions",
    "string:Formatter": "coverage",
    "statistics:NormalDist": "coverage",
}


@pytest.mark.parametrize("module", every(9, MODULES, 1))
def test_a_suite_of_a_real_module_could_be_committed(module: str, tmp_path: Path) -> None:
    dialect = "unittest" if list(MODULES).index(module) % 2 else "pytest"
    run = generate(module, goal=MODULES[module], budget="300x", population=10, output=tmp_path, format=dialect)
    assert run.suite_path is not None
    for rules in (["check"], ["check", "--select", "E4,E7,E9,F,I"], ["format", "--check"]):
        assert_ruff_accepts(run.suite_path, rules)
    tests = functions(run.source)
    names = [test.name for test in tests]
    assert len(set(names)) == len(names) > 0
    assert sum(map(cases, tests)) == run.record["tests"]
    assert all(len(name) <= MAX_LENGTH for name in names)
    assert [test.name for test in tests if not any(map(is_check, test.body))] == []
    assert not re.search(r"xfail|skip|/tmp|/home", run.source)
    assert f"fitgym generate {module} --goal {MODULES[module]} --population 10 --budget 300x --seed 0" in run.source


SPOKEN = """
import logging
import sys

log = logging.getLogger(__name__)


def report(count: int) -> None:
    for number in range(count):
        print(f"{number + 1}. item with a rather long description")
    if count > 2:
        print("that is much", file=sys.stderr)
        log.warning("%d items", count)
    log.info("done")
"""


COMMANDS = """
def matches(command):
    return command.script == "go" or command.script.startswith("go ") and "go -" not in command.script


def better(command):
    parts = command.script.split(" ")
    parts[0] = "went"
    return " ".join(parts)
"""


@pytest.mark.parametrize("seed", every(3, [1, 0, 2]))
def test_a_mutant_that_is_seen_before_an_exception_stays_killed(seed: int, tmp_path: Path) -> None:
    (tmp_path / "commands.py").write_text(COMMANDS)
    run = generate(str(tmp_path / "commands.py"), budget="2000x", seed=seed)
    assert run.record["mutants"]["killed"] == run.record["mutants"]["total"]


@pytest.mark.parametrize("dialect", ["pytest", "unittest"])
def test_what_a_test_prints_and_logs_is_checked(dialect: str, tmp_path: Path) -> None:
    (tmp_path / "spoken.py").write_text(SPOKEN)
    run = generate(str(tmp_path / "spoken.py"), budget="1000x", output=tmp_path / "tests", format=dialect)
    assert run.suite_path is not None
    assert_ruff_accepts(run.suite_path, ["check"])
    assert_ruff_accepts(run.suite_path, ["format", "--check"])
    assert '"that is much\\n"' in run.source and ' items"]' in run.source
    assert run.record["mutants"]["killed"] >= 0.9 * run.record["mutants"]["total"]
    runner = ["pytest", "-q"] if dialect == "pytest" else ["unittest"]
    (run.suite_path.parent / "pytest.ini").write_text("[pytest]\nlog_level = DEBUG\n")
    done = subprocess.run(
        [sys.executable, "-m", *runner, run.suite_path.name], cwd=run.suite_path.parent, capture_output=True, timeout=60
    )
    assert done.returncode == 0


LOUD = """
import warnings


def size(items: list[int]) -> int:
    warnings.warn("size is old, call len", DeprecationWarning, stacklevel=2)
    return len(items)


def volume(level: int) -> int:
    if level > 11:
        warnings.warn(f"{level} is too loud")
    return min(level, 11)
"""


@pytest.mark.parametrize("dialect", ["pytest", "unittest"])
def test_a_warning_is_expected_where_it_is_given(dialect: str, tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(LOUD)
    run = generate(str(tmp_path / "loud.py"), budget="500x", output=tmp_path / "tests", format=dialect)
    assert run.suite_path is not None
    assert_ruff_accepts(run.suite_path, ["check"])
    assert_ruff_accepts(run.suite_path, ["format", "--check"])
    head = "pytest.warns(" if dialect == "pytest" else "self.assertWarnsRegex("
    assert f"with {head}DeprecationWarning, " in run.source and f"with {head}UserWarning, " in run.source
    assert 'size is old, call len"):' in run.source and 'is too loud"):' in run.source
    assert [one for one in run.record["mutants"]["survivors"] if one.startswith("size")] == []
    runner = ["-Werror", "-m", "pytest", "-q"] if dialect == "pytest" else ["-Werror", "-m", "unittest"]
    done = subprocess.run(
        [sys.executable, *runner, run.suite_path.name], cwd=run.suite_path.parent, capture_output=True, timeout=60
    )
    assert done.returncode == 0


def functions(source: str) -> list[ast.FunctionDef]:
    found = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    return [node for node in found if node.name.startswith("test_")]


def cases(test: ast.FunctionDef) -> int:
    """How often pytest runs a test."""
    table = next((mark.args[1] for mark in test.decorator_list if isinstance(mark, ast.Call)), None)
    return len(table.elts) if isinstance(table, ast.List) else 1


def is_check(node: ast.stmt) -> bool:
    """An assertion, or a block that has to raise."""
    text = ast.unparse(node)
    return text.startswith(("assert ", "self.assert", "with pytest.raises(", "with self.assertRaises"))


@nightly
def test_the_same_run_gives_the_same_file_under_any_hash_seed(tmp_path: Path) -> None:
    files = []
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "fitgym", "generate", "graphlib", "--budget", "200x", "-q"]
        subprocess.run(
            [*command, "--output", str(tmp_path / seed)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            timeout=120,
        )
        files.append((tmp_path / seed / "test_graphlib.py").read_bytes())
    assert files[0] == files[1]
