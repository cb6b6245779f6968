"""[tool.fitgym]: options for projects, and the section that `fitgym init` writes."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from cyclopts import App

from fitgym.commands.configuration import Configuration
from fitgym.commands.init import init, section
from fitgym.errors import InputError


def given(folder: Path, monkeypatch: pytest.MonkeyPatch, toml: str, *arguments: str) -> dict[str, Any]:
    """The arguments of a command where pyproject.toml has a section with that text."""
    (folder / "pyproject.toml").write_text(f"[tool.fitgym]\n{toml}\n")
    monkeypatch.chdir(folder)
    found: dict[str, Any] = {}
    app = App()

    @app.command(config=Configuration(["budget", "jobs", "only", "output", "smart", "functions", "elsewhere"]))
    def generate(
        *,
        budget: str = "60s",
        jobs: int = 1,
        only: tuple[str, ...] = (),
        output: Path | None = None,
        smart: bool = False,
        functions: str | None = None,
    ) -> None:
        found.update(budget=budget, jobs=jobs, only=only, output=output, smart=smart, functions=functions)

    app(["generate", *arguments], exit_on_error=False, print_error=False, result_action="return_value")
    return found


@pytest.mark.parametrize(
    ("toml", "name", "value"),
    [
        ('budget = "9s"', "budget", "9s"),
        ("jobs = 2", "jobs", 2),
        ('only = ["shop.*", "till"]', "only", ("shop.*", "till")),
        ("smart = true", "smart", True),
        ('functions = ["line", "branch"]', "functions", '["line", "branch"]'),
        ("elsewhere = 3", "jobs", 1),
        ("", "budget", "60s"),
    ],
)
def test_an_option_comes_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toml: str, name: str, value: object
) -> None:
    assert given(tmp_path, monkeypatch, toml)[name] == value


def test_the_command_line_counts_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = given(tmp_path, monkeypatch, 'budget = "9s"\njobs = 2', "--jobs", "3")
    assert (found["budget"], found["jobs"]) == ("9s", 3)


def test_paths_start_from_the_folder_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given(tmp_path, monkeypatch, 'output = "checks"')
    (tmp_path / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "down")
    found: dict[str, Any] = {}
    app = App()

    @app.default
    def generate(*, output: Path | None = None) -> None:
        found["output"] = output

    app.config = (Configuration(["output"]),)
    app([], exit_on_error=False, print_error=False, result_action="return_value")
    assert found["output"] == Path("../../checks")


def test_a_command_does_not_take_what_means_something_else_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.fitgym]\noutput = "checks"\nseed = 3\n')
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    app = App(config=Configuration(["output", "seed"], without=["output"]))

    @app.default
    def report(*, output: Path = Path("page.html"), seed: int = 0) -> None:
        found.update(output=output, seed=seed)

    app([], exit_on_error=False, print_error=False, result_action="return_value")
    assert found == {"output": Path("page.html"), "seed": 3}


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("budgett = 3", r"has no option 'budgett'; did you mean 'budget'\?"),
        ("xyz = 3", "has no option 'xyz'; `fitgym generate --help` lists the options"),
        ("= 3", "cannot be read"),
    ],
)
def test_mistakes_in_the_file_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toml: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        given(tmp_path, monkeypatch, toml)


def test_a_section_that_is_no_table_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\nfitgym = 3\n")
    with pytest.raises(InputError, match="is 3, expected a table"):
        init(tmp_path)


def test_init_writes_every_option_as_a_comment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"')
    init(tmp_path)
    text = (tmp_path / "pyproject.toml").read_text()
    assert text.startswith('[project]\nname = "shop"\n\n[tool.fitgym]\n')
    assert tomllib.loads(text)["tool"]["fitgym"] == {}
    options = "\n".join(line[2:] for line in text.split("\n") if line.startswith("# ") and " = " in line)
    known = tomllib.loads(options)
    assert {"budget", "jobs", "goal", "population", "only"} <= set(known) and known["population"] == 50
    assert "added [tool.fitgym]" in capsys.readouterr().out


def test_init_leaves_a_section_alone(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.fitgym]\njobs = 2\n")
    with pytest.raises(InputError, match="has a section"):
        init(tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        init(tmp_path / "missing")


def test_every_option_has_a_help() -> None:
    from fitgym.commands.generate import generate

    lines = section(generate).split("\n")
    for at, line in enumerate(lines):
        if line.startswith("# ") and " = " in line and line[2:].split(" = ")[0].isidentifier():
            assert lines[at - 1].startswith("# "), f"{line} has no help"


def test_a_mistake_ends_the_command_with_2(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.fitgym]\ngoals = 'coverage'\n")
    done = subprocess.run(
        [sys.executable, "-m", "fitgym", "generate", "colorsys"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2 and "has no option 'goals'; did you mean 'goal'?" in done.stderr
