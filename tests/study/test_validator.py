"""The validator gives up a record that does not end, and validates the next one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly

from fitgym.cli import main
from fitgym.errors import InputError
from fitgym.study.cell import place, record, save
from fitgym.study.plan import Cell, Plan
from fitgym.study.store import Store
from fitgym.study.validation import Claim
from fitgym.study.validator import Validator

SETTINGS = {"search": "mio", "population": 10}


@pytest.fixture(scope="module")
def quick() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(record(Cell("artificial", "MIO", "gradient:3", 1, "40x", SETTINGS)))
    return found


def endless() -> dict[str, Any]:
    cell = Cell("artificial", "MIO", "deceptive:400+gradient:1", 1, "4000000000x", SETTINGS)
    return {**json.loads(record(Cell("artificial", "MIO", "gradient:3", 1, "40x", SETTINGS))), "id": cell.id} | {
        "subject": cell.subject,
        "budget": cell.budget,
    }


@nightly
def test_a_record_that_takes_too_long_is_not_valid_and_the_next_one_is_validated(quick: dict[str, Any]) -> None:
    with Validator(8.0) as validator:
        assert validator.validate(Claim("first", quick)).valid
        (reason,) = validator.validate(Claim("second", endless())).reasons
        assert reason == "cannot be repeated within 8 s; raise --limit if the run may take longer"
        assert validator.validate(Claim("third", quick)).valid


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), float("inf"), 1e12])
def test_a_limit_that_is_none_is_refused(limit: float) -> None:
    with pytest.raises(InputError, match="expected a number above 0"):
        Validator(limit)


def test_what_a_record_holds_never_ends_the_validator(quick: dict[str, Any]) -> None:
    with Validator(60.0) as validator:
        for change in ({"settings": []}, {"seed": "x"}, {"subject": ["a"]}, {"measures": None}, {"trial": "../x"}):
            assert not validator.validate(Claim("one", {**quick, **change})).valid


Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """`fitgym validate` in this process: its exit code, standard output and standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["validate", *arguments])
        return int(str(ended.value.code)), *capsys.readouterr()

    return run


def test_the_command_gives_up_a_record_after_the_limit(tmp_path: Path, command: Command) -> None:
    (tmp_path / "endless.json").write_text(json.dumps(endless()), "utf-8")
    code, out, err = command(str(tmp_path / "endless.json"), "--limit", "1")
    assert code == 1 and "cannot be repeated within 1 s" in out and err == ""


def test_sources_without_records_are_bad_input(tmp_path: Path, command: Command) -> None:
    (tmp_path / "blank.jsonl").write_text("\n\n", "utf-8")
    for source in ("/dev/null", str(tmp_path / "blank.jsonl")):
        code, out, err = command(source)
        assert (code, out) == (2, "")
        assert err == f"fitgym: '{source}' contains no record; expected at least one\n"


def test_a_record_that_is_nested_deep_is_not_valid_and_the_others_are_validated(
    tmp_path: Path, quick: dict[str, Any], command: Command
) -> None:
    deep = json.dumps(quick)[:-1] + ', "more": ' + 900 * "[" + 900 * "]" + "}"
    (tmp_path / "two.jsonl").write_text(f"{deep}\n{json.dumps(quick)}\n", "utf-8")
    code, out, err = command(str(tmp_path / "two.jsonl"))
    assert (code, err) == (1, "") and "nested" in out.splitlines()[0]
    assert out.splitlines()[1].startswith("✓ MIO, gradient:3, seed 1")


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000, '{"error": ""}'])
def test_a_broken_record_in_the_folder_of_a_study_is_no_traceback(tmp_path: Path, text: str, command: Command) -> None:
    plan = Plan.of(
        {
            "name": "a",
            "trial": "artificial",
            "subjects": ["gradient:3"],
            "seeds": 1,
            "budget": "40x",
            "arms": [{"name": "A"}],
        }
    )
    Store.create(tmp_path, plan)
    save(text, place(tmp_path, plan.cells()[0].id))
    code, _, err = command(str(tmp_path))
    assert code in (1, 2) and "Traceback" not in err and err.count("\n") < 2
