"""Faults: the list, a version with one fault restored, and whether a suite detects it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fitgym.cli import main
from fitgym.errors import InputError, SubjectError
from fitgym.study.faults import Fault, _put_back, as_toml, detect, from_bugsinpy, load
from fitgym.study.trials.fault import Fault as FaultTrial
from fitgym.subject.source import locate

FIXED = "def size(items: list[int]) -> int:\n    if not items:\n        return 0\n    return len(items)\n"
BUGGY = FIXED.replace("        return 0\n", "        return -1\n")
SUITE = """
import random
from tool import size

def test_full():
    assert size([1, 2]) == 2

def test_empty():
    assert size([]) == 0

def test_by_chance():
    assert random.SystemRandom().random() < 0.5

def test_that_never_passes():
    assert size([]) == 7
"""


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """A list with one pair of folders."""
    for version, text in (("fixed", FIXED), ("buggy", BUGGY)):
        (tmp_path / version).mkdir()
        (tmp_path / version / "tool.py").write_text(text, "utf-8")
    file = tmp_path / "faults.toml"
    file.write_text('[[fault]]\nid = "empty"\nsubject = "tool"\nfixed = "fixed"\nbuggy = "buggy"\n', "utf-8")
    return file


def test_a_pair_of_folders_stands_beside_its_list(pair: Path) -> None:
    fault = load(pair)["empty"]
    assert fault.folders(pair.parent) == (pair.parent / "fixed", pair.parent / "buggy")


def test_tests_that_are_flaky_or_fail_on_the_fixed_version_are_left_out(pair: Path) -> None:
    fixed, buggy = (locate("tool", pair.parent / version) for version in ("fixed", "buggy"))
    found = detect(SUITE, fixed, buggy)
    assert (found.failing, found.detected) == (1, True)
    assert (found.tests, found.flaky) in ((2, 2), (3, 1))  # by chance it passes five times in a row
    without = SUITE.replace("def test_empty():\n    assert size([]) == 0\n", "")
    assert not detect(without, fixed, buggy).detected
    assert detect("def broken(:", fixed, buggy).tests == 0


def test_a_suite_is_generated_for_the_fixed_version_and_run_on_the_buggy_one(pair: Path) -> None:
    found = FaultTrial.of({"goal": "coverage", "agent": "own", "population": 6}).measure("empty", 0, "150x", str(pair))
    assert found.measures["detected"] == 1.0 and found.measures["failing"] >= 1
    assert found.measures["tests"] >= 2 and found.measures["value"] == 1.0
    assert "from tool import size" in found.run["suite"]


def test_a_fault_that_is_not_in_the_list_is_refused(pair: Path) -> None:
    with pytest.raises(InputError, match=r"no fault named 'emtpy'; did you mean 'empty'\?"):
        FaultTrial().check_subject("emtpy", str(pair))
    with pytest.raises(InputError, match="give the file with the faults as path"):
        FaultTrial().check_subject("empty", None)


def fault(*hunks: tuple[int, int]) -> Fault:
    return Fault("f", "m", "2", "1", "p", file="m.py", hunks=hunks)


OLD = "a\nb\nc\nd\nx\ny\n"
NEW = "a\nB\nc\nd\nNEW\nx\n"
"""The second line is another one, there is a new one after the fourth, and the last one is gone."""


@pytest.mark.parametrize(
    ("hunk", "text"),
    [
        ((2, 2), "a\nb\nc\nd\nNEW\nx\n"),
        ((5, 5), "a\nB\nc\nd\nx\n"),
        ((7, 6), "a\nB\nc\nd\nNEW\nx\ny\n"),
        ((1, 6), OLD),
        ((1, 1000000), OLD),
    ],
)
def test_only_what_belongs_to_the_fault_is_put_back(hunk: tuple[int, int], text: str) -> None:
    assert _put_back(NEW, OLD, fault(hunk)) == text


def test_versions_that_do_not_differ_there_are_refused() -> None:
    with pytest.raises(SubjectError, match=r"do not differ in lines \[\(3, 4\)\] of m.py"):
        _put_back(NEW, OLD, fault((3, 4)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("[[fault]]\n", "id is None"),
        ('[[fault]]\nid = "a"\nsubject = "s"\nfixd = "1"\n', r"did you mean 'fixed'"),
        (
            '[[fault]]\nid = "a"\nsubject = "s"\nfixed = "1"\nbuggy = "2"\nfile = "f"\n',
            "only one of file and hunks is given",
        ),
        ('[[fault]]\nid = "a"\nsubject = "s"\nfixed = "1"\nbuggy = "2"\nfile = "f"\nhunks = [3]\n', "pairs of lines"),
        ('[[fault]]\nid = "a"\nsubject = "s"\nfixed = "1"\nbuggy = "2"\n' * 2, "two faults with the id 'a'"),
        ("[[fault]", "cannot be read"),
    ],
)
def test_a_list_that_cannot_be_used_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "faults.toml").write_text(text, "utf-8")
    with pytest.raises(InputError, match=message):
        load(tmp_path / "faults.toml")


@pytest.fixture
def bugsinpy(tmp_path: Path) -> Path:
    """A folder with a checkout of BugsInPy and one of the bug tool 3; of tool 4 there is nothing but its folder."""
    bug = tmp_path / "bugsinpy" / "projects" / "tool" / "bugs" / "3"
    bug.mkdir(parents=True)
    (bug / "bug_patch.txt").write_text(
        "--- a/test/test_tool.py\n+++ b/test/test_tool.py\n@@\n--- a/tool/core.py\n+++ b/tool/core.py\n@@\n", "utf-8"
    )
    (tmp_path / "bugsinpy" / "projects" / "tool" / "bugs" / "4").mkdir()
    for version in ("fixed", "buggy"):
        (tmp_path / "work" / "tool" / "3" / version / "tool" / "tool").mkdir(parents=True)
        (tmp_path / "work" / "tool" / "3" / version / "tool" / "setup.py").touch()
    return tmp_path


def test_a_checkout_of_bugsinpy_is_a_list_of_pairs(bugsinpy: Path) -> None:
    (found,) = from_bugsinpy(bugsinpy / "bugsinpy", bugsinpy / "work")
    assert (found.id, found.subject) == ("tool_3", "tool.core")
    assert found.fixed == str(bugsinpy / "work" / "tool" / "3" / "fixed" / "tool")


def test_the_command_line_makes_a_list_of_it(bugsinpy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = [str(bugsinpy / name) for name in ("bugsinpy", "work", "list.toml")]
    with pytest.raises(SystemExit, match="0"):
        main(["study", "bugsinpy", *places])
    assert "list.toml: 1 faults" in capsys.readouterr().out
    assert list(load(bugsinpy / "list.toml")) == ["tool_3"]


@pytest.mark.parametrize(
    ("checkouts", "output", "message"),
    [("bugsinpy", "list.toml", "have no bug in common"), ("work", "list", "does not end in .toml")],
)
def test_a_list_of_nothing_is_not_written(
    bugsinpy: Path, capsys: pytest.CaptureFixture[str], checkouts: str, output: str, message: str
) -> None:
    places = [str(bugsinpy / name) for name in ("bugsinpy", checkouts, output)]
    with pytest.raises(SystemExit, match="2"):
        main(["study", "bugsinpy", *places])
    assert message in capsys.readouterr().err.replace("\n", " ")
    assert not (bugsinpy / output).exists()


def test_a_list_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = [
        Fault("a", "m:C", "2", "1", "p", ("q==1", "r"), "m.py", ((1, 2), (4, 3)), "output"),
        Fault("quote", "m", str(tmp_path / 'a "b" \\ é'), str(tmp_path / "c")),
    ]
    (tmp_path / "list.toml").write_text(as_toml(found), "utf-8")
    assert list(load(tmp_path / "list.toml").values()) == found


def test_the_list_that_comes_with_the_studies_can_be_read() -> None:
    found = load(Path(__file__).parents[2] / "studies" / "faults.toml")
    assert len(found) == 72 and {one.kind for one in found.values()} == {"exception", "output"}
    assert sum(bool(one.hunks) for one in found.values()) == 71
