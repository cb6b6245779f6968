"""Validation: true records pass, and changed ones fail."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly

import fitgym
from fitgym.errors import InputError
from fitgym.study.cell import record
from fitgym.study.plan import Cell
from fitgym.study.trials.episode import Episode
from fitgym.study.validation import FAILED, Claim, claims, validate

TRIANGLE = str(Path(__file__).parents[1] / "programs" / "triangle.py")
SETTINGS = {**Episode.settings(), "population": 4, "goal": "coverage", "suite": True}


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(record(Cell("episode", "UCB", TRIANGLE, 5, "60x", SETTINGS)))
    assert not found["error"] and "def test_" in found["run"]["suite"] and found["run"]["tests"] > 0
    return found


@pytest.fixture(scope="module")
def searched() -> dict[str, Any]:
    """The record of the same run without a suite, which takes less time to make again."""
    found: dict[str, Any] = json.loads(
        record(Cell("episode", "UCB", "colorsys", 5, "60x", SETTINGS | {"suite": False}))
    )
    assert not found["error"] and "run" in found
    return found


def reasons(changed: dict[str, Any]) -> str:
    return "; ".join(validate(Claim("one", changed)).reasons)


def test_a_record_that_is_true_is_valid(made: dict[str, Any]) -> None:
    assert reasons(made) == ""


def test_what_was_touched_is_found(made: dict[str, Any]) -> None:
    def touched(*path: str, value: Any) -> dict[str, Any]:
        changed = copy.deepcopy(made)
        place = changed
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        return changed

    more = made["run"]["suite"] + "\n\ndef test_of_my_own():\n    assert True\n"
    said = reasons(touched("run", "suite", value=more) | {"measures": made["measures"] | {"value": 1.0}})
    assert "value is" in said and "suite is" in said  # test_forgery.py changes every field alone
    assert "measures of the record is None, expected a table" in reasons({**made, "measures": None})
    for path, value in (
        (("seed",), 6),
        (("budget",), "50x"),
        (("arm",), "mybest"),
        (("settings", "agent"), "uniform"),
        (("settings", "goal"), "diversity"),
    ):
        assert "the id of trial, arm, subject, seed, budget and settings is" in reasons(touched(*path, value=value))


def test_a_record_with_the_id_of_what_it_claims_is_found_by_what_the_agent_does(searched: dict[str, Any]) -> None:
    settings = {**searched["settings"], "agent": "uniform"}
    cell = Cell("episode", "UCB", "colorsys", 5, "60x", settings)
    said = reasons({**searched, "settings": settings, "id": cell.id})
    assert "agent is 'uniform', recorded was 'ucb'" in said and "the id of" not in said


def test_a_run_that_can_only_be_made_again_is_compared_by_its_numbers() -> None:
    found = json.loads(record(Cell("artificial", "MIO", "gradient:3", 1, "40x", {"search": "mio", "population": 10})))
    assert reasons(found) == ""
    found["measures"]["covered"] = 0.123
    assert reasons(found).startswith("covered is ")


def test_a_run_that_has_failed_claims_nothing() -> None:
    found = json.loads(record(Cell("episode", "UCB", "no_such_module", 5, "60x", SETTINGS)))
    assert found["error"] and reasons(found) == ""
    assert validate(Claim("one", found)).unchecked == {"error": FAILED}
    cell = Cell("artificial", "UCB", "no_such_module", 5, "60x", {})
    other = {**found, "id": cell.id, "trial": "artificial", "settings": {}, "error": ""}
    assert reasons(other).startswith("cannot be repeated: no kind of targets named 'no_such_module'")


@nightly
def test_the_command_ticks_records_of_runs_and_crosses_those_that_were_touched(tmp_path: Path) -> None:
    run = fitgym.generate(
        "colorsys", goal="coverage", budget="6g", population=6, output=tmp_path, json=tmp_path / "a.json"
    )
    (tmp_path / "b.jsonl").write_text(json.dumps({**run.record, "goal_value": 0.0}) + "\n", "utf-8")
    command = [sys.executable, "-m", "fitgym", "validate", str(tmp_path / "a.json"), str(tmp_path / "b.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    first, second, last = done.stdout.splitlines()
    assert first.startswith("✓ fixed:branch, colorsys, seed 0")
    assert second.startswith("✗ fixed:branch, colorsys, seed 0; goal value is ")
    assert last == "1 of 2 records are valid (unchecked in each: seconds, fitgym_version, python)"


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"a": 1}'])
def test_a_file_without_records_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "records.json").write_text(text, "utf-8")
    with pytest.raises(InputError):
        list(claims([tmp_path / "records.json"]))


def test_an_empty_file_is_refused_and_a_record_without_a_subject_is_a_claim_that_does_not_hold(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("", "utf-8")
    for nothing in (tmp_path / "empty.jsonl", "/dev/null"):
        with pytest.raises(InputError, match="contains no record; expected at least one"):
            list(claims([nothing]))
    (tmp_path / "one.json").write_text('{"actions": [], "agent": "ucb"}', "utf-8")
    (claim,) = claims([tmp_path / "one.json"])
    assert validate(claim).reasons[0].startswith("cannot be repeated: the record has no 'env'")


def test_a_record_of_another_version_says_so(searched: dict[str, Any]) -> None:
    found = validate(Claim("one", {**searched, "fitgym_version": "0.0.1"}))
    assert found.valid and "recorded by 0.0.1, repeated by " in str(found)


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("../a\0.py", "expected a file beside the record"),
        ("x" * 300, "cannot be repeated: no environment named 'x'"),  # longer than the name of a file can be
    ],
)
def test_no_suite_is_read_where_a_record_names_no_file(place: str, reason: str, tmp_path: Path) -> None:
    record = {"actions": [], "rewards": [], "agent": "ucb", "env": "x", "subject": "y", "seed": 0, "budget": "1x"}
    (tmp_path / "one.json").write_text(json.dumps({**record, "options": {}, "suite_path": place}), "utf-8")
    (claim,) = claims([tmp_path / "one.json"])
    assert claim.suite is None and reason in validate(claim).reasons[0]
