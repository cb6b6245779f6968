"""Command lines of click run with words, through click's test runner."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import fitgym
from fitgym.subject.introspection.command_lines import commands_in, is_command_line, runner_of, words_of

click = pytest.importorskip("click")


@click.group()
def root() -> None:
    """All commands."""


@root.command()
@click.argument("name")
@click.option("--times", type=int, default=1)
@click.option("-q", "--quiet", is_flag=True)
def greet(name: str, times: int, quiet: bool) -> None:
    """Greet somebody."""


@root.command("set")
@click.argument("place", type=click.Path())
@click.option("--kind", type=click.Choice(["a", "b"]), required=True)
def set_(place: str, kind: str) -> None:
    """Set something."""


def spelt(command: object) -> set[str]:
    """The tuples of words, a class of words by its name."""
    return {
        " ".join("|".join(word.texts) if word.texts else word.name.rpartition(".")[2] for word in line.args)
        for line in words_of(command).args
    }


def test_each_option_is_tried_alone_and_all_together() -> None:
    times, quiet = "'--times' '3'|'0'|'1'|'-1'|'100'", "'--quiet'"
    assert spelt(greet) == {"str", f"str {times}", f"str {quiet}", f"str {times} {quiet}", ""}


def test_a_group_is_given_the_words_of_its_commands() -> None:
    lines = spelt(root)
    assert "'greet' str" in lines
    assert "'set' 'a'|'a/b.txt'|'missing.txt' '--kind' 'a'|'b'" in lines
    assert list(commands_in(root)) == [greet, set_]


def test_what_is_no_command_line_is_left_alone() -> None:
    assert is_command_line(root) and is_command_line(greet)
    assert not any(map(is_command_line, (print, 3, click.Choice(["a"]), click)))
    assert runner_of(root) == "click.testing"


PROGRAM = '''
import click

@click.group()
def main() -> None:
    """A calculator."""

@main.command()
@click.argument("a", type=int)
@click.argument("b", type=int)
@click.option("--minus", is_flag=True)
def add(a: int, b: int, minus: bool) -> None:
    if b == 0:
        raise click.exceptions.Exit(7)
    click.echo(str(a - b if minus else a + b))
'''


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> fitgym.Run:
    folder = tmp_path_factory.mktemp("calculator")
    (folder / "calculator.py").write_text(PROGRAM)
    return fitgym.generate(
        str(folder / "calculator.py"), goal="coverage", budget="1000x", seed=0, output=folder / "tests"
    )


def test_the_tests_of_a_command_line_run_it_with_words_and_look_at_what_it_prints(run: fitgym.Run) -> None:
    assert "from click.testing import CliRunner" in run.source
    assert 'result = cli_runner.invoke(main, ("add", ' in run.source
    assert "assert result.exit_code == 7" in run.source and "assert result.output == " in run.source
    assert "def test_main_add_" in run.source and '"--minus"' in run.source
    branches = run.record["measured"]["branches"]
    assert branches["covered"] == branches["total"] == 2


def test_they_pass_without_fitgym(run: fitgym.Run) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(run.suite_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(str(run.suite_path)).parent)
    assert done.returncode == 0, done.stdout
