"""Validation: other tasks than those of the training, played as `fitgym evaluate` plays them."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fitgym.agents.base import Agent
from fitgym.errors import InputError
from fitgym.learning.training import Training, train
from fitgym.learning.validation import validation_tasks
from fitgym.run.evaluation import evaluate
from fitgym.run.setting import Setting

LANDSCAPES = "fitgym/Landscapes-v0"


def request(folder: Path, **more: Any) -> Training:
    given = {"env": LANDSCAPES, "steps": 50, "validate": 20, "validate_on": "0-2", "output": str(folder / "policy")}
    return Training.of("linucb", **{**given, **more})


def lines(folder: Path) -> list[dict[str, str]]:
    with (folder / "policy" / "validation.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_training_validates_at_intervals_and_after_its_end(tmp_path: Path) -> None:
    told = []
    found = train(request(tmp_path), validated=told.append)
    assert [point.step for point in told] == [20, 40, 50] and tuple(told) == found.validations
    assert [line["step"] for line in lines(tmp_path)] == ["20", "40", "50"]
    assert all(point.low <= point.mean <= point.high and point.episodes == 3 for point in told)
    assert not (tmp_path / "policy" / "validated").exists() and not (tmp_path / "policy" / "best").exists()


def test_the_last_validation_is_what_evaluate_finds(tmp_path: Path) -> None:
    found = train(request(tmp_path))
    rows = list(evaluate([str(tmp_path / "policy")], env=LANDSCAPES, tasks="0-2", seeds=[0]))
    assert found.validations[-1].mean == pytest.approx(sum(row.rewards for row in rows) / 3)


def test_validating_does_not_change_the_training(tmp_path: Path) -> None:
    train(request(tmp_path / "a"))
    train(request(tmp_path / "b", validate=0, validate_on=""))
    one, other = (tmp_path / name / "policy" / "agent.json" for name in "ab")
    assert one.read_text() == other.read_text()


def test_the_best_agent_is_kept_if_asked(tmp_path: Path) -> None:
    found = train(request(tmp_path, best=True))
    at = max(found.validations, key=lambda point: point.mean)
    best = Agent.load(tmp_path / "policy" / "best")
    assert best.n_updates == at.step
    rows = list(evaluate([str(tmp_path / "policy" / "best")], env=LANDSCAPES, tasks="0-2", seeds=[0]))
    assert at.mean == pytest.approx(sum(row.rewards for row in rows) / 3)


def test_a_resumed_training_keeps_the_earlier_validations(tmp_path: Path) -> None:
    train(request(tmp_path, steps=40, checkpoint=20))
    before = lines(tmp_path)
    found = train(request(tmp_path, steps=60, checkpoint=20, resume=True))
    assert [point.step for point in found.validations] == [20, 40, 60]
    assert lines(tmp_path)[:2] == before


def test_each_kind_of_environment_has_its_validation_tasks() -> None:
    def tasks(env: str, subjects: str = "", on: str = "") -> dict[str, Any]:
        return validation_tasks(Setting(env=env), subjects, on)

    assert tasks(LANDSCAPES) == {"tasks": "0-49", "seeds": [0]}
    assert tasks("fitgym/Toy-v0") == {"seeds": range(10)}
    assert tasks("fitgym/Corpus-v0") == {"seeds": range(10), "split": "validation"}
    found = tasks("fitgym/FitnessSelection-v0", "stdlib-v1:train")
    assert found == {"subjects": "stdlib-v1:validation", "seeds": [0]}
    assert tasks("fitgym/FitnessSelection-v0", "html,", "colorsys,")["subjects"] == "colorsys,"
    with pytest.raises(InputError, match="are no training split of a corpus: name the subjects to validate on"):
        tasks("fitgym/FitnessSelection-v0", "html,")
    with pytest.raises(InputError, match="has no subjects and no numbered tasks: leave --validate-on out"):
        tasks("fitgym/Toy-v0", on="3-4")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"validate": -1}, "validate is -1, expected a number of steps, or 0 for none"),
        ({"validate": 0, "best": True}, "validate is 0, but validation tasks or the best policy were requested"),
    ],
)
def test_bad_input_is_refused_before_the_training(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        train(request(tmp_path, **{"validate_on": "", **options}))
    assert not (tmp_path / "policy").exists()


def test_a_deep_agent_validates_after_its_first_update_and_tells_tensorboard(tmp_path: Path) -> None:
    for library in ("stable_baselines3", "tensorboard"):
        pytest.importorskip(library, reason="deep agents and their log need the extra 'deep'")
    asked = request(tmp_path, envs=2, validate=10, tensorboard=True)
    found = train(replace(asked, setting=replace(asked.setting, agent="ppo:n_steps=10,batch_size=20")))
    assert [point.step for point in found.validations] == [30, 40, 50]
    assert list((tmp_path / "policy" / "log" / "validation").glob("events.*"))
