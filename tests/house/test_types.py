"""The types that users get: those of an installed package, and those of the module in C."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from distributions import built, copied

from fitgym.instrument.factories import missing

pytest.importorskip("mypy", reason="mypy is in the extra dev")

PROGRAM = """
from pathlib import Path

import fitgym
from fitgym.agents.base import Agent, make
from fitgym.run.generation import Progress, Run


def show(progress: Progress) -> None:
    print(progress)


run: Run = fitgym.generate("textwrap", goal="coverage", budget="5s", progress=show, output=Path("tests"))
agent: Agent = make("ucb", 4, seed=3)
version: str = fitgym.__version__
"""

WRONG = """
number: int = fitgym.generate("textwrap")
fitgym.generate(3)
make("ucb")
fitgym.generate("textwrap", output=3)
"""


def checked(*arguments: str, folder: Path) -> str:
    """What mypy, or a tool of it, says."""
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that has only the wheel in it: mypy takes other libraries for Any."""
    folder = tmp_path_factory.mktemp("types")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True, timeout=60)
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    with zipfile.ZipFile(built(copied(folder / "tree"), "wheel", FITGYM_SITES="python")) as wheel:
        wheel.extractall(packages)
    return folder / "venv" / "bin" / "python"


def problems(text: str, python: Path, folder: Path) -> list[tuple[int, str]]:
    """Line and code of each problem that mypy finds in a program."""
    program = folder / "program.py"
    program.write_text(text)
    cache = python.parents[2] / "cache"
    found = checked(
        "mypy", "--strict", "--cache-dir", str(cache), "--python-executable", str(python), program.name, folder=folder
    )
    assert re.search(r"^(Success|Found)", found, flags=re.MULTILINE), found
    return [(int(line), code) for line, code in re.findall(r"program\.py:(\d+): error: .*\[([\w-]+)\]$", found, re.M)]


def test_the_program_of_a_user_passes_the_strict_checks(python: Path, tmp_path: Path) -> None:
    assert problems(PROGRAM, python, tmp_path) == []


def test_a_wrong_use_is_reported_where_it_is(python: Path, tmp_path: Path) -> None:
    first = PROGRAM.count("\n") + 2
    expected = ["assignment", "arg-type", "call-arg", "arg-type"]
    assert problems(PROGRAM + WRONG, python, tmp_path) == list(enumerate(expected, first))


@pytest.mark.skipif(missing() != "", reason=missing())
def test_the_stub_of_the_probes_in_c_agrees_with_the_module(tmp_path: Path) -> None:
    # What the stub imports is of no interest here, and most of the time would go to it.
    (tmp_path / "mypy.ini").write_text("[mypy]\nfollow_imports = skip\n")
    found = checked("mypy.stubtest", "--mypy-config-file", "mypy.ini", "fitgym.instrument._sites", folder=tmp_path)
    assert "Success: no issues found in 1 module" in found, found
