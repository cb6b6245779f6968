"""The schema of records: any mismatch gives one sentence that names the field."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from fitgym.errors import InputError
from fitgym.run.schema import DEEPEST, StudyRecord, check, parsed, read_text

RUN: dict[str, Any] = {
    **{"env": "fitgym/FitnessSelection-v0", "subject": "colorsys", "agent": "ucb", "seed": 0, "budget": "60x"},
    **{"options": {}, "actions": ["branch"], "rewards": [0.5]},
}


def nested(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


def test_a_record_that_fits_is_given_back() -> None:
    assert check(RUN) is RUN
    assert check({**RUN, "coverage": {"branch": {"covered": 1, "total": 2}}, "measured": None, "mutants": None})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": "x"}, "seed of the record is 'x', expected a whole number, got text"),
        ({"seed": -1}, "seed of the record is -1, expected a whole number >= 0"),
        ({"seed": 10**40}, "seed of the record is out of range"),
        ({"seed": True}, "seed of the record is True, expected a whole number, got true or false"),
        ({"seed": 1.5}, "seed of the record is 1.5, expected a whole number, got a number"),
        ({"subject": ["a"]}, "subject of the record does not fit: expected text, got a list"),
        ({"executions": -5}, "executions of the record is -5, expected a whole number >= 0"),
        ({"options": []}, "options of the record does not fit: expected a table, got a list"),
        ({"rewards": ["1"]}, r"rewards\[0\] of the record|rewards.* expected a number, got text"),
        ({"actions": []}, "0 actions and 1 rewards, expected one reward for each action"),
        ({"coverage": {"branch": {"covered": 1}}}, "coverage.* missing required field"),
        ({"coverage": {"branch": 3}}, "coverage.* expected a table, got a whole number"),
        ({"exceptions": [{"type": 1, "function": "f", "kind": "explicit"}]}, "exceptions.*expected text"),
        ({"suite_path": "../../etc/passwd"}, "suite_path of the record is '../../etc/passwd', expected a file beside"),
        ({"suite_path": "/etc/passwd"}, "expected a file beside the record"),
        ({"novel": 1}, "the record has an unknown field 'novel'"),
        ({"options": {"a": nested(DEEPEST)}}, "nested more than 30 levels deep"),
        ({"options": {"a": nested(900)}}, "nested more than 30 levels deep"),
    ],
)
def test_a_field_that_does_not_fit_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        check({**RUN, **change})
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


@pytest.mark.parametrize("name", list(RUN))
def test_a_field_that_is_missing_is_named(name: str) -> None:
    with pytest.raises(InputError, match=f"the record has no '{name}'"):
        check({key: value for key, value in RUN.items() if key != name})


@pytest.mark.parametrize("found", [None, [], 3, "text"])
def test_what_is_no_table_is_refused(found: object) -> None:
    with pytest.raises(InputError, match="expected a record: an object"):
        check(found)


def test_a_record_of_a_study_has_a_schema_of_its_own() -> None:
    with pytest.raises(InputError, match="the record has no 'id'"):
        check({**RUN}, StudyRecord)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ("9" * 10_000, "cannot be read"),
        ("{} {}", "Extra data"),
    ],
)
def test_a_text_that_is_no_json_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parsed(text, "the record")


def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(InputError, match="it is a pipe, expected a file"):
        read_text(tmp_path / "pipe.json", "the record")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"\xff\xfe")
    for file in (tmp_path / "a.json", tmp_path / "missing.json", tmp_path, Path("a\0b")):
        with pytest.raises(InputError, match="the record cannot be read"):
            read_text(file, "the record")


def test_json_numbers_without_end_are_numbers() -> None:
    assert check({**RUN, "goal_value": json.loads("Infinity")})
