"""The stamps of committed tables: prose ages no table, code does, and rows come out again."""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly

ROOT = Path(__file__).parents[2]

CODE = '''"""A module."""

def f(x):
    """Return more."""
    # a comment
    return x + 1
'''

LISTED = """
[code]
core = ["core"]

["tables/table.md"]
command = "python tables/make.py"
code = ["core"]

["tables/parts.md#first"]
command = "python tables/make.py"
code = ["core", "extra.toml"]
"""


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    for name in ("code_digest", "table_rows", "tables"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("tables")


def put(root: Path, **files: str) -> None:
    """Write files; two underscores in a name stand for a folder, and `_md` at the end for an ending."""
    for name, text in files.items():
        file = root / name.replace("__", "/").replace("_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    put(tmp_path, core__code_py=CODE, tables__make_py="pass", pyproject_toml='[project]\nversion = "1.2.3"\n')
    put(tmp_path, extra_toml="a = 1\n", benchmarks__tables_toml=LISTED)
    put(tmp_path, tables__table_md="| 1 |\n", tables__parts_md="# Parts\n\n## first\n\n1\n\n## second\n\n2\n")
    return tmp_path


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


@pytest.mark.parametrize(
    "prose",
    [
        CODE.replace("Return more.", "Return one more."),
        CODE.replace("    # a comment\n", ""),
        CODE.replace("x + 1", "(x  +  1)"),
        CODE.replace('"""A module."""\n', ""),
    ],
)
def test_prose_and_layout_do_not_change_a_digest(scripts: Any, root: Path, prose: str) -> None:
    before = scripts.digest(scripts.Folder(root), ["core"])
    put(root, core__code_py=prose)
    assert scripts.digest(scripts.Folder(root), ["core"]) == before


@pytest.mark.parametrize("code", [CODE.replace("+ 1", "+ 2"), CODE.replace("+ 1", "+ None"), CODE + "\nf(1)\n"])
def test_code_changes_a_digest(scripts: Any, root: Path, code: str) -> None:
    before = scripts.digest(scripts.Folder(root), ["core"])
    put(root, core__code_py=code)
    assert scripts.digest(scripts.Folder(root), ["core"]) != before


def test_comments_of_c_and_toml_do_not_count_and_other_files_do(scripts: Any, root: Path) -> None:
    def found() -> str:
        return scripts.digest(scripts.Folder(root), ["core", "extra.toml"])

    put(root, core__probe_c="int x; /* old */")
    before = found()
    put(root, core__probe_c="int  x;  // new", extra_toml="# more\na = 1\n")
    assert found() == before
    put(root, core__data_txt="1")
    assert found() != before


def test_a_table_is_older_once_its_code_has_changed(scripts: Any, root: Path) -> None:
    scripts.Manifest(root).stamp(["tables/table.md", "tables/parts.md#first"])
    assert scripts.Manifest(root).problems() == scripts.Manifest(root).notices() == []
    assert "The code is the same since." in scripts.Manifest(root).provenance("tables/table.md")
    put(root, core__code_py=CODE.replace("+ 1", "+ 2"))
    manifest = scripts.Manifest(root)
    assert manifest.problems() == [] and len(manifest.notices()) == 2
    assert manifest.notices()[0].endswith("is older than its code: core")
    assert "by `python tables/make.py`" in manifest.provenance("tables/table.md")
    put(root, core__code_py=CODE, tables__make_py="print()", extra_toml="a = 2")
    assert scripts.Manifest(root).newer("tables/parts.md#first") == ["extra.toml", "tables/make.py"]


def test_a_table_that_was_made_again_needs_a_stamp_and_other_sections_do_not(scripts: Any, root: Path) -> None:
    names = ["tables/table.md", "tables/parts.md#first"]
    assert [name in one for name, one in zip(names, scripts.Manifest(root).problems(), strict=True)] == [True, True]
    scripts.Manifest(root).stamp(names)
    put(root, tables__table_md="| 2 |\n", tables__parts_md="# Parts\n\n## first\n\n1\n\n## second\n\n3\n")
    (problem,) = scripts.Manifest(root).problems()
    assert "tables.py stamp tables/table.md" in problem
    (root / "tables" / "table.md").unlink()
    assert "does not exist" in scripts.Manifest(root).problems()[0]
    with pytest.raises(SystemExit, match="is no table of"):
        scripts.Manifest(root).stamp(["tables/other.md"])


def test_the_history_gives_the_commit_that_last_changed_a_table(scripts: Any, root: Path) -> None:
    git(root, "init", "-q")
    for number, code in enumerate((CODE, CODE.replace("+ 1", "+ 2"))):
        put(root, core__code_py=code, tables__parts_md=f"## first\n\n1\n\n## second\n\n{number}\n")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", str(number))
    with pytest.raises(SystemExit, match="is not committed as it is"):
        put(root, tables__table_md="| 2 |\n")
        scripts.Manifest(root).stamp(["tables/table.md"], history=True)
    scripts.Manifest(root).stamp(["tables/parts.md#first"], history=True)
    manifest = scripts.Manifest(root)
    assert manifest.newer("tables/parts.md#first") == ["core"]  # the second commit changed another section
    stamp = manifest.stamps["tables/parts.md#first"]
    assert stamp["version"] == "1.2.3" and "machine" not in stamp and "python" not in stamp


def test_a_row_of_a_current_table_has_to_come_out_again(
    scripts: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = importlib.import_module("table_rows")
    manifest = scripts.Manifest()
    name = "benchmarks/headroom/environments/ladder.md#fitgym/Toy-v0"
    monkeypatch.setattr(manifest, "tables", {name: manifest.tables[name]})
    monkeypatch.setattr(manifest, "newer", lambda name: [])
    assert rows.compared(manifest, 2, 0) == 0
    assert "current), fitgym/Toy-v0" in capsys.readouterr().out
    monkeypatch.setattr(rows, "again", lambda root, table, row: {"final": "-1"})
    assert rows.compared(manifest, 1, 0) == 1
    assert "final is -1, committed" in capsys.readouterr().out
    monkeypatch.setattr(manifest, "newer", lambda name: ["headroom"])
    assert rows.compared(manifest, 1, 0) == 0
    assert "older than its code" in capsys.readouterr().out


def test_every_committed_table_is_listed_and_stamped(scripts: Any) -> None:
    manifest = scripts.Manifest()
    listed = {table.file for table in manifest.tables.values()}
    found = [*ROOT.glob("benchmarks/*/*.md"), *ROOT.glob("benchmarks/*/*/*.md"), *ROOT.glob("studies/reports/*/*.md")]
    assert {file.relative_to(ROOT).as_posix() for file in found} == listed
    assert manifest.problems() == []
    for table in manifest.tables.values():
        for path in (path for paths in table.code.values() for path in paths):
            assert (ROOT / path).exists(), f"{path}, code of {table.name}, does not exist"
    if notices := manifest.notices():
        said = f"{len(notices)} committed tables are older than their code; `python benchmarks/tables.py` lists them"
        warnings.warn(said, stacklevel=1)


@nightly
def test_rows_of_the_committed_tables_come_out_again(scripts: Any) -> None:
    assert scripts.main(["rows"]) == 0
