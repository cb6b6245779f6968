"""Revisions: git's data about an earlier version."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from fitgym.errors import InputError
from fitgym.project.diff.revision import revision

GIT = ("git", "-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str) -> str:
    """What git writes."""
    return subprocess.run([*GIT, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def committed(folder: Path, **files: str) -> Path:
    """A repository with one commit of some Python files."""
    git(folder, "init", "-q")
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def test_a_commit_is_found_by_any_of_its_names(tmp_path: Path) -> None:
    committed(tmp_path, a="x = 1\n")
    git(tmp_path, "tag", "v1")
    commit = git(tmp_path, "rev-parse", "HEAD").strip()
    assert {revision(text, tmp_path).commit for text in ("HEAD", "v1", commit, commit[:8], "@")} == {commit}


@pytest.mark.parametrize("text", ["nowhere", "HEAD~9", "", " ", "--help", "-p", "HEAD:a.py", "a..b", "$(x)", "\u2603"])
def test_what_names_no_commit_is_refused(tmp_path: Path, text: str) -> None:
    committed(tmp_path, a="x = 1\n")
    with pytest.raises(InputError, match="is not a commit of the repository"):
        revision(text, tmp_path)


def test_a_folder_without_a_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not in a git repository"):
        revision("HEAD", tmp_path)


def test_a_repository_without_a_commit_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with pytest.raises(InputError, match="'HEAD' is not a commit"):
        revision("HEAD", tmp_path)


def test_a_machine_without_git_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="git is not installed"):
        revision("HEAD", tmp_path)


def test_the_working_tree_differs_by_edits_renames_and_removals(tmp_path: Path) -> None:
    long = "".join(f"def f{number}():\n    return {number}\n" for number in range(20))
    committed(tmp_path, same="x = 1\n", edited="x = 1\n", moved=long, gone="x = 1\n")
    (tmp_path / "edited.py").write_text("x = 22\n")
    git(tmp_path, "mv", "moved.py", "new_place.py")
    (tmp_path / "gone.py").unlink()
    (tmp_path / "untracked.py").write_text("x = 3\n")
    found = revision("HEAD", tmp_path)
    assert found.files() == {"same.py", "edited.py", "moved.py", "gone.py"}
    assert found.edited() == {"edited.py", "moved.py", "new_place.py", "gone.py", "untracked.py"}
    assert dict(found.renamed()) == {"new_place.py": "moved.py"}
    assert found.read("edited.py") == b"x = 1\n"


def test_a_renamed_file_is_found_before_it_is_added(tmp_path: Path) -> None:
    committed(tmp_path, shop="def price():\n    return 12\n" * 5, other="x = 1\n")
    (tmp_path / "shop.py").rename(tmp_path / "till.py")
    (tmp_path / "new.py").write_text("y = 2\n")
    before = (
        git(tmp_path, "status", "--porcelain"),
        git(tmp_path, "count-objects"),
        (tmp_path / ".git/index").read_bytes(),
    )
    found = revision("HEAD", tmp_path)
    assert dict(found.renamed()) == {"till.py": "shop.py"}
    assert found.edited() == {"shop.py", "till.py", "new.py"}
    after = (
        git(tmp_path, "status", "--porcelain"),
        git(tmp_path, "count-objects"),
        (tmp_path / ".git/index").read_bytes(),
    )
    assert after == before


def test_a_work_tree_without_python_files_has_nothing_to_add(tmp_path: Path) -> None:
    committed(tmp_path, a="x = 1\n")
    (tmp_path / "a.py").unlink()
    assert revision("HEAD", tmp_path).edited() == {"a.py"}


def test_odd_file_names_are_read_as_they_are(tmp_path: Path) -> None:
    committed(tmp_path, **{"a b": "x = 1\n", 'quo"te': "x = 1\n", "é": "x = 1\n", "*": "x = 1\n"})
    (tmp_path / "*.py").write_text("x = 2000\n")
    found = revision("HEAD", tmp_path)
    assert found.files() == {"a b.py", 'quo"te.py', "é.py", "*.py"}
    assert found.edited() == {"*.py"}


def test_a_checkout_has_the_commit_and_changes_nothing_of_the_repository(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    committed(top, a="x = 1\n", b="y = 1\n")
    (top / "a.py").write_text("x = 2\n")
    git(top, "add", "a.py")
    before = git(top, "status", "--porcelain"), (top / ".git" / "index").read_bytes()
    target = tmp_path / "tree"
    target.mkdir()
    revision("HEAD", top).checkout(target)
    assert {file.name: file.read_text() for file in target.iterdir()} == {"a.py": "x = 1\n", "b.py": "y = 1\n"}
    assert (git(top, "status", "--porcelain"), (top / ".git" / "index").read_bytes()) == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["top", "tree"]


def test_a_checkout_takes_along_ignored_files_of_packages_only(tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "shop").mkdir(parents=True)
    (top / ".gitignore").write_text("_version.py\n*.log\nbuild/\n")
    (top / "shop" / "__init__.py").write_text("from shop._version import version\n")
    committed(top)
    (top / "shop" / "_version.py").write_text("version = '1'\n")
    (top / "shop" / "debug.log").write_text("")
    (top / "build").mkdir()
    (top / "build" / "copy.py").write_text("")
    (top / "shop" / "untracked.py").write_text("")
    target = tmp_path / "tree"
    target.mkdir()
    revision("HEAD", top).checkout(target)
    assert sorted(file.name for file in target.rglob("*.py")) == ["__init__.py", "_version.py"]


def test_variables_of_a_hook_do_not_lead_to_another_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, other = tmp_path / "ours", tmp_path / "other"
    for folder in (ours, other):
        folder.mkdir()
        committed(folder, **{folder.name: "x = 1\n"})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", os.devnull)
    assert revision("HEAD", ours).files() == {"ours.py"}
