"""The command `fitgym diff`: output and exit codes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from fitgym.cli import main
from fitgym.project.diff import comparison
from fitgym.project.diff.comparison import Compared

GIT = ("git", "-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
CODE = "def double(x: int) -> int:\n    return 2 * x\n"
BUDGET = ("--budget", "100x")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with a package of two modules."""
    (tmp_path / "shop").mkdir()
    for name, text in {"__init__": "", "a": CODE, "b": CODE}.items():
        (tmp_path / "shop" / f"{name}.py").write_text(text)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*GIT, *command], cwd=tmp_path, check=True)
    return tmp_path


def ended(*arguments: str) -> int:
    """The exit code of the command."""
    with pytest.raises(SystemExit) as end:
        main(["diff", *arguments])
    return int(end.value.code or 0)


def test_nothing_changed_ends_with_0(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("HEAD", str(shop)) == 0
    assert capsys.readouterr() == ("no code changed since HEAD in 2 modules\n", "")


def test_a_refactoring_ends_with_0_and_counts_the_tests(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / "shop" / "a.py").write_text(CODE.replace("2 * x", "x + x"))
    assert ended("HEAD", str(shop), *BUDGET, "--quiet") == 0
    out, err = capsys.readouterr()
    assert out.startswith("no difference found; ") and out.endswith(" agree on 1 of 1 changed function\n") and not err


def test_a_difference_ends_with_1_and_names_both_outcomes(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / "shop" / "a.py").write_text(CODE.replace("2 * x", "x + 2"))
    assert ended("HEAD", str(shop), *BUDGET) == 1
    out, err = capsys.readouterr()
    first = out.splitlines()
    assert first[0] == "shop.a: double" and first[1].startswith("    double(")
    assert first[2].startswith("        before: ") and first[3].startswith("        now:    ")
    assert err.splitlines() == ["reading HEAD from git", "comparing shop.a"]


def test_a_module_that_is_gone_ends_with_1(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / "shop" / "b.py").unlink()
    assert ended("HEAD", str(shop)) == 1
    assert "shop.b: the module was removed" in capsys.readouterr().out


def test_the_record_goes_to_a_file_or_to_stdout(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / "shop" / "a.py").write_text(CODE.replace("2 * x", "x + 2"))
    assert ended("HEAD", str(shop), *BUDGET, "--json", "-", "--quiet") == 1
    shown = json.loads(capsys.readouterr().out)
    assert ended("HEAD", str(shop), *BUDGET, "--json", str(shop / "found.json"), "--quiet") == 1
    written = json.loads((shop / "found.json").read_text())
    assert shown == written
    assert [one["name"] for one in written["modules"]] == ["shop.a"]
    assert {one["function"] for one in written["modules"][0]["differences"]} == {"double"}


def test_only_and_exclude_choose_modules(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        (shop / "shop" / f"{name}.py").write_text(CODE.replace("2 * x", "x + 2"))
    assert ended("HEAD", str(shop), *BUDGET, "--only", "shop.b") == 1
    assert "shop.a" not in capsys.readouterr().out
    assert ended("HEAD", str(shop), *BUDGET, "--exclude", "shop.b") == 1
    assert "shop.b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope"], "'nope' is not a commit of the repository"),
        (["HEAD", "--budget", "3m"], "budget '3m' cannot be read"),
        (["HEAD", "--only", "x"], "--only 'x' matches no module"),
        (["HEAD", "--json", "-x"], "--json is followed by '-x'"),
        (["HEAD", "--seed", "-1"], "seed -1 is negative"),
        (["HEAD", "--output", "pyproject.toml"], "'pyproject.toml' is a file"),
    ],
)
def test_bad_input_ends_with_2_and_one_sentence(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(shop)
    (shop / "pyproject.toml").touch()
    assert ended(*arguments) == 2
    out, err = capsys.readouterr()
    assert message in err and err.count("\n") == 1 and not out


def test_a_project_without_a_repository_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text(CODE)
    assert ended("HEAD", str(tmp_path)) == 2
    assert "is not in a git repository" in capsys.readouterr().err


def test_an_installed_package_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("HEAD", "cyclopts") == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_an_interruption_keeps_what_was_compared(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (shop / "shop" / f"{name}.py").write_text(CODE.replace("2 * x", "x + 2"))

    def of_module(request: object, edited: comparison.Edited, *_: object) -> Compared:
        if edited.module.name == "shop.b":
            raise KeyboardInterrupt
        return Compared(edited)

    monkeypatch.setattr(comparison, "_of_module", of_module)
    assert ended("HEAD", str(shop)) == 130
    assert "not compared because of the interruption: shop.b" in capsys.readouterr().out
