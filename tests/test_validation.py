"""Validation: a record that is true is found true, and one that was touched is not."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fitgym
from fitgym.errors import InputError
from fitgym.run.validation import Claim, claims, validate
from fitgym.study.cell import record
from fitgym.study.plan import Cell
from fitgym.study.trials.episode import Episode

SETTINGS = {**Episode.settings(), "population": 4, "goal": "coverage", "suite": True}


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(record(Cell("episode", "UCB", "colorsys", 5, "60x", SETTINGS)))
    assert not found["error"] and "def test_" in found["run"]["suite"] and found["run"]["tests"] > 0
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

    run = made["run"]
    assert "value is" in reasons(touched("measures", "value", value=1.0))
    assert "goal value" in reasons(touched("run", "goal_value", value=0.5))
    assert "the reward is" in reasons(touched("run", "rewards", value=[9.0, *run["rewards"][1:]]))
    assert "the source of 'colorsys' is not the recorded one" in reasons(
        touched("run", "source_sha256", value="0" * 64)
    )
    wrong = run["suite"] + "\n\ndef test_of_my_own():\n    assert False\n"
    assert "test_of_my_own fails" in reasons(touched("run", "suite", value=wrong))
    more = run["suite"] + "\n\ndef test_of_my_own():\n    assert True\n"
    assert f"has {run['tests'] + 1} tests, recorded were {run['tests']}" in reasons(touched("run", "suite", value=more))
    other = next(name for name in run["actions"] if name != run["actions"][0])
    assert reasons(touched("run", "actions", value=[other, *run["actions"][1:]]))
    assert "the record has no 'env'" in reasons(touched("run", value={}))
    assert "lacks something" in reasons({**made, "measures": None})
    assert "seed of the run is 5, claimed is 6" in reasons(touched("seed", value=6))
    assert "budget of the run is '60x', claimed is '50x'" in reasons(touched("budget", value="50x"))
    assert "agent of the run is 'ucb', claimed is 'uniform'" in reasons(touched("settings", "agent", value="uniform"))
    assert "goal of the run is 'coverage', claimed is 'diversity'" in reasons(
        touched("settings", "goal", value="diversity")
    )


def test_a_run_that_can_only_be_made_again_is_compared_by_its_numbers() -> None:
    found = json.loads(record(Cell("artificial", "MIO", "gradient:3", 1, "40x", {"search": "mio", "population": 10})))
    assert reasons(found) == ""
    found["measures"]["covered"] = 0.123
    assert reasons(found).startswith("covered is ")


def test_a_run_that_has_failed_claims_nothing() -> None:
    found = json.loads(record(Cell("episode", "UCB", "no_such_module", 5, "60x", SETTINGS)))
    assert found["error"] and reasons(found) == ""
    assert "cannot be made again" in reasons({**found, "error": "", "run": {}, "trial": "artificial", "settings": {}})


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
    assert second.startswith("✗ fixed:branch, colorsys, seed 0; goal value: ")
    assert last == "1 of 2 records are valid"


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"a": 1}'])
def test_a_file_without_records_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "records.json").write_text(text, "utf-8")
    with pytest.raises(InputError):
        list(claims([tmp_path / "records.json"]))


def test_an_empty_file_is_refused_and_a_record_without_a_subject_is_a_claim_that_does_not_hold(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("", "utf-8")
    with pytest.raises(InputError, match="holds no record, expected at least one"):
        list(claims([tmp_path / "empty.jsonl"]))
    (tmp_path / "one.json").write_text('{"actions": [], "agent": "ucb"}', "utf-8")
    (claim,) = claims([tmp_path / "one.json"])
    assert validate(claim).reasons[0].startswith("cannot be made again: the record has no 'env'")
