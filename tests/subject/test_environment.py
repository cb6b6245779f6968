"""Environment variables: which names are found, and how tests set them."""

from __future__ import annotations

import ast
import random
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from nightly import nightly
from ruff_accepts import assert_ruff_accepts

from fitgym.run.generation import generate
from fitgym.subject.code.environment import variables
from fitgym.subject.introspection.recipes import variable_setter
from fitgym.subject.subject import SET_VARIABLE, Operation, Parameter, Reference, Subject
from fitgym.subject.types.hints import NONE
from fitgym.suite.text.source import render
from fitgym.testcase.expression import Literal
from fitgym.testcase.factory import TestFactory
from fitgym.testcase.statement import Statement, StatementTable


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return os.environ.get('A'), os.environ['B'], os.getenv('C', '0')", ("A", "B", "C")),
        ("return environ.get('A', 3), getenv('B'), environ.pop('C', None)", ("A", "B", "C")),
        ("return 'A' in os.environ, 'B' not in environ", ("A", "B")),
        ("return os.environ.get(DEBUG), os.environ[LEVEL]", ("SHOP_DEBUG",)),
        ("return os.environ.get('A'), os.environ.get('A')", ("A",)),
        ("os.environ['A'] = '1'", ()),
        ("return os.environ.get(name), os.environ.get(3), os.environ.get('a=b'), os.environ.get('')", ()),
        ("return os.environ.get('PATH'), os.environ.get('PYTHONPATH'), os.environ.get('LD_PRELOAD')", ()),
        ("return config.get('A'), config['B'], 'C' in config", ()),
        ("return [os.environ.get(f'A{n}') for n in range(3)]", ()),
        ("return (lambda: os.environ.get('A'))", ("A",)),
    ],
)
def test_names_that_a_function_reads_are_found(body: str, expected: tuple[str, ...]) -> None:
    source = f"DEBUG = 'SHOP_DEBUG'\nLEVEL = 3\nAT_IMPORT = os.environ.get('Z')\ndef f(name):\n    {body}\n"
    assert variables(ast.parse(source)) == expected


def test_the_number_of_names_is_limited() -> None:
    body = "\n".join(f"    os.environ.get('A{number}')" for number in range(50))
    assert len(variables(ast.parse(f"def f():\n{body}"))) == 12


RECIPE = variable_setter(["A"])
SETTER = Operation(
    1,
    "function",
    *SET_VARIABLE,
    parameters=tuple(Parameter(name, "positional_only", hint, required) for name, hint, required in RECIPE.parameters),
    returns=NONE,
    under_test=False,
)
SUBJECT = Subject(
    Reference("shop", "shop", "shop.py"), "", (), (), (), (), (Operation(0, "function", "shop", "total"), SETTER), {}
)
TOTAL, SET = Statement(0), Statement(1, args=(Literal("'A'"), Literal("'1'")))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([SET, TOTAL], [SET, TOTAL]),
        ([TOTAL, SET], [TOTAL]),
        ([SET, TOTAL, SET, SET], [SET, TOTAL]),
        ([SET, SET, TOTAL], [SET, SET, TOTAL]),
        ([SET], []),
    ],
)
def test_a_variable_that_is_set_after_the_last_call_goes(given: list[Statement], kept: list[Statement]) -> None:
    assert TestFactory(SUBJECT, StatementTable()).variation.trimmed(given) == kept


def test_a_mutation_sets_a_variable_now_and_then() -> None:
    factory = TestFactory(SUBJECT, StatementTable())
    rng = random.Random(0)
    inserted = [factory.selection.insert([TOTAL], rng) for _ in range(1000)]
    setting = [statements for statements in inserted if any(one.operation == 1 for one in statements)]
    assert 100 < len(setting) < 300
    assert all(statements[0].operation == 1 for statements in setting)


def test_without_a_dialect_a_variable_is_assigned() -> None:
    rendered = render([SET, TOTAL], SUBJECT)
    assert rendered.lines == ['os.environ["A"] = "1"', "total()"]
    assert rendered.scope.imports() == ["import os", "", "from shop import total"]


SOURCE = """
    import os

    LEVEL = "SHOP_LEVEL"

    def greeting(name: str) -> str:
        if os.getenv("SHOP_LANG") == "de":
            return f"Guten Tag, {name}"
        return f"Hello, {name}"

    def level() -> int:
        return len(os.environ[LEVEL]) if LEVEL in os.environ else 3
"""


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        ("pytest", 'monkeypatch.setenv("SHOP_LANG", "de")'),
        pytest.param(
            "unittest", 'self.enterContext(unittest.mock.patch.dict("os.environ", {"SHOP_LANG": "de"}))', marks=nightly
        ),
    ],
)
def test_a_test_sets_a_variable_for_itself(dialect: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "spoken.py").write_text(textwrap.dedent(SOURCE))
    run = generate(str(tmp_path / "spoken.py"), budget="2000x", output=tmp_path / "tests", format=dialect)
    assert run.suite_path is not None
    assert expected in run.source and '("SHOP_LEVEL", "' in run.source.replace("{", "(").replace(": ", ", ")
    assert run.record["measured"]["branches"]["covered"] == run.record["measured"]["branches"]["total"]
    assert_ruff_accepts(run.suite_path, ["check"])
    assert_ruff_accepts(run.suite_path, ["format", "--check"])
    runner = ["pytest", "-q"] if dialect == "pytest" else ["unittest"]
    done = subprocess.run(
        [sys.executable, "-m", *runner, run.suite_path.name], cwd=run.suite_path.parent, capture_output=True, timeout=60
    )
    assert done.returncode == 0
