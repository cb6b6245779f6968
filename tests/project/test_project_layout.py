"""The layout of a project: the modules to test, and the location of tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from fitgym.errors import InputError, SubjectError
from fitgym.project.layout import Project, find

CODE = "def double(x: int) -> int:\n    return 2 * x\n"


def make(folder: Path, *files: str, **configuration: str) -> Path:
    """A folder with files that define a function; keywords are files with a text of their own."""
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("" if file.endswith("__init__.py") else CODE)
    for name, text in configuration.items():
        (folder / name.replace("_", ".", 1)).write_text(text)
    return folder


def names(project: Project) -> list[str]:
    return [module.name for module in project.modules]


def test_the_modules_of_a_package_are_found_below_src(tmp_path: Path) -> None:
    make(tmp_path, "src/shop/__init__.py", "src/shop/till.py", "src/shop/stock/__init__.py", "src/shop/stock/shelf.py")
    make(tmp_path, pyproject_toml="")
    project = find(str(tmp_path))
    assert names(project) == ["shop.stock.shelf", "shop.till"]
    assert (project.root, project.source, project.tests) == (tmp_path, tmp_path / "src", tmp_path / "tests")


def test_a_package_beside_the_configuration_is_found(tmp_path: Path) -> None:
    make(tmp_path, "shop/__init__.py", "shop/till.py", "tests/__init__.py", "tests/test_till.py", "setup.py")
    assert names(find(str(tmp_path))) == ["shop.till"]


def test_single_files_are_modules(tmp_path: Path) -> None:
    make(tmp_path, "till.py", "setup.py", "conftest.py", "test_till.py")
    assert names(find(str(tmp_path))) == ["till"]


def test_a_namespace_package_is_found_by_folder_and_by_name(tmp_path: Path) -> None:
    make(tmp_path, "src/firm/shop/__init__.py", "src/firm/shop/till.py")
    assert names(find(str(tmp_path))) == ["firm.shop.till"]
    assert names(find("firm", tmp_path / "src")) == ["firm.shop.till"]


def test_a_package_is_named_as_in_an_import(tmp_path: Path) -> None:
    make(tmp_path, "shop/__init__.py", "shop/till.py", "shop/stock/__init__.py", "shop/stock/shelf.py")
    assert names(find("shop", tmp_path)) == ["shop.stock.shelf", "shop.till"]
    assert names(find("shop.stock", tmp_path)) == ["shop.stock.shelf"]
    assert names(find("shop.till", tmp_path)) == ["shop.till"]
    assert names(find(str(tmp_path / "shop" / "stock"))) == ["shop.stock.shelf"]


def test_tests_inside_a_package_and_modules_without_functions_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, "shop/__init__.py", "shop/till.py", "shop/tests/test_till.py", "shop/__main__.py")
    (tmp_path / "shop" / "version.py").write_text("VERSION = '1'\n")
    assert names(find("shop", tmp_path)) == ["shop.till"]


@pytest.mark.parametrize(
    ("only", "exclude", "left"),
    [
        (("shop.stock",), (), ["shop.stock.shelf"]),
        (("shop.t*",), (), ["shop.till"]),
        ((), ("shop.stock",), ["shop.till"]),
        (("shop.*",), ("*.shelf",), ["shop.till"]),
    ],
)
def test_modules_are_chosen_by_patterns(
    tmp_path: Path, only: tuple[str, ...], exclude: tuple[str, ...], left: list[str]
) -> None:
    make(tmp_path, "shop/__init__.py", "shop/till.py", "shop/stock/__init__.py", "shop/stock/shelf.py")
    assert names(find("shop", tmp_path, only=only, exclude=exclude)) == left


def test_a_pattern_that_matches_nothing_is_refused(tmp_path: Path) -> None:
    make(tmp_path, "shop/__init__.py", "shop/till.py")
    with pytest.raises(
        InputError, match=r"--only 'shop.tills' matches no module of 'shop' \(there are: shop, shop.till"
    ):
        find("shop", tmp_path, only=("shop.tills",))


def test_the_root_of_a_project_is_named_without_a_slash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "project", "src/shop/__init__.py", "src/shop/till.py", pyproject_toml="")
    monkeypatch.chdir(tmp_path)
    assert names(find("project")) == ["shop.till"]


def test_a_folder_without_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="contains no package and no module"):
        find(str(tmp_path))
    with pytest.raises(SubjectError, match="no module named 'shopp'"):
        find("shopp", tmp_path)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject_toml", "[tool.pytest.ini_options]\ntestpaths = ['checks']\n"),
        ("pytest_ini", "[pytest]\ntestpaths = checks\n"),
        ("setup_cfg", "[tool:pytest]\ntestpaths = checks\n"),
    ],
)
def test_the_tests_folder_is_where_pytest_looks(tmp_path: Path, file: str, text: str) -> None:
    make(tmp_path, "shop/__init__.py", "shop/till.py", "checks/test_till.py", "tests/test_till.py", **{file: text})
    assert find(str(tmp_path)).tests == tmp_path / "checks"


def test_the_project_of_installed_code_is_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    project = find("json")
    assert project.root == tmp_path and "json.decoder" in names(project)
