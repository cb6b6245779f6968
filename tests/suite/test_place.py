"""Places: a suite gives the location of its subject only if neither Python nor pytest finds it."""

from __future__ import annotations

from pathlib import Path

import pytest
from nightly import nightly

from fitgym.run.generation import Request, generate_request
from fitgym.subject.source import locate
from fitgym.suite.text import place

CODE = "def double(x: int) -> int:\n    return 2 * x\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "till.py").write_text(CODE)
    return tmp_path


def test_a_folder_that_no_interpreter_knows_is_named(project: Path) -> None:
    assert place.import_root(locate("till", project / "src")) == str(project / "src")


def test_an_editable_install_needs_no_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"till": str((project / "src" / "till.py").resolve())}
    monkeypatch.setattr(place, "_found_by_python", lambda package: found.get(package, ""))
    assert place.import_root(locate("till", project / "src")) == ""


def test_another_package_of_the_same_name_does_not_count(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "_found_by_python", lambda package: "/elsewhere/till.py")
    assert place.import_root(locate("till", project / "src")) == str(project / "src")


def test_python_is_asked_where_it_finds_a_package() -> None:
    assert place._found_by_python("pytest").endswith("__init__.py")
    assert place._found_by_python("no_such_package_anywhere") == ""


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ["src"]\n', True),
        ("pytest.ini", "[pytest]\npythonpath = src lib\n", True),
        ("setup.cfg", "[tool:pytest]\npythonpath = lib\n", False),
        ("pyproject.toml", "[tool.pytest\n", False),
        ("pyproject.toml", '[project]\nname = "till"\n', False),
    ],
)
def test_the_pythonpath_of_pytest_counts(project: Path, file: str, text: str, expected: bool) -> None:
    (project / file).write_text(text)
    assert place.is_configured(str(project / "src"), project / "tests" / "generated") is expected


@nightly
def test_a_suite_in_such_a_project_has_no_line_about_the_path(project: Path) -> None:
    request = Request.of("till", path=str(project / "src"), goal="coverage", budget="2g", output=project / "tests")
    assert "sys.path" in generate_request(request).source
    (project / "pytest.ini").write_text("[pytest]\npythonpath = src\n")
    assert (
        "sys.path"
        not in generate_request(
            Request.of("till", path=str(project / "src"), goal="coverage", budget="2g", output=project / "other")
        ).source
    )
