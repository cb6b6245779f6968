"""Levels of the sandbox: their meaning, and the refusal of a level below the required one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fitgym.errors import ExecutionError, InputError
from fitgym.execution.executor import Executor
from fitgym.sandbox import requirement
from fitgym.sandbox.level import REQUIRED, Level, check
from fitgym.sandbox.requirement import reached, required
from fitgym.subject.source import locate

SOURCE = "def f(n: int) -> int:\n    if n > 3:\n        return n\n    return -n\n"


@pytest.mark.parametrize(
    ("landlock", "seccomp", "namespaces", "level"),
    [
        (True, True, True, Level.NAMESPACES),
        (True, True, False, Level.SECCOMP),
        (True, False, True, Level.LANDLOCK),
        (False, True, True, Level.GUARD),
        (False, False, False, Level.GUARD),
    ],
)
def test_a_level_counts_only_above_all_lower_ones(
    landlock: bool, seccomp: bool, namespaces: bool, level: Level
) -> None:
    assert Level.of(landlock=landlock, seccomp=seccomp, namespaces=namespaces) is level


def test_a_level_below_the_required_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REQUIRED, "2")
    check(Level.SECCOMP)
    check(Level.NAMESPACES)
    with pytest.raises(ExecutionError, match="reaches level 1 of 3 on this machine, level 2 is required"):
        check(Level.LANDLOCK)


@pytest.mark.parametrize("text", ["", "4", "-1", "high", " 2"])
def test_what_is_no_level_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(REQUIRED, text)
    with pytest.raises(ExecutionError, match="expected a level of the sandbox from 0 to 3"):
        check(Level.NAMESPACES)


def test_nothing_is_required_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REQUIRED, raising=False)
    check(Level.GUARD)


def test_this_machine_reaches_what_it_reaches() -> None:
    level = reached()
    with required(level):
        assert reached() is level


def test_the_requirement_ends_with_its_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirement, "reached", lambda: Level.SECCOMP)
    monkeypatch.setenv(REQUIRED, "1")
    with required(2):
        assert os.environ[REQUIRED] == "2"
    assert os.environ[REQUIRED] == "1"
    monkeypatch.delenv(REQUIRED)
    with required(1):
        assert os.environ[REQUIRED] == "1"
    with required(0):
        assert REQUIRED not in os.environ
    assert REQUIRED not in os.environ


def test_a_machine_below_the_requirement_is_told_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirement, "reached", lambda: Level.LANDLOCK)
    with pytest.raises(InputError, match="level 3 is required, and this machine reaches level 1 of 3"), required(3):
        raise AssertionError("not reached")


def test_a_worker_refuses_to_run_below_the_requirement(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(SOURCE)
    monkeypatch.setenv(REQUIRED, "9")
    with (
        Executor(locate("plain", str(tmp_path))) as executor,
        pytest.raises(ExecutionError, match="REQUIRE_SANDBOX is '9'"),
    ):
        executor.subject  # noqa: B018  (starts it)


def test_a_program_in_the_sandbox_refuses_to_run_below_the_requirement(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(REQUIRED, "9")
    command = [sys.executable, "-m", "fitgym.sandbox.sandbox", str(tmp_path), "--", "this"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "Zen" not in done.stdout
    assert "expected a level of the sandbox" in done.stderr


def test_existing_tests_run_in_the_sandbox_if_a_level_is_required(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A suite of an earlier run is run first, and imports the subject."""
    from fitgym.run.generation import generate

    if (level := reached()) < Level.SECCOMP:
        pytest.skip("the sandbox does not keep the priority of processes here")
    subject = tmp_path / "eager.py"
    subject.write_text(SOURCE)
    generate(str(subject), goal="coverage", agent="fixed:branch", budget="10g", output=tmp_path / "out")
    attack = f"import os\ntry:\n    os.setpriority(os.PRIO_PROCESS, {os.getpid()}, 1)\nexcept OSError:\n    pass\n"
    subject.write_text(attack + SOURCE)
    before = os.getpriority(os.PRIO_PROCESS, 0)
    monkeypatch.setenv(REQUIRED, str(int(level)))
    run = generate(str(subject), goal="coverage", agent="fixed:branch", budget="10g", output=tmp_path / "out")
    assert run.record["kept"] > 0
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


@pytest.mark.parametrize("level", [4, -1])
def test_the_command_takes_levels_only(level: int, capsys: pytest.CaptureFixture[str]) -> None:
    from fitgym.cli import main

    with pytest.raises(SystemExit) as ended:
        main(["generate", "textwrap", f"--require-sandbox={level}"])
    assert ended.value.code == 2


@pytest.mark.parametrize("project", [False, True], ids=["a module", "a project"])
def test_the_command_refuses_a_machine_below_the_requirement(
    project: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from fitgym.cli import main

    monkeypatch.setattr(requirement, "reached", lambda: Level.LANDLOCK)
    package = tmp_path / "shop"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "prices.py").write_text(SOURCE)
    (tmp_path / "pyproject.toml").write_text("[tool.fitgym]\nrequire-sandbox = 2\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["generate", "shop" if project else "shop/prices.py"])
    assert ended.value.code == 2
    assert "level 2 is required, and this machine reaches level 1" in capsys.readouterr().err
