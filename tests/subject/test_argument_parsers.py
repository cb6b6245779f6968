"""Command lines: which words a parser accepts, who reads them, and how tests set them."""

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
from fitgym.subject.introspection.argument_parsers import accepted, parsed, reads
from fitgym.subject.types.hints import Hint


def tree(body: str) -> ast.Module:
    return ast.parse("def build():\n" + textwrap.indent(textwrap.dedent(body), "    "))


def spelt(lines: tuple[tuple[Hint, ...], ...]) -> list[str]:
    """The words of each line; a class of words by its name."""
    return [" ".join("|".join(w.texts).replace("'", "") or w.name.rpartition(".")[2] for w in line) for line in lines]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("p.add_argument('name')", ["str", ""]),
        ("p.add_argument('-v', '--verbose', action='store_true')", ["", "--verbose"]),
        ("p.add_argument('--size', type=int)", ["", "--size 3|0|1|-1|100"]),
        ("p.add_argument('--kind', choices=['a', 'b'], required=True)", ["--kind a|b"]),
        ("p.add_argument('--kind', choices=KINDS)", ["", "--kind c|d"]),
        ("p.add_argument('--source', type=Path)", ["", "--source fspath"]),
        ("p.add_argument('infile')", ["fspath", ""]),
        ("p.add_argument('infile', type=argparse.FileType('r'))", ["fspath", ""]),
        ("p.add_argument('point', nargs=2, type=float)", ["0.5|0|3|-1.5 0.5|0|3|-1.5", "0.5|0|3|-1.5"]),
        ("p.add_argument('--version', action='version', version='1')", []),
        ("p.add_argument('-a')\np.add_argument('-b', action='count')", ["", "-a str", "-b", "-a str -b"]),
        ("p.add_option('-n', '--number', type='int', dest='n')", ["", "--number 3|0|1|-1|100"]),
        ("p.add_argument(*names)\np.add_argument(name)", []),
        ("p.add_argument_group('more').add_argument('--deep')", ["", "--deep str"]),
    ],
)
def test_a_parser_accepts_what_its_description_says(body: str, expected: list[str]) -> None:
    module = tree(body)
    module.body.insert(0, ast.parse("KINDS = ('c', 'd')").body[0])
    assert spelt(accepted(module)) == expected


COMMANDS = """
    parser = argparse.ArgumentParser()
    parser.add_argument("--debug", action="store_true")
    commands = parser.add_subparsers()
    add = commands.add_parser("add")
    group = add.add_mutually_exclusive_group()
    group.add_argument("--front", action="store_true")
    add.add_argument("item")
    show = commands.add_parser("show")
"""


def test_each_subcommand_has_its_own_words() -> None:
    lines = spelt(accepted(tree(COMMANDS)))
    assert lines == ["add str", "add str --front", "add", "show", "", "--debug"]


def test_parsers_of_the_same_name_in_two_functions_are_two() -> None:
    add = "p = commands.add_parser('add')\np.add_argument('item')"
    show = "p = commands.add_parser('show')\np.add_argument('--all', action='store_true')"
    functions = [f"def {name}(commands):\n{textwrap.indent(body, '    ')}" for name, body in (("a", add), ("b", show))]
    assert spelt(accepted(ast.parse("\n".join(functions)))) == ["add str", "add", "show", "show --all", ""]


def test_the_number_of_lines_is_limited() -> None:
    assert len(accepted(tree("\n".join(f"p.add_argument('--o{n}')" for n in range(100))))) == 40


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("parse_args(argv)", {"argv": 0}),
        ("parse_known_args(args=argv)", {"argv": 0}),
        ("parse_args(argv or sys.argv[1:])", {"argv": 0}),
        ("parse_args(argv[1:])", {"argv": 1}),
        ("parse_args(argv[2:])", {}),
        ("parse_args(['a'])", {}),
        ("parse_args()", {}),
        ("format_help(argv)", {}),
    ],
)
def test_the_words_of_a_parser_may_be_a_parameter(call: str, expected: dict[str, int]) -> None:
    assert parsed(tree(f"return parser.{call}")) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("p.add_argument('-v')\nreturn p.parse_args()", ["", "-v str"]),
        ("p.add_argument('-v')\nreturn p.parse_args(argv)", ["", "-v str"]),
        ("p.add_argument('-v')\nreturn p.parse_args(['-v', '3'])", []),
        ("p.add_argument('-v')\nreturn p", []),
        ("return p.parse_args()", []),
        ("return sys.argv[1:]", ["", "str", "fspath", "str str"]),
        ("return argv[1:]", []),
    ],
)
def test_a_function_may_read_the_command_line_itself(body: str, expected: list[str]) -> None:
    module = tree(body)
    assert spelt(reads(module, accepted(module))) == expected


def test_what_is_read_at_import_is_left_alone() -> None:
    assert reads(ast.parse("import sys\nNAME = sys.argv[0]"), ()) == ()


SOURCE = '''
    """Greets people."""

    import argparse
    import sys

    def main(argv=None):
        parser = argparse.ArgumentParser()
        parser.add_argument("name")
        parser.add_argument("--count", type=int, default=1)
        parser.add_argument("--lang", choices=["en", "de"], default="en")
        parser.add_argument("--loud", action="store_true")
        args = parser.parse_args(argv)
        text = f"{'Hallo' if args.lang == 'de' else 'Hello'}, {args.name}!"
        if args.count > 2:
            return 2
        print(text.upper() if args.loud else text)
        return 0

    def shown() -> str:
        if len(sys.argv) < 2:
            return "usage"
        if sys.argv[1] == "--version":
            return "greet 1.0"
        return "other"
'''


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        ("pytest", 'monkeypatch.setattr("sys.argv", ["greet"'),
        pytest.param("unittest", 'self.enterContext(unittest.mock.patch("sys.argv", ["greet"', marks=nightly),
    ],
)
@nightly
def test_a_test_has_a_command_line_of_its_own(dialect: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "greet.py").write_text(textwrap.dedent(SOURCE))
    run = generate(str(tmp_path / "greet.py"), budget="3000x", output=tmp_path / "tests", format=dialect)
    assert run.suite_path is not None
    assert expected in run.source and '"--version"' in run.source and 'main(argv=["' in run.source
    assert run.record["measured"]["branches"]["covered"] == run.record["measured"]["branches"]["total"]
    assert_ruff_accepts(run.suite_path, ["check"])
    assert_ruff_accepts(run.suite_path, ["format", "--check"])
    runners = [["pytest"], ["pytest", "-q", "-x"]] if dialect == "pytest" else [["unittest"], ["unittest", "-v"]]
    for runner in runners:
        done = subprocess.run(
            [sys.executable, "-m", *runner, run.suite_path.name],
            cwd=run.suite_path.parent,
            capture_output=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stdout
