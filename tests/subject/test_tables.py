"""Tables of literals: analyses read their first items, and the code is unchanged."""

import ast

import pytest

from fitgym.instrument.recorder import Recorder
from fitgym.instrument.rewriting.transformer import instrument
from fitgym.subject.code.constants import constants
from fitgym.subject.code.syntax import parse
from fitgym.subject.code.tables import MOST_NODES, abridge, is_table


@pytest.mark.parametrize("text", ["[1, 'a', None]", "{'a': [1, {2, 3}], 'b': (-1, +2.5)}", "()", "{}"])
def test_a_display_of_literals_is_a_table(text):
    assert is_table(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    "text", ["[1, x]", "{'a': f()}", "{**{}, 'a': x}", "[*'ab']", "[not 1]", "'a'", "1", "[1 < 2]"]
)
def test_other_expressions_are_no_tables(text):
    assert not is_table(ast.parse(text, mode="eval").body)


def test_a_target_is_no_table():
    (statement,) = ast.parse("[] = x").body
    assert not is_table(statement.targets[0])


def test_a_short_table_stays_as_it_is():
    text = f"x = {list(range(1000))!r}"
    assert ast.dump(parse(text)) == ast.dump(ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        repr(list(range(20_000))),
        repr({number: [number] for number in range(20_000)}),
        repr([list(range(20_000))]),
        f"f({tuple(range(20_000))!r}, key=3)",
    ],
    ids=["list", "dictionary", "one long row", "inside a call"],
)
def test_of_a_long_table_the_first_items_are_seen(text):
    tree = ast.parse(text, mode="eval")
    abridge(tree)
    seen = sum(not isinstance(node, ast.expr_context) for node in ast.walk(tree))
    assert 0.9 * MOST_NODES < seen < MOST_NODES + 10
    ast.unparse(tree)
    assert "1" in constants(ast.parse(ast.unparse(tree)))


def test_the_code_of_a_module_has_its_long_tables_whole():
    source = f"x = {list(range(20_000))!r}\ny = {{n: str(n) for n in (1, 2)}}\n"
    instrumented = instrument(source, "tiny.py")
    namespace = {}
    exec(instrumented.code(Recorder(instrumented.plan.sites).probe), namespace)
    assert len(namespace["x"]) == 20_000


def test_a_number_that_python_does_not_write_is_no_constant():
    tree = ast.parse(f"x = 0x{'f' * 20_000}\ny = -0x{'f' * 20_000}\nz = 0x{'f' * 20}")
    assert constants(tree) == (str(int("f" * 20, 16)),)
