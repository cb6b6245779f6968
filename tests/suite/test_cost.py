"""The cost of a suite: time and memory of the tests only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fitgym.cli import main
from fitgym.errors import InputError
from fitgym.suite.runs.cost import Cost, Quantity, cost

SUBJECT = """\
def large(n):
    return len(bytes(n))


def down(n):
    while n:
        n -= 1
    return n
"""

SUITE = """\
import time

import subject


def test_waits():
    time.sleep(0.05)


def test_takes_memory():
    assert subject.large(2_000_000) == 2_000_000


def test_counts():
    for n in (3, 1):
        assert subject.down(n) == 0
"""


METHODS = """\
import unittest

import subject


class TestDown(unittest.TestCase):
    def test_counts(self):
        self.assertEqual(subject.down(3), 0)

    def test_fails(self):
        self.assertEqual(subject.down(1), 1)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suite")
    (folder / "subject.py").write_text(SUBJECT)
    (folder / "tests").mkdir()
    (folder / "tests" / "test_subject.py").write_text(SUITE)
    (folder / "tests" / "test_methods.py").write_text(METHODS)
    (folder / "tests" / "test_fails.py").write_text("def test_fails():\n    assert 1 == 2\n")
    (folder / "tests" / "test_empty.py").write_text("x = 1\n")
    (folder / "tests" / "test_broken.py").write_text("import no_such_module\n")
    return folder


@pytest.fixture(scope="module")
def measured(folder: Path) -> Cost:
    return cost(folder / "tests" / "test_subject.py", runs=2, path=folder)


def test_time_is_that_of_the_bodies_of_the_tests(measured: Cost) -> None:
    assert (measured.tests, measured.failed, measured.runs) == (3, 0, 2)
    assert measured.seconds.low >= 0.05
    assert measured.processor.median < measured.seconds.median  # it sleeps


def test_memory_is_what_a_test_holds_at_most_beyond_what_was_there(measured: Cost) -> None:
    assert 2_000_000 <= measured.peak.median < 2_200_000
    assert measured.resident.median > 5 * measured.peak.median


def test_lines_are_those_outside_the_suite_each_time_that_they_run(measured: Cost) -> None:
    # one of large; of down while, n times the body and while again, return
    assert measured.lines == 1 + (2 * 3 + 2) + (2 * 1 + 2)


def test_methods_of_unittest_are_tests_too(folder: Path) -> None:
    found = cost(folder / "tests" / "test_methods.py", runs=1, path=folder)
    assert (found.tests, found.failed) == (2, 1)
    assert found.lines == (2 * 3 + 2) + (2 * 1 + 2)


def test_a_median_lies_in_its_interval_and_equal_values_have_none() -> None:
    found = Quantity.of([3.0, 1.0, 2.0, 10.0, 2.5])
    assert found.low <= found.median == 2.5 <= found.high
    assert Quantity.of([4.0, 4.0]) == Quantity(4.0, 4.0, 4.0)
    assert Quantity.of([3.0, 1.0, 2.0]) == Quantity.of([3.0, 1.0, 2.0])


def test_tests_that_fail_are_counted_and_the_command_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = folder / "cost.json"
    with pytest.raises(SystemExit) as ended:
        main(["cost", str(folder / "tests" / "test_fails.py"), "--runs", "1", "--json", str(record)])
    assert ended.value.code == 1
    (found,) = json.loads(record.read_text("utf-8")).values()
    assert (found["tests"], found["failed"]) == (1, 1)
    assert "test_fails.py  1  1  " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("test_missing.py", "there is no file"),
        ("test_empty.py", "has no tests"),
        ("test_broken.py", "cannot be run"),
    ],
)
def test_a_suite_that_cannot_be_run_is_refused(folder: Path, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        cost(folder / "tests" / name, runs=1)


def test_no_suite_and_no_runs_are_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="runs is 0"):
        cost(folder / "tests" / "test_subject.py", runs=0)
    with pytest.raises(SystemExit) as ended:
        main(["cost"])
    assert ended.value.code == 2
