"""Entries on numbered tasks: named by their training, scored by what validation measured again."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from fitgym.agents.base import make
from fitgym.run.evaluation import evaluate
from fitgym.study.entries import named, scores
from fitgym.study.leaderboard import boards, markdown, table
from fitgym.study.validation import Claim, Validity, claims, validate

ENV = "fitgym/Landscapes-v0"


def answer(agent: str, task: int, value: float, seed: int = 0, why: str = "", **changes: Any) -> Validity:
    record = {
        **{"env": ENV, "agent": agent, "seed": seed, "budget": None, "goal_value": value},
        **{"options": {"split": "train", "task": task}, **changes},
    }
    return Validity(Claim(agent, record), (why,) if why else (), made={"goal_value": value})


def saved(folder: Path, seed: int, **more: Any) -> str:
    agent = make("ucb:c=0.25", 7, seed=seed)
    agent.made = {"steps": 40, "episodes": 2, "trainings": [{"steps": 40, "episodes": 2, **more}]}
    return str(agent.save(folder / str(seed)))


def test_a_score_is_the_mean_over_the_tasks_for_each_seed() -> None:
    answers = [answer("uniform", task, 0.1 * task - 20, seed) for task in (205, 206) for seed in (0, 1)]
    (found,) = scores([*answers, answer("uniform", 205, 0.7)])
    assert found.place == "tasks 205 to 206" and found.tasks == (205, 206)
    # Task 205 with seed 0 was played twice: 0.5 and 0.7.
    assert {seed: round(value, 6) for seed, value in found.values["uniform"].items()} == {0: 0.6, 1: 0.55}


def test_saved_agents_of_the_same_training_are_one_entry(tmp_path: Path) -> None:
    assert named(saved(tmp_path, 3), 0) == ("ucb:c=0.25 (40 steps)", 3)
    assert named(saved(tmp_path, 4, data="data/a-v0,b-v1"), 0) == ("ucb:c=0.25 (40 updates from a-v0, b-v1)", 4)
    assert named("fixed:nearest", 5) == ("fixed:nearest", 5)


def test_what_is_invalid_not_repeated_or_no_test_task_does_not_count() -> None:
    others = [
        answer("uniform", 205, 0.5, why="the reward is another one"),
        replace(answer("uniform", 205, 0.5), made={}),
        answer("uniform", 20, 0.5),
        answer("uniform", 450, 0.5),
        answer("uniform", 205, 0.5, env="fitgym/Corpus-v0"),
        answer("uniform", 205, 0.5, env="fitgym/Nothing-v0"),
        answer("uniform", 205, 0.5, trial="episode", settings={}, subject="html"),
    ]
    assert scores(others) == []


def test_other_options_make_another_board_and_the_split_does_not() -> None:
    answers = [
        answer("uniform", 205, 0.5),
        answer("ucb", 205, 0.5, options={"split": "test", "task": 205}),
        answer("ucb", 205, 0.5, options={"split": "test", "task": 205, "horizon": 3}),
    ]
    assert [(one.conditions, sorted(one.values)) for one in scores(answers)] == [
        ("", ["ucb", "uniform"]),
        ("horizon 3", ["ucb"]),
    ]


def test_the_board_shows_scores_and_names_what_is_missing() -> None:
    answers = [answer("uniform", task, 0.4 + 0.1 * seed, seed) for task in (205, 206) for seed in (0, 1)]
    answers += [answer("ucb", task, 0.8 + 0.1 * seed, seed) for task in (205, 206) for seed in (0, 1)]
    text = markdown(boards([*answers, answer("linucb", 205, 0.9)]))
    assert f"# Leaderboard on {ENV}" in text and f"## {ENV}: tasks 205 to 206" in text
    lines = text.splitlines()
    assert any(line.startswith("| 1 | ucb | 0.850 [0.800, 0.900] | 2 |") for line in lines)
    assert any(line.startswith("| 2 | uniform | 0.450 [0.400, 0.500] | 2 | 0.00") for line in lines)
    assert "linucb is left out: it has 1 of 2 tasks." in text
    assert "Baselines are missing: a constant action (fixed:NAME)." in text
    rows = list(csv.DictReader(table(boards(answers)).splitlines()))
    assert [(row["agent"], row["seed"], row["value"]) for row in rows] == [
        *(("ucb", "0", "0.800000"), ("ucb", "1", "0.900000")),
        *(("uniform", "0", "0.400000"), ("uniform", "1", "0.500000")),
    ]


def test_records_of_evaluate_are_repeated_by_validation_and_reach_the_board(tmp_path: Path) -> None:
    rows = list(evaluate(["uniform", "fixed:nearest"], env=ENV, tasks="200-201", seeds=[0, 1]))
    file = tmp_path / "entry.jsonl"
    file.write_text("".join(json.dumps(row.record) + "\n" for row in rows))
    answers = [validate(claim) for claim in claims([file])]
    assert all(one.valid for one in answers)
    (board,) = boards(answers)
    assert board.scored and {agent for agent, *_ in board.lines()} == {"uniform", "fixed:nearest"}
    changed = {**json.loads(file.read_text().splitlines()[0]), "goal_value": 0.99}
    file.write_text(json.dumps(changed) + "\n")
    assert scores([validate(claim) for claim in claims([file])]) == []
