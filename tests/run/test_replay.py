"""Replaying a record: everything is reproduced, and a changed record is detected."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly

import fitgym
from fitgym.errors import InputError, SubjectError
from fitgym.run.record import read
from fitgym.run.replay import replay

Recorded = tuple[dict[str, Any], Path]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """The record of a short run, and the folder with its suite."""
    folder = tmp_path_factory.mktemp("run")
    fitgym.generate(
        *("colorsys",),
        **{"goal": "coverage", "agent": "ucb", "budget": "200x", "seed": 4, "population": 8},
        output=folder,
        json=folder / "record.json",
    )
    return read(folder / "record.json"), folder


def test_every_reward_comes_again_and_the_suite_passes(recorded: Recorded) -> None:
    record, folder = recorded
    found = replay(record, suite=folder)
    assert found.differences == () and found.notes == ()
    assert found.steps == record["steps"] > 1 and found.tests == record["tests"] > 0


@nightly
def test_a_run_with_another_search_and_another_secondary_objective_is_replayed_too(tmp_path: Path) -> None:
    options: dict[str, Any] = {"goal": "coverage", "agent": "fixed:branch+line", "smart": True, "budget": "300x"}
    run = fitgym.generate("html", search="adynamosa", secondary="performance", output=tmp_path, **options)
    assert run.record["options"]["smart"] and run.record["options"]["secondary"] == "performance"
    assert "--search adynamosa --smart --secondary performance --budget 300x" in run.source
    assert replay(run.record, suite=tmp_path).differences == ()


@nightly
def test_actions_with_populations_of_their_own_are_replayed_too(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "agent": "uniform",
        "goal": "coverage",
        "populations": "per-action",
        "budget": "300x",
        "population": 5,
        "generations_per_step": 2,
    }
    run = fitgym.generate("textwrap", output=tmp_path, **options)
    assert "--population 5 --generations-per-step 2 --populations per-action" in run.source
    assert replay(run.record, suite=tmp_path).differences == ()
    assert replay(
        {**run.record, "options": {**run.record["options"], "populations": "shared"}}
    ).differences  # which makes it another run


@nightly
def test_an_agent_that_is_fixed_is_replayed_too(tmp_path: Path) -> None:
    run = fitgym.generate("html", goal="coverage", agent="fixed:branch+line+output", budget="6g", output=tmp_path)
    assert replay(run.record).differences == ()


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"rewards": 1}, r"step 2, .*: the reward is .*, recorded was "),
        ({"seed": 5}, "the reward is|generations|goal value|ends after"),
        ({"generations": 1}, r"generations: \d+, recorded was 1"),
        ({"goal_value": -1.0}, r"goal value: .*, recorded was -1\.0"),
        ({"source_sha256": "0" * 64}, "the source of 'colorsys' is not the recorded one"),
    ],
)
def test_what_was_changed_is_found(recorded: Recorded, change: dict[str, Any], difference: str) -> None:
    record, _ = recorded
    if "rewards" in change:
        change = {"rewards": [record["rewards"][0], record["rewards"][1] + 1e-12 + 1, *record["rewards"][2:]]}
    found = replay({**record, **change})
    assert any(re.search(difference, text) for text in found.differences)


def test_a_budget_in_seconds_is_compared_up_to_its_last_step(recorded: Recorded) -> None:
    record, _ = recorded
    found = replay({**record, "budget": "30s"})
    assert found.differences == () and found.steps == record["steps"] - 1
    assert "the step that the clock cut off cannot be compared" in found.notes[0]


def test_another_version_is_a_note(recorded: Recorded) -> None:
    record, _ = recorded
    assert replay({**record, "fitgym_version": "0.0.1"}).notes[0].startswith("recorded by fitgym 0.0.1, replayed by")


def test_a_test_that_fails_now_is_a_difference(recorded: Recorded, tmp_path: Path) -> None:
    record, _ = recorded
    (tmp_path / "suite.py").write_text("def test_wrong():\n    assert 1 == 2\n")
    found = replay(record, suite=tmp_path / "suite.py")
    assert found.tests == 0 and "test_wrong fails" in found.differences[0]


def test_a_record_that_lacks_something_is_an_error(recorded: Recorded) -> None:
    record, _ = recorded
    with pytest.raises(InputError, match="the record has no 'actions', expected one that"):
        replay({key: value for key, value in record.items() if key != "actions"})
    with pytest.raises(SubjectError):
        replay({**record, "subject": "no_such_module"})
    with pytest.raises(InputError, match=r"the suite '.*nothing' cannot be read"):
        replay(record, suite="nothing")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"options": []}, "options of the record does not fit: expected a table, got a list"),
        ({"actions": None}, "actions of the record is None, expected a list, got null"),
        ({"rewards": []}, "actions and 0 rewards, expected one reward for each action"),
        ({"options": {"executor": 1}}, "'executor' is not an option of an environment"),
        ({"options": {"budget": "5g"}}, "'budget' is not an option of an environment"),
        ({"seed": "four"}, "seed of the record is 'four', expected a whole number"),
        ({"env": "fitgym/Nope-v0"}, "no environment named 'fitgym/Nope-v0'"),
    ],
)
def test_a_damaged_record_is_refused_in_one_sentence(recorded: Recorded, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replay({**recorded[0], **change})


def test_a_file_with_several_records_is_for_validate(recorded: Recorded, tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text(2 * (json.dumps(recorded[0]) + "\n"))
    with pytest.raises(InputError, match="`fitgym validate` repeats a file with a record in each line"):
        read(tmp_path / "runs.jsonl")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ("[]", "holds a list, expected a record"),
        (None, "cannot be read"),
    ],
)
def test_a_file_without_a_record_is_an_error(text: str | None, message: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "record.json").write_text(text)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "record.json")


def test_the_command_says_what_it_found(recorded: Recorded, tmp_path: Path) -> None:
    record, folder = recorded
    (tmp_path / "wrong.json").write_text(json.dumps({**record, "generations": 1}))

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "fitgym", "replay", *arguments], cwd=tmp_path, capture_output=True, text=True
        )

    good = command(str(folder / "record.json"), "--suite", str(folder))
    assert good.returncode == 0, good.stdout + good.stderr
    assert good.stdout == f"{record['steps']} steps, every reward is as recorded, {record['tests']} tests pass\n"
    wrong = command("wrong.json")
    assert wrong.returncode == 1 and "recorded was 1" in wrong.stdout
    missing = command("nowhere.json")
    assert missing.returncode == 2 and "the record 'nowhere.json' cannot be read" in missing.stderr
