"""Flags: every option of an environment is a flag of the commands, and only given flags are passed on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cyclopts import App

from fitgym.commands.flags import options_from, with_options
from fitgym.errors import InputError
from fitgym.run.setting import FitnessOptions, defaults


def given(*arguments: str) -> dict[str, Any]:
    """The options that a command with these arguments is called with."""
    found: dict[str, Any] = {}
    app = App()

    @app.default
    @with_options("path", "budget")
    def command(*, seed: int = 0, options: Mapping[str, Any]) -> int:
        found.update(options, seed=seed)
        return 0

    app(list(arguments), exit_on_error=False, result_action="return_value")
    return found


def test_only_what_was_given_is_passed_on() -> None:
    assert given() == {"seed": 0}
    assert given("--population", "5", "--seed", "3") == {"population": 5, "seed": 3}


def test_values_have_the_type_of_their_option() -> None:
    assert given("--smart")["smart"] is True and given("--no-smart")["smart"] is False
    assert given("--functions", "branch,line")["functions"] == "branch,line"
    assert given("--actions", '["branch", "line"]')["actions"] == ("branch", "line")
    assert given("--variants", '{"diversity": {"last_two": true}}')["variants"] == {"diversity": {"last_two": True}}
    assert given("--search", "7")["search"] == "7"


def test_any_other_option_is_json_or_text() -> None:
    found = options_from(["horizon=20", 'searches=["mosa","mio"]', "fitness=branch", "population=3"])
    assert found == {"horizon": 20, "searches": ["mosa", "mio"], "fitness": "branch", "population": 3}


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("horizon", "--option is followed by 'horizon'; expected NAME=VALUE such as horizon=20"),
        ("=3", "--option is followed by '=3'"),
        ("population=many", "population is 'many', expected a whole number of at least 1"),
    ],
)
def test_a_wrong_option_is_refused_in_one_sentence(pair: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        options_from([pair])


@pytest.mark.parametrize("command", ["generate", "train", "evaluate"])
def test_every_option_stands_in_the_help(command: str) -> None:
    done = subprocess.run([sys.executable, "-m", "fitgym", command, "--help"], capture_output=True, text=True)
    for name in defaults(FitnessOptions):
        assert f"--{name.replace('_', '-')} " in done.stdout or name == "timeout_s", name


def test_an_option_that_the_environment_does_not_have_is_bad_input(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fitgym", "evaluate", "ucb", "--env", "fitgym/Toy-v0", "--search", "mio"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and "named 'search'" in done.stderr and "horizon" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--option", "goal=coverage", "--goal", "exceptions"],
            "--option goal repeats a value that has its own flag; use only --goal",
        ),
        (["--option", "seed=3"], "--option seed repeats a value that has its own flag"),
        (["--option", "subject=html"], "--option subject repeats a value that has its own flag"),
        (["-o", "horizon=5", "-o", "horizon=6"], "--option horizon is given twice"),
    ],
)
def test_an_option_is_given_once(arguments: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        given(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "render_mode=human"], "'render_mode' is not an option of an environment"),
        (["-o", "executor=1"], "--option executor repeats a value that has its own flag; use only --executor"),
        (["--actions", "[]"], "the list of actions is empty"),
        (["--records", "."], "'.' is a folder, expected the name of a file"),
        (["--env", "CartPole-v1", "--records", "runs.jsonl"], "environment 'CartPole-v1' keeps no records"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "fitgym", "evaluate", "uniform", "--seeds", "1", *arguments]
    subjects = [] if "CartPole-v1" in arguments else ["--subjects", "colorsys,"]
    done = subprocess.run([*command, *subjects], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and list(tmp_path.iterdir()) == []


def test_where_a_command_has_no_executor_of_its_own_that_of_the_environment_is_no_option(tmp_path: Path) -> None:
    arguments = [sys.executable, "-m", "fitgym", "generate", "colorsys", "-o", "executor=1"]
    done = subprocess.run(arguments, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and "'executor' is not an option of an environment" in done.stderr, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and list(tmp_path.iterdir()) == []
