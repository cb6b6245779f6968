"""Versions: the modules of a project that differ from a commit."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from fitgym.errors import InputError
from fitgym.project.diff.revision import revision
from fitgym.project.diff.versions import Versions, versions
from fitgym.project.layout import find

GIT = ("git", "-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
DOUBLE = "def double(x: int) -> int:\n    return 2 * x\n"
MANY = "".join(f"def f{number}(x: int) -> int:\n    return x + {number}\n" for number in range(20))


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write files, with their folders."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def project(folder: Path, **files: str) -> Path:
    """A repository with a package `shop`; keywords are its modules, two underscores for a folder."""
    write(folder, {"shop/__init__.py": "", **{f"shop/{n.replace('__', '/')}.py": text for n, text in files.items()}})
    commit(folder, "init", "-q")
    return folder


def commit(folder: Path, *first: str) -> None:
    """Commit everything."""
    for command in ([*first] if first else ["status"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*GIT, *command], cwd=folder, check=True, capture_output=True)


def since(folder: Path, text: str = "HEAD", *, place: str = "", callers: bool = False) -> Versions:
    """What became of the modules of the project since a commit."""
    found = find(str(folder / place))
    return versions(found, revision(text, found.source), callers=callers)


def test_nothing_changed(tmp_path: Path) -> None:
    assert since(project(tmp_path, a=DOUBLE, b=DOUBLE)) == Versions((), (), (), 2)


def test_a_comment_is_no_change(tmp_path: Path) -> None:
    project(tmp_path, a=DOUBLE)
    write(tmp_path, {"shop/a.py": "# twice\n" + DOUBLE})
    assert since(tmp_path) == Versions((), (), (), 1)


def test_edited_new_and_removed_modules_are_told_apart(tmp_path: Path) -> None:
    project(tmp_path, a=DOUBLE, b=MANY, c=DOUBLE, test_c=DOUBLE)
    write(
        tmp_path,
        {"shop/a.py": DOUBLE.replace("2", "3"), "shop/new.py": "def new(text: str) -> str:\n    return text\n"},
    )
    for name in ("b", "test_c"):
        (tmp_path / "shop" / f"{name}.py").unlink()
    found = since(tmp_path)
    assert [(one.module.name, one.edits.changed, one.problem) for one in found.edited] == [("shop.a", ("double",), "")]
    assert (found.added, found.removed, found.unchanged) == (("shop.new",), ("shop.b",), 1)


def test_staged_and_committed_changes_count_like_others(tmp_path: Path) -> None:
    project(tmp_path, a=DOUBLE, b=DOUBLE, c=DOUBLE)
    write(tmp_path, {"shop/a.py": DOUBLE.replace("2", "3")})
    commit(tmp_path)
    write(tmp_path, {"shop/b.py": DOUBLE.replace("2", "3")})
    subprocess.run([*GIT, "add", "-A"], cwd=tmp_path, check=True)
    assert [one.module.name for one in since(tmp_path, "HEAD~1").edited] == ["shop.a", "shop.b"]


def test_a_renamed_module_is_compared_with_what_it_was(tmp_path: Path) -> None:
    project(tmp_path, a=MANY)
    subprocess.run([*GIT, "mv", "shop/a.py", "shop/b.py"], cwd=tmp_path, check=True)
    write(tmp_path, {"shop/b.py": MANY.replace("x + 7", "x + 8")})
    (one,) = since(tmp_path).edited
    assert (one.module.name, one.old_name, one.edits.changed) == ("shop.b", "shop.a", ("f7",))
    assert since(tmp_path).removed == ()


def test_a_package_that_moved_to_src_keeps_its_names(tmp_path: Path) -> None:
    project(tmp_path, a=MANY)
    write(tmp_path, {"pyproject.toml": ""})
    commit(tmp_path)
    (tmp_path / "src").mkdir()
    subprocess.run([*GIT, "mv", "shop", "src/shop"], cwd=tmp_path, check=True)
    write(tmp_path, {"src/shop/a.py": MANY.replace("x + 7", "x + 8")})
    (one,) = since(tmp_path).edited
    assert (one.module.name, one.old_name, one.old_source.as_posix()) == ("shop.a", "shop.a", ".")


def test_a_project_below_the_root_of_the_repository_is_found(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    project(tmp_path / "tools", a=DOUBLE)
    write(tmp_path / "tools", {"shop/a.py": DOUBLE.replace("2", "3")})
    (one,) = since(tmp_path, place="tools/shop").edited
    assert one.edits.changed == ("double",)


def test_a_module_that_cannot_be_parsed_is_told_and_the_others_are_compared(tmp_path: Path) -> None:
    project(tmp_path, a=DOUBLE, b=DOUBLE, c=DOUBLE)
    write(tmp_path, {"shop/a.py": "def f(:\n", "shop/b.py": DOUBLE.replace("2", "3")})
    (tmp_path / "shop" / "c.py").write_bytes(b"def f():\n    return '\xff'\n")
    found = {one.module.name: one.problem[:17] for one in since(tmp_path).edited}
    assert found == {"shop.a": "it cannot be read", "shop.b": "", "shop.c": "it cannot be read"}


def test_other_encodings_and_line_ends_are_read(tmp_path: Path) -> None:
    project(tmp_path)
    (tmp_path / "shop" / "a.py").write_bytes(b"# coding: latin-1\r\ndef f():\r\n    return '\xe9'\r\n")
    commit(tmp_path)
    (tmp_path / "shop" / "a.py").write_bytes("def f():\n    return 'é'\n".encode())
    assert since(tmp_path).edited == ()


def test_callers_of_a_changed_module_are_compared_on_request(tmp_path: Path) -> None:
    use = "from shop.a import double\ndef four(x: int) -> int:\n    return double(double(x))\ndef other() -> int:\n    return 1\n"
    project(tmp_path, a=DOUBLE, use=use, c=DOUBLE)
    write(tmp_path, {"shop/a.py": DOUBLE.replace("2", "3")})
    assert [one.module.name for one in since(tmp_path).edited] == ["shop.a"]
    found = since(tmp_path, callers=True)
    assert [(one.module.name, one.edits.changed) for one in found.edited] == [
        ("shop.a", ("double",)),
        ("shop.use", ("four",)),
    ]
    assert found.unchanged == 1


def test_a_project_outside_the_repository_is_refused(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        project(tmp_path / name, a=DOUBLE)
    with pytest.raises(InputError, match="is not in the repository"):
        versions(find(str(tmp_path / "one")), revision("HEAD", tmp_path / "two"))
