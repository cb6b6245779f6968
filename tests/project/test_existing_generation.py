"""A run with existing tests exports only additional coverage, and reports the coverage before."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly

from fitgym.engine.existing import Existing
from fitgym.errors import InputError
from fitgym.run.generation import Request, generate, generate_request
from fitgym.run.replay import replay
from fitgym.run.summary import summary
from fitgym.subject.source import locate, read

CODE = """
def discount(total: int, member: bool) -> int:
    if total < 0:
        raise ValueError("total is negative")
    if member and total >= 1000:
        return total // 10
    return 0


def label(cents: int) -> str:
    if cents == 0:
        return "free"
    return str(cents)
"""

TESTS = """
import pytest
from prices import discount


def test_members():
    assert discount(1000, True) == 100
    assert discount(1219, True) == 121


def test_small():
    assert discount(999, True) == 0
    assert discount(0, True) == 0
    assert discount(2000, False) == 0


def test_negative():
    with pytest.raises(ValueError):
        discount(-1, False)
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    (folder / "pyproject.toml").write_text("")
    (folder / "prices.py").write_text(CODE)
    (folder / "tests").mkdir()
    (folder / "tests" / "test_prices.py").write_text(TESTS)
    return folder


@pytest.fixture(scope="module")
def run(root: Path) -> Any:
    notes: list[str] = []
    found = generate(
        "prices",
        path=str(root),
        tests=str(root / "tests"),
        goal="coverage",
        budget="400x",
        progress=lambda progress: notes.append(f"{progress.phase}: {progress.note}"),
    )
    return found, notes


def test_only_what_the_existing_tests_lack_is_exported(run: Any) -> None:
    found, _ = run
    assert "label(" in found.source and "discount(" not in found.source
    assert compile(found.source, "suite", "exec")


def test_the_record_says_what_was_covered_before_and_after(run: Any) -> None:
    record = run[0].record
    existing = record["existing"]
    assert existing["tests"] == 3
    branches = existing["branches"]
    assert 0 < branches["before"] < branches["after"] == branches["total"] == record["coverage"]["branch"]["total"]
    assert 0 < existing["mutants"]["before"] < existing["mutants"]["total"]
    assert existing["mutants"]["after"] is None
    survivors = existing["mutants"]["survivor_lines"]
    assert len(survivors) == existing["mutants"]["total"] - existing["mutants"]["before"]
    assert json.loads(json.dumps(record)) == record


def test_the_summary_has_a_line_for_before_and_one_for_after(run: Any) -> None:
    record = run[0].record
    before, after = record["existing"]["branches"]["before"], record["existing"]["branches"]["after"]
    text = summary(record, None)
    assert f"existing tests: branches {before}/{after}, mutants " in text
    assert f"together with the new tests: branches {after}/{after}\n" in text


def test_the_summary_names_lines_whose_mutants_survive_both_suites(run: Any) -> None:
    record = json.loads(json.dumps(run[0].record))
    record["existing"]["mutants"].update(after=2, total=4, survivor_lines=[7, 7])
    assert "mutants 2/4 killed, survivors in lines 7 (2)" in summary(record, None)


def test_the_header_repeats_the_folder_without_local_paths(run: Any, root: Path) -> None:
    assert "--tests tests" in run[0].source
    assert f"--tests {root}" not in run[0].source


def test_the_user_sees_that_existing_tests_run(run: Any) -> None:
    assert "tests: existing tests: 3 of 3" in run[1]


def test_such_a_run_cannot_be_replayed(run: Any, root: Path) -> None:
    with pytest.raises(InputError, match="subtracted what existing tests cover"):
        replay(run[0].record, path=str(root))


def test_what_has_been_measured_already_is_not_measured_again(root: Path) -> None:
    reference = locate("prices", root)
    known = Existing(Existing.digest(read(reference)))
    request = Request.of("prices", path=str(root), goal="coverage", budget="50x", output=None, tests="nowhere")
    found = generate_request(request, existing=known)
    assert found.record["existing"]["branches"]["before"] == 0


def test_a_folder_that_does_not_exist_is_refused_before_the_search(root: Path) -> None:
    with pytest.raises(InputError, match="tests 'nowhere' do not exist"):
        generate("prices", path=str(root), budget="50x", tests="nowhere")


@nightly
def test_the_command_takes_a_folder_and_tells_of_failing_tests(root: Path, tmp_path: Path) -> None:
    (tmp_path / "test_bad.py").write_text(TESTS + "\n\ndef test_bad():\n    assert discount(0, False) == 1\n")
    command = [sys.executable, "-m", "fitgym", "generate", "prices", "--path", str(root), "--goal", "coverage"]
    command += ["--budget", "200x", "-q", "--output", str(tmp_path / "made"), "--tests", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "1 test fails and does not count, such as " in done.stderr
    assert "existing tests: branches " in done.stdout and "together with the new tests: branches " in done.stdout
