"""Differences of behaviour between two versions of a project, found by running both."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from nightly import nightly

from fitgym.errors import InputError
from fitgym.evolution.budget import Budget
from fitgym.project.diff.account import account
from fitgym.project.diff.comparison import Comparison, Request, compare
from fitgym.project.diff.revision import revision
from fitgym.project.layout import find

GIT = ("git", "-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")


def compared(
    folder: Path,
    before: Mapping[str, str],
    after: Mapping[str, str],
    *,
    output: Path | None = None,
    callers: bool = False,
) -> Comparison:
    """Both versions of modules of a package `shop`, compared with few executions; only modules of `after` are written."""
    (folder / "shop").mkdir(parents=True)
    for name, text in {"__init__": "", **before}.items():
        (folder / "shop" / f"{name}.py").write_text(text)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*GIT, *command], cwd=folder, check=True)
    for name, text in after.items():
        (folder / "shop" / f"{name}.py").write_text(text)
    project = find(str(folder / "shop"))
    request = Request(project, revision("HEAD", folder), Budget.parse("800x"), 0, callers, output)
    return compare(request)


def outcomes(comparison: Comparison) -> set[tuple[str, str, str]]:
    """Function and both outcomes of each difference."""
    return {(one.function, one.before, one.now) for one in comparison.differences}


DISCOUNT = '''
def discount(price: int, share: int) -> int:
    """The price less a share of it."""
    if share < 1:
        raise ValueError("share must be at least 1")
    return price - price * share // 100

def label(name: str) -> str:
    return name.strip().title()
'''


def test_a_refactoring_that_changes_nothing_gives_no_difference(tmp_path: Path) -> None:
    after = DISCOUNT.replace("if share < 1:", "if not share >= 1:").replace("price - price", "-price")
    after = after.replace("-price * share // 100", "price - (price * share) // 100")
    found = compared(tmp_path, {"a": DISCOUNT}, {"a": after})
    assert found.differences == ()
    (module,) = found.modules
    assert module.edited.edits.changed == module.reached == ("discount",)
    assert module.agreeing > 20


def test_a_boundary_is_shown_by_the_call_on_it(tmp_path: Path) -> None:
    found = compared(tmp_path, {"a": DISCOUNT}, {"a": DISCOUNT.replace("share < 1", "share < 2")})
    assert {one.function for one in found.differences} == {"discount"}
    (only,) = found.differences
    assert only.now == "ValueError: share must be at least 1"
    assert only.code[-1].endswith(", 1)") and len(only.code) == 1


@nightly
def test_another_exception_and_another_message_are_differences(tmp_path: Path) -> None:
    for number, (new, now) in enumerate(
        [("LookupError", "LookupError: share"), ("ValueError", "ValueError: at least")]
    ):
        after = DISCOUNT.replace("ValueError", new)
        if new == "ValueError":
            after = after.replace("share must be", "at least")
        found = compared(tmp_path / str(number), {"a": DISCOUNT}, {"a": after})
        assert any(b.startswith("ValueError: share") and n.startswith(now) for _, b, n in outcomes(found))


@nightly
def test_a_changed_helper_shows_through_its_public_callers(tmp_path: Path) -> None:
    before = (
        "def _half(x: int) -> int:\n    return x // 2\ndef shared(x: int) -> list[int]:\n    return [_half(x), x]\n"
    )
    found = compared(tmp_path, {"a": before}, {"a": before.replace("x // 2", "int(x / 2)")})
    assert found.differences
    assert all(one.function == "_half" and "shared(" in one.code[-1] for one in found.differences)


@nightly
def test_a_private_function_that_is_gone_is_no_difference(tmp_path: Path) -> None:
    before = "def _half(x: int) -> int:\n    return x // 2\ndef shared(x: int) -> int:\n    return _half(x)\n"
    after = "def shared(x: int) -> int:\n    return x // 2\n"
    assert compared(tmp_path, {"a": before}, {"a": after}).differences == ()


def test_a_public_function_that_is_gone_is_a_difference(tmp_path: Path) -> None:
    before = "def f(x: int) -> int:\n    return x\ndef g(x: int) -> int:\n    return x\n"
    found = compared(tmp_path, {"a": before}, {"a": before.split("def g")[0]})
    assert outcomes(found) == {("g", "is defined", "is not defined any more")}


@nightly
def test_a_new_optional_parameter_is_no_difference_and_a_required_one_is(tmp_path: Path) -> None:
    before = "def f(x: int) -> int:\n    return x + 1\n"
    optional = "def f(x: int, step: int = 1) -> int:\n    return x + step\n"
    required = "def f(x: int, step: int) -> int:\n    return x + step\n"
    assert compared(tmp_path / "a", {"a": before}, {"a": optional}).differences == ()
    found = compared(tmp_path / "b", {"a": before}, {"a": required})
    assert {(function, now) for function, _, now in outcomes(found)} == {("f", "TypeError")}


@nightly
def test_a_new_function_is_told_but_not_compared(tmp_path: Path) -> None:
    before = "def f(x: int) -> int:\n    return x\n"
    found = compared(tmp_path, {"a": before}, {"a": before + "def g(x: int) -> int:\n    return x\n"})
    assert found.differences == ()
    assert "new, without an earlier version to compare with: shop.a.g" in account(found)


@nightly
def test_a_changed_constant_shows_in_the_functions_that_use_it(tmp_path: Path) -> None:
    before = "RATE = 20\ndef tax(x: int) -> int:\n    return x * RATE\ndef other(x: int) -> int:\n    return x\n"
    found = compared(tmp_path, {"a": before}, {"a": before.replace("20", "19")})
    assert {one.function for one in found.differences} == {"tax"}


@nightly
def test_state_that_calls_leave_behind_is_compared(tmp_path: Path) -> None:
    before = (
        "class Desk:\n    def __init__(self) -> None:\n        self.sold: list[int] = []\n"
        "    def sell(self, x: int) -> None:\n        self.sold.append(x)\n"
    )
    found = compared(tmp_path, {"a": before}, {"a": before.replace("append(x)", "insert(0, x)")})
    assert {one.function for one in found.differences} == {"Desk.sell"}
    assert min(len(one.code) for one in found.differences) <= 4


def test_chance_is_no_difference(tmp_path: Path) -> None:
    before = (
        "import os\nimport random\nimport time\n\n"
        "def f(x: int) -> list[object]:\n"
        "    return [random.random(), time.time(), os.getpid(), id(object()), hash(str(x)), object(), {'a', str(x)}]\n"
    )
    after = before.replace("return [", "found = [") + "    return found\n"
    assert compared(tmp_path, {"a": before}, {"a": after}).differences == ()


@nightly
def test_paths_of_the_source_are_no_difference(tmp_path: Path) -> None:
    before = "def f(x: int) -> str:\n    if x > 3:\n        raise ValueError(__file__)\n    return __file__\n"
    assert compared(tmp_path, {"a": before}, {"a": before.replace("x > 3", "3 < x")}).differences == ()


@nightly
def test_a_version_that_does_not_end_any_more_is_told_and_hides_no_other_difference(tmp_path: Path) -> None:
    before = (
        "def loop(x: int) -> int:\n    while x > 10:\n        x -= 1\n    return x\n"
        "def add(x: int) -> int:\n    return x + 1\n"
    )
    found = compared(tmp_path, {"a": before}, {"a": before.replace("x -= 1", "x += 1").replace("x + 1", "x + 2")})
    assert {one.function for one in found.differences} == {"loop", "add"}
    assert {one.now for one in found.differences if one.function == "loop"} == {"does not end"}


def test_an_import_that_fails_now_is_a_difference(tmp_path: Path) -> None:
    before = "def f(x: int) -> int:\n    return x\n"
    found = compared(tmp_path, {"a": before}, {"a": "import nowhere\n" + before.replace("return x", "return 2 * x")})
    assert [(one.function, one.before) for one in found.differences] == [("the module", "works")]


@nightly
def test_an_import_that_failed_before_is_told(tmp_path: Path) -> None:
    after = "def f(x: int) -> int:\n    return x\n"
    found = compared(tmp_path, {"a": "import nowhere\n" + after.replace("return x", "return 2 * x")}, {"a": after})
    assert found.differences == ()
    assert "the old version cannot be imported" in account(found)


@nightly
def test_callers_of_a_changed_module_differ_too(tmp_path: Path) -> None:
    use = "from shop.a import double\ndef four(x: int) -> int:\n    return double(double(x))\n"
    before = "def double(x: int) -> int:\n    return 2 * x\n"
    found = compared(tmp_path, {"a": before, "use": use}, {"a": before.replace("2", "3")}, callers=True)
    assert {(one.module, one.function) for one in found.differences} == {("shop.a", "double"), ("shop.use", "four")}


def test_written_tests_pass_on_the_old_version_and_fail_now(tmp_path: Path) -> None:
    after = DISCOUNT.replace("share < 1", "share < 2")
    output = tmp_path / "project" / "checks"
    found = compared(tmp_path / "project", {"a": DISCOUNT}, {"a": after}, output=output)
    (module,) = found.modules
    assert module.path == output / "test_differences_shop_a.py"
    text = module.path.read_text()
    assert "They state what the code did at HEAD (" in text and "/tmp" not in text
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(output)]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 1
    (tmp_path / "project" / "shop" / "a.py").write_text(DISCOUNT)
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0


def test_a_file_that_somebody_wrote_is_not_replaced(tmp_path: Path) -> None:
    output = tmp_path / "checks"
    output.mkdir()
    (output / "test_differences_shop_a.py").write_text("def test_mine():\n    pass\n")
    with pytest.raises(InputError, match="was not generated by fitgym"):
        compared(tmp_path / "p", {"a": DISCOUNT}, {"a": DISCOUNT.replace("share < 1", "share < 2")}, output=output)
    assert "test_mine" in (output / "test_differences_shop_a.py").read_text()


@nightly
def test_the_same_seed_gives_the_same_record(tmp_path: Path) -> None:
    after = DISCOUNT.replace("share < 1", "share < 2").replace(".title()", ".upper()")
    records = [compared(tmp_path / name, {"a": DISCOUNT}, {"a": after}).record() for name in ("one", "two")]
    for record in records:
        del record["commit"]
    assert records[0] == records[1]
