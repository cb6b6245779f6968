"""What a release checks before it tags, and the list of versions of the documentation."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def tool(name: str) -> Any:
    """A script of the folder tools as a module."""
    spec = importlib.util.spec_from_file_location(f"tool_{name}", ROOT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


release, versions, installed = tool("release"), tool("versions"), tool("installed")

CHANGELOG = """# Changes

## 1.2.0 (2026-01-31)

- Second.

## 1.1.0 (2025-06-30)

- First.
"""


def git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=Someone", "-c", "user.email=someone@example.org")
    done = subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that can be released as 1.2.0."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Someone")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "someone@example.org")
    root = tmp_path / "project"
    (root / "fitgym").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[project]\nversion = "1.2.0"\n')
    (root / "fitgym" / "__init__.py").write_text('__version__ = "1.2.0"\n')
    (root / "CITATION.cff").write_text("version: 1.2.0\n")
    (root / "CHANGELOG.md").write_text(CHANGELOG)
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "start")
    return root


def changed(root: Path, name: str, old: str, new: str) -> list[str]:
    """The problems after a change that is committed."""
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new))
    git(root, "commit", "--quiet", "--all", "--message", "change")
    problems: list[str] = release.problems(root, release.version_of(root))
    return problems


def test_a_project_that_is_ready_has_no_problems(project: Path) -> None:
    assert release.problems(project, "1.2.0") == []


def test_files_that_are_not_committed_are_named(project: Path) -> None:
    for name in ("a", "b", "c", "d"):
        (project / name).touch()
    expected = "4 files differ from the last commit (a, b, c, ...); commit or remove them"
    assert release.problems(project, "1.2.0") == [expected]


def test_a_version_is_released_once(project: Path) -> None:
    git(project, "tag", "v1.2.0")
    assert release.problems(project, "1.2.0") == ["tag v1.2.0 exists already; raise the version in pyproject.toml"]


@pytest.mark.parametrize("name", ["fitgym/__init__.py", "CITATION.cff"])
def test_another_version_elsewhere_is_named(project: Path, name: str) -> None:
    (problem,) = changed(project, name, "1.2.0", "1.1.0")
    assert problem.startswith(f"{name} has another version than pyproject.toml; expected the line")


def test_a_version_without_an_entry_is_not_released(project: Path) -> None:
    (problem,) = changed(project, "CHANGELOG.md", "## 1.2.0", "## 1.2.1")
    assert problem.startswith("CHANGELOG.md says nothing about 1.2.0")


@pytest.mark.parametrize("text", ["(unreleased)", "(2026-02-31)", ""])
def test_an_entry_needs_a_date(project: Path, text: str) -> None:
    (problem,) = changed(project, "CHANGELOG.md", "(2026-01-31)", text)
    assert "is no date; expected one such as (2026-01-31)" in problem


def test_a_version_that_is_no_release_is_named(project: Path) -> None:
    for name in ("fitgym/__init__.py", "CITATION.cff", "CHANGELOG.md"):
        changed(project, name, "1.2.0", "1.2.dev0")
    (problem,) = changed(project, "pyproject.toml", "1.2.0", "1.2.dev0")
    assert problem.startswith("version '1.2.dev0' in pyproject.toml is no release")


def test_an_entry_ends_where_the_next_one_begins(project: Path) -> None:
    assert release.entry(project, "1.2.0") == ("2026-01-31", "- Second.")
    assert release.entry(project, "1.1.0") == ("2025-06-30", "- First.")
    assert release.entry(project, "1.2") == ("", "")


def test_a_release_tags_the_commit_with_its_changes(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(release, "steps", lambda docs: [["true"]])
    release.release(project, Path("versions"))
    assert (
        git(project, "tag", "--list", "--format=%(objecttype) %(contents)").strip() == "tag fitgym 1.2.0\n\n- Second."
    )
    assert "git push origin v1.2.0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (["false"], "`false` failed, so 1.2.0 was not tagged"),
        (["touch", "left"], "1 files differ from the last commit"),
    ],
)
def test_a_release_that_fails_tags_nothing(
    project: Path, command: list[str], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "steps", lambda docs: [command])
    with pytest.raises(SystemExit, match=re.escape(problem)):
        release.release(project, Path("versions"))
    assert git(project, "tag") == ""


def test_the_steps_are_targets_of_the_makefile() -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), flags=re.MULTILINE)
    for command in release.steps(Path("versions")):
        assert command[1] in targets if command[0] == "make" else (ROOT / command[1]).is_file()


def test_the_distributions_are_tried_with_each_supported_python() -> None:
    classifiers = re.findall(
        r'"Programming Language :: Python :: (3\.\d+)"', (ROOT / "pyproject.toml").read_text("utf-8")
    )
    assert list(installed.VERSIONS) == classifiers


def test_a_folder_without_distributions_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert installed.main([str(tmp_path)]) == 1
    assert f"'{tmp_path}' has no distribution of fitgym; run `make wheels` first" in capsys.readouterr().err


def test_a_python_that_is_not_there_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert not installed.tried("3.99", [])
    assert "Python 3.99 is not installed" in capsys.readouterr().out


def test_the_python_in_use_is_found() -> None:
    python = installed.interpreter(f"{sys.version_info.major}.{sys.version_info.minor}")
    assert python is None or python.is_file()


# The documentation of all versions


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("the site")
    return tmp_path / "site"


def links(folder: Path) -> list[str]:
    """Where the list of versions leads, and what it says about each."""
    return re.findall(r'<li><a href="([\w./]+)/index.html">.*<small>(\w*)</small>', (folder / "index.html").read_text())


def test_versions_are_listed_with_the_newest_first(site: Path, tmp_path: Path) -> None:
    for version in ("0.9.0", "0.10.0", "1.0.0rc1", "0.1.0"):
        versions.add(site, tmp_path / "all", version)
    assert links(tmp_path / "all") == [("1.0.0rc1", "preview"), ("0.10.0", "latest"), ("0.9.0", ""), ("0.1.0", "")]
    assert (tmp_path / "all" / "0.9.0" / "index.html").read_text() == "the site"


def test_a_release_comes_after_its_previews(site: Path, tmp_path: Path) -> None:
    for version in ("1.0.0", "1.0.0rc2", "1.0.0b3"):
        versions.add(site, tmp_path, version)
    assert versions.versions(tmp_path) == ["1.0.0", "1.0.0rc2", "1.0.0b3"]


def test_a_version_that_is_built_again_replaces_its_folder_only(site: Path, tmp_path: Path) -> None:
    versions.add(site, tmp_path / "all", "0.1.0")
    (tmp_path / "all" / "0.1.0" / "old.html").touch()
    (tmp_path / "all" / "CNAME").write_text("example.org")
    versions.add(site, tmp_path / "all", "0.1.0")
    assert [path.name for path in (tmp_path / "all" / "0.1.0").iterdir()] == ["index.html"]
    assert (tmp_path / "all" / "CNAME").read_text() == "example.org"


def test_a_folder_is_never_named_after_what_is_no_version(site: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"version '\.\.' is no release; expected numbers such as"):
        versions.add(site, tmp_path / "all", "..")
    assert not (tmp_path / "all").exists()
