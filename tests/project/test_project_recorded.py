"""The record of a module: its mutants, and the reason if there are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sample_project import AT_MOST, NEVER, SUBTRACT, TILL, make, record

from fitgym.project.layout import Project, find
from fitgym.project.report.recorded import Recorded, recorded


def read(root: Path, source: str = TILL) -> Recorded:
    project: Project = find(str(root))
    (module,) = [one for one in project.modules if one.name == "shop.till"]
    return recorded(project, module, source)


def test_mutants_come_with_what_they_change(tmp_path: Path) -> None:
    record(make(tmp_path))
    found = read(tmp_path)
    assert (found.problem, found.total, found.killed, found.killed_before) == ("", 3, 2, None)
    ((survivor,), killed) = found.survivors, found.kills["test_change_2_1_returns_1"]
    assert (survivor.line, survivor.original, survivor.replacement) == (19, "<", "<=")
    assert [(mutant.id, mutant.line) for mutant in killed] == [(SUBTRACT, 21)]
    assert [mutant.id for mutant in found.kills["test_change_1_2_returns_none"]] == [NEVER]


def test_what_was_left_out_is_told_with_its_reason(tmp_path: Path) -> None:
    record(make(tmp_path))
    found = read(tmp_path)
    assert found.dropped == (("test_total_of_now", "AssertionError"),)
    assert found.unfinished == ("minimising: stopped by the clock",)


def test_a_module_without_a_record_says_so(tmp_path: Path) -> None:
    assert read(make(tmp_path)).problem.startswith("No record")


def test_a_record_of_another_source_gives_no_mutants_but_what_was_left_out(tmp_path: Path) -> None:
    record(make(tmp_path))
    found = read(tmp_path, TILL + "\n")
    assert "has changed since" in found.problem and not found.survivors and found.dropped


def test_a_record_whose_run_tried_no_mutants_says_so(tmp_path: Path) -> None:
    record(make(tmp_path), mutants=None)
    assert "used none" in read(tmp_path).problem


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"text"', "{}", "[" * 100_000, "\x00"])
def test_a_file_that_is_no_record_says_so(tmp_path: Path, text: str) -> None:
    record(make(tmp_path)).write_text(text)
    assert "shop.till.json" in read(tmp_path).problem


@pytest.mark.parametrize(
    "changes",
    [
        {"mutants": 3},
        {"mutants": {"total": "many"}},
        {"mutants": {"total": 1, "killed": 0, "by_test": [], "survivors": []}},
        {"mutants": {"total": 1, "killed": 0, "by_test": {}, "survivors": 7}},
        {"dropped": ["test_it"]},
        {"unfinished": 5},
    ],
)
def test_a_record_with_odd_parts_says_so(tmp_path: Path, changes: dict[str, Any]) -> None:
    record(make(tmp_path), **changes)
    assert "was not written by `fitgym generate`" in read(tmp_path).problem


def test_mutants_that_this_version_of_python_does_not_make_are_counted_only(tmp_path: Path) -> None:
    score = {"total": 9, "killed": 1, "by_test": {"test_x": ["old:1:1:call:x"]}, "survivors": ["older", AT_MOST]}
    record(make(tmp_path), mutants=score)
    found = read(tmp_path)
    assert (found.total, found.kills, [one.id for one in found.survivors]) == (9, {"test_x": ()}, [AT_MOST])


@pytest.mark.parametrize(
    ("existing", "before"),
    [
        (None, None),
        ({"tests": 3}, None),
        ({"mutants": {"killed": 2}}, None),
        ({"mutants": {"killed": ["a", "b", "c"]}}, 3),
        ({"mutants": {"killed": "two"}}, None),
        ([], None),
    ],
)
def test_mutants_that_existing_tests_kill_are_optional(tmp_path: Path, existing: Any, before: int | None) -> None:
    record(make(tmp_path), existing=existing)
    assert read(tmp_path).killed_before == before
