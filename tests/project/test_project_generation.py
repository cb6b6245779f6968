"""Suites of whole projects: every module once, in parallel, without duplicates."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from nightly import nightly

from fitgym.errors import BudgetError
from fitgym.evolution.budget import Budget
from fitgym.project.generation import Event, Outcome, ProjectRequest, generate_project
from fitgym.project.layout import find
from fitgym.run.setting import Setting

TILL = """
def change(paid: int, price: int) -> int:
    if paid < price:
        raise ValueError("not enough")
    return paid - price
"""

SHELF = """
class Shelf:
    def __init__(self, places: int) -> None:
        self.places = places

    def fits(self, books: int) -> bool:
        return books <= self.places if self.places > 0 else not books
"""


def make(root: Path) -> Path:
    """A project of two modules and one that cannot be imported."""
    package = root / "src" / "shop"
    (package / "stock").mkdir(parents=True)
    for file, text in {
        "__init__.py": "",
        "till.py": TILL,
        "stock/__init__.py": "",
        "stock/shelf.py": SHELF,
        "broken.py": "import no_such_package\n\ndef lost() -> None: ...\n",
    }.items():
        (package / file).write_text(text)
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["src"]\n')
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path)


@dataclass(frozen=True)
class Generated:
    """A project with generated tests: its folder, and what the run said."""

    root: Path
    outcomes: dict[str, Outcome]
    events: list[Event]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    root = make(tmp_path_factory.mktemp("project"))
    events: list[Event] = []
    return Generated(root, generate_project(request(root, jobs=2), events.append), events)


@pytest.fixture
def tested(generated: Generated, tmp_path: Path) -> Path:
    """A copy of the project with generated tests."""
    return Path(shutil.copytree(generated.root, tmp_path / "project"))


def request(root: Path, budget: str = "600x", goal: str = "coverage", **changes: object) -> ProjectRequest:
    project = find(str(root))
    setting = Setting.from_keywords(goal=goal, population=10)
    return ProjectRequest(project, setting, Budget.parse(budget), root / "tests" / "generated", **changes)  # type: ignore[arg-type]


def files(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): path.read_text()
        for path in sorted(root.rglob("*.py"))
        if "tests" in path.parts
    }


def command(root: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "fitgym", "generate", str(root), *arguments]


def test_each_module_gets_a_file_that_passes(generated: Generated, tested: Path) -> None:
    outcomes = generated.outcomes
    assert list(outcomes) == ["shop.broken", "shop.stock.shelf", "shop.till"]
    assert "no_such_package" in outcomes["shop.broken"].error
    assert list(files(tested)) == [
        "tests/generated/stock/test_shop_stock_shelf.py",
        "tests/generated/test_shop_till.py",
    ]
    assert [event.module for event in generated.events if event.outcome is not None].count("shop.till") == 1
    done = subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=tested, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    record = json.loads((tested / ".fitgym" / "records" / "shop.till.json").read_text())
    assert record["suite_path"] == "tests/generated/test_shop_till.py"
    assert (tested / ".fitgym" / ".gitignore").read_text() == "*\n"


def test_a_second_run_changes_nothing_whatever_the_budget(tested: Path) -> None:
    before = files(tested)
    outcomes = generate_project(request(tested, "3000x", jobs=2))
    assert outcomes["shop.till"].current and outcomes["shop.stock.shelf"].current
    assert files(tested) == before


@nightly
def test_only_what_changed_is_searched_again(tested: Path) -> None:
    before = files(tested)
    (tested / "src" / "shop" / "till.py").write_text(TILL.replace("paid - price", "paid - price - 1"))
    outcomes = generate_project(request(tested))
    assert outcomes["shop.stock.shelf"].current and not outcomes["shop.till"].current
    after = files(tested)
    assert (
        after["tests/generated/stock/test_shop_stock_shelf.py"]
        == before["tests/generated/stock/test_shop_stock_shelf.py"]
    )
    for line in before["tests/generated/test_shop_till.py"].split("\n"):
        if line and not line.startswith("# fitgym:"):
            assert line in after["tests/generated/test_shop_till.py"]


@nightly
def test_the_number_of_jobs_changes_no_suite(root: Path) -> None:
    generate_project(request(root, jobs=1))
    alone = files(root)
    for path in (root / "tests").rglob("*.py"):
        path.unlink()
    generate_project(request(root, jobs=3))
    assert files(root) == alone


@nightly
def test_a_file_by_hand_of_the_same_name_stays_and_the_other_is_renamed(root: Path) -> None:
    (root / "tests").mkdir()
    (root / "tests" / "test_shop_till.py").write_text("def test_mine(): pass\n")
    generate_project(request(root))
    assert "tests/generated/test_shop_till_generated.py" in files(root)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_a_module_that_kills_its_process_harms_no_other(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job itself dies, as if the kernel had ended it for its memory."""
    fatal = "import os, sys; sys.stdin = (os._exit(9) if 'shelf' in line else line for line in sys.stdin); "
    real = "from fitgym.project.job import main; main(int(sys.argv[1]))"
    monkeypatch.setattr("fitgym.project.jobs.COMMAND", [sys.executable, "-c", fatal + real])
    outcomes = generate_project(request(root, jobs=1))
    assert outcomes["shop.stock.shelf"].error == "its process ended with code 9"
    assert outcomes["shop.till"].path is not None


@nightly
def test_a_budget_that_is_too_small_for_all_modules_is_for_the_outer_ones_first(root: Path) -> None:
    outcomes = generate_project(request(root, "2x"))
    assert [name for name, outcome in outcomes.items() if outcome.postponed] == ["shop.stock.shelf"]
    assert outcomes["shop.till"].record is not None
    again = generate_project(request(root, "2x"))
    assert not any(outcome.postponed for outcome in again.values()), "the next run goes on with what was left"
    assert again["shop.till"].current and again["shop.stock.shelf"].record is not None


def test_a_budget_that_is_too_small_for_one_module_is_refused(root: Path) -> None:
    with pytest.raises(BudgetError, match=r"budget 2s is too small for a module; expected at least 3s"):
        generate_project(request(root, "2s"))


@nightly
def test_ctrl_c_finishes_what_was_begun_and_the_next_run_goes_on(root: Path) -> None:
    (root / "src" / "shop" / "broken.py").unlink()
    flags = ("--goal", "exceptions", "--budget", "200s", "--population", "10")  # a goal that is never reached
    process = subprocess.Popen(command(root, *flags), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while not list((root / ".fitgym").rglob("*")) and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.2)
            if _searching(process.pid):
                break
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert "1 of 1 modules searched" in out
    assert list(files(root)) == ["tests/generated/test_shop_till.py"]
    outcomes = generate_project(request(root, goal="exceptions"))
    assert not outcomes["shop.till"].current, "its search was cut short"
    assert outcomes["shop.stock.shelf"].record is not None
    again = generate_project(request(root, goal="exceptions"))
    assert all(outcome.current for outcome in again.values()), "also where nothing was found"


def _searching(pid: int) -> bool:
    """A worker runs below the process."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        return any(_searching(int(child)) or "worker" in _command_of(child) for child in children.read_text().split())
    except OSError:
        return False


def _command_of(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def test_the_command_works_on_the_current_folder(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fitgym", "generate", "--goal", "coverage", "--budget", "100x", "--json", "all.json"],
        cwd=root,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "100"},
    )
    assert done.returncode == 0, done.stderr
    assert "2 of 3 modules searched" in done.stdout and "not tested: shop.broken" in done.stdout
    assert "[3/3] shop.stock.shelf: " in done.stderr and "note:" not in done.stderr
    assert set(json.loads((root / "all.json").read_text())["modules"]) == {"shop.till", "shop.stock.shelf"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--jobs", "0"), "--jobs is 0; expected a number of processes above 0"),
        (("--only", "shop.tills"), "--only 'shop.tills' matches no module"),
    ],
)
def test_wrong_arguments_are_refused(root: Path, arguments: tuple[str, ...], message: str) -> None:
    done = subprocess.run(command(root, *arguments), capture_output=True, text=True)
    assert done.returncode == 2 and message in done.stderr
