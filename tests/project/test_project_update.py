"""Checking and updating generated tests: changes are shown, and hand-written parts stay."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from nightly import nightly

from fitgym.cli import main
from fitgym.evolution.budget import Budget
from fitgym.project.check import check
from fitgym.project.generation import ProjectRequest, generate_project
from fitgym.project.layout import Project, find
from fitgym.project.pruning import prune
from fitgym.run.setting import Setting
from fitgym.suite.text.generated import generated_files
from fitgym.suite.text.suite_file import SuiteFile

TILL = """
def change(paid: int, price: int) -> int:
    if paid < price:
        raise ValueError("not enough")
    return paid - price


def double(paid: int) -> int:
    return 2 * paid
"""

SHELF = """
def fits(books: int) -> bool:
    return books <= 7
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with generated tests."""
    root = tmp_path_factory.mktemp("shop")
    package = root / "src" / "shop"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "till.py").write_text(TILL)
    (package / "shelf.py").write_text(SHELF)
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["src"]\n')
    setting = Setting.from_keywords(goal="coverage", population=10)
    generate_project(ProjectRequest(find(str(root)), setting, Budget.parse("600x"), root / "tests" / "generated"))
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    subprocess.run(["cp", "-r", f"{made}/.", str(tmp_path)], check=True)
    return tmp_path


def till_tests(root: Path) -> Path:
    return root / "tests" / "generated" / "test_shop_till.py"


def change(root: Path, old: str, new: str, file: str = "till.py") -> Project:
    source = root / "src" / "shop" / file
    assert old in source.read_text()
    source.write_text(source.read_text().replace(old, new))
    return find(str(root))


def files(root: Path) -> list[Path]:
    return generated_files(root / "tests")


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(str(ended.value.code))


@nightly
def test_unchanged_code_passes(root: Path) -> None:
    found = check(find(str(root)), files(root))
    assert found.failures == () and found.passed >= 4 and found.edited == 0


def test_a_project_that_turns_warnings_into_errors_is_checked(root: Path) -> None:
    settings = root / "pyproject.toml"
    settings.write_text(f'{settings.read_text()}filterwarnings = ["error"]\n')
    assert check(find(str(root)), files(root)).failures == ()


def test_a_change_of_behaviour_is_shown_by_the_statement_and_both_values(root: Path) -> None:
    found = check(change(root, "2 * paid", "2 * paid + 1"), files(root))
    assert found.failures
    for failure in found.failures:
        assert failure.file == till_tests(root) and "double" in failure.name and not failure.edited
        assert failure.lines[0].startswith("assert double(") and failure.lines[1].startswith("assert ")


def test_an_exception_that_no_longer_comes_is_shown(root: Path) -> None:
    found = check(change(root, 'raise ValueError("not enough")', "return 0"), files(root))
    assert any("DID NOT RAISE" in line for failure in found.failures for line in failure.lines)


def test_a_test_that_was_edited_is_told_from_others(root: Path) -> None:
    edited = till_tests(root).read_text().replace("double(", "double(0 + ")
    till_tests(root).write_text(edited)
    found = check(change(root, "2 * paid", "2 * paid + 1"), files(root))
    assert found.edited == len(found.failures) and all(failure.edited for failure in found.failures)


def test_the_command_ends_with_1_and_says_what_to_do(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", str(root), "--junit", str(root / "out" / "outcomes.xml")) == 0
    assert "<testsuite" in (root / "out" / "outcomes.xml").read_text()
    change(root, "2 * paid", "2 * paid + 1")
    assert run("check", str(root)) == 1
    told = capsys.readouterr().out
    assert "tests/generated/test_shop_till.py::test_double" in told and "`fitgym update`" in told


def test_a_project_without_generated_tests_is_refused(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", str(root), "--output", str(root / "src")) == 2
    assert "has no generated tests" in capsys.readouterr().err


def test_update_replaces_what_no_longer_passes(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shelf = (root / "tests" / "generated" / "test_shop_shelf.py").read_text()
    mine = "\n\ndef test_mine():\n    assert double(2) == 4\n"
    till_tests(root).write_text(till_tests(root).read_text() + mine)
    change(root, "2 * paid", "3 * paid")
    options = ("--budget", "600x", "--goal", "coverage", "--population", "10", "--quiet")
    assert run("update", str(root), *options) == 0
    told = capsys.readouterr().out
    assert "removed because they no longer pass" in told and "test_mine (yours)" in told
    assert mine in till_tests(root).read_text()
    assert (root / "tests" / "generated" / "test_shop_shelf.py").read_text() == shelf
    found = check(find(str(root)), files(root))
    assert [failure.name for failure in found.failures] == ["test_mine"]
    after = till_tests(root).read_text()
    assert run("update", str(root), *options) == 0
    assert till_tests(root).read_text() == after, "a second update has nothing to do"


def test_a_file_whose_module_is_gone_is_deleted(root: Path) -> None:
    (root / "src" / "shop" / "shelf.py").unlink()
    project = find(str(root))
    gone = root / "tests" / "generated" / "test_shop_shelf.py"
    pruned = prune(check(project, files(root)), [gone])
    assert pruned.deleted == (gone,) and not gone.exists() and till_tests(root).exists()


def test_a_file_whose_module_is_gone_keeps_a_helper_that_a_person_wrote(root: Path) -> None:
    (root / "src" / "shop" / "shelf.py").unlink()
    gone = root / "tests" / "generated" / "test_shop_shelf.py"
    gone.write_text(gone.read_text() + "\n\ndef helper():\n    return 1\n")
    pruned = prune(check(find(str(root)), files(root)), [gone])
    assert pruned.deleted == () and "def helper" in gone.read_text() and "def test" not in gone.read_text()


def test_an_update_of_one_module_leaves_the_tests_of_others_alone(root: Path) -> None:
    shelf = root / "tests" / "generated" / "test_shop_shelf.py"
    before = shelf.read_text()
    options = ("--path", str(root / "src"), "--budget", "600x", "--goal", "coverage", "--population", "10", "--quiet")
    assert run("update", "shop.till", *options) == 0
    assert shelf.read_text() == before


def test_a_module_is_lacking_when_its_file_is_gone(root: Path) -> None:
    project = find(str(root))
    assert not project.lacks("shop.till") and project.lacks("shop.gone") and project.lacks("shop.till.Gone")


def test_tests_of_a_function_that_is_gone_are_removed(root: Path) -> None:
    project = change(root, "def double", "def twice")
    pruned = prune(check(project, files(root)))
    assert pruned.deleted == (till_tests(root),) and not pruned.left


def test_a_module_that_cannot_be_imported_loses_no_test(root: Path) -> None:
    before = till_tests(root).read_text()
    project = change(root, "\ndef change", "import no_such_package\n\ndef change")
    pruned = prune(check(project, files(root)))
    assert pruned.removed == () and len(pruned.left) == 1
    assert till_tests(root).read_text() == before


@nightly
def test_tests_of_a_class_of_unittest_are_found_too(root: Path) -> None:
    till_tests(root).unlink()
    request = ProjectRequest(
        find(str(root)),
        Setting.from_keywords(goal="coverage", population=10),
        Budget.parse("600x"),
        root / "tests" / "generated",
        format="unittest",
    )
    generate_project(request)
    found = check(change(root, "2 * paid", "2 * paid + 1"), files(root))
    assert [failure.name.split(".")[0] for failure in found.failures] == ["TestDouble"] * len(found.failures)
    before = till_tests(root).read_text()
    assert prune(found).removed
    assert "TestDouble" in before and "TestDouble" not in till_tests(root).read_text()
    done = subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


BINS = """
def bin_of(size: int) -> int:
    return size // 4
"""

TABLE = """\"\"\"Tests of shop.bins, generated by fitgym 0.1.0.\"\"\"

import pytest

from shop.bins import bin_of


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (3, 0),
        (4, 1),
        (9, 2),
    ],
)
def test_bin_of(size, expected):
    assert bin_of(size) == expected
"""


@pytest.mark.parametrize(
    ("new", "left"),
    [
        ("size // 3", ["(4, 1)"]),  # 3 and 9 come into other bins
        ("size // 4 + (size == 4)", ["(3, 0)", "(9, 2)"]),
        ("-1", []),
    ],
)
def test_only_the_cases_that_fail_are_removed(root: Path, new: str, left: list[str]) -> None:
    (root / "src" / "shop" / "bins.py").write_text(BINS.replace("size // 4", new))
    file = root / "tests" / "generated" / "test_shop_bins.py"
    file.write_text(SuiteFile(TABLE).sealed("abc").text)
    removed = prune(check(find(str(root)), [file])).removed
    assert len(removed) == 3 - len(left)
    assert file.exists() == bool(left)
    for row in ("(3, 0)", "(4, 1)", "(9, 2)"):
        assert (row in file.read_text() if left else False) == (row in left)
    if left:
        assert check(find(str(root)), [file]).failures == ()
        assert SuiteFile.parse(file.read_text()).edited == ()
