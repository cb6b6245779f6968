"""Training: an agent learns across subjects, is saved completely or not at all, and can be used afterwards."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from nightly import nightly

import fitgym
from fitgym.agents.base import Agent
from fitgym.errors import InputError, SubjectError
from fitgym.learning.training import Episode, Training, train
from fitgym.run.environment import has_subject, make
from fitgym.run.evaluation import evaluate

TWO = "colorsys,html"


def request(folder: Path, agent: str = "dsg_sarsa", subjects: str = TWO, **more: Any) -> Training:
    options = {"steps": 8, "budget": "9g", "population": 4, "output": str(folder / "policy"), **more}
    return Training.of(agent, subjects, **options)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


OURS = sorted(env for env in gymnasium.registry if env.startswith("fitgym/"))


# An agent of MultiGoal-v0 learns from one number, so its training has weights.
@pytest.mark.parametrize("env", [env for env in OURS if env != "fitgym/MultiGoal-v0"])
def test_training_and_gymnasium_make_have_the_same_defaults(env: str) -> None:
    subject = {"subject": "colorsys"} if has_subject(env) else {}
    made = gymnasium.make(env, **subject).unwrapped
    trained = make(replace(Training.of("ucb", env=env).setting, **subject)).unwrapped
    for name in ("options", "budget", "reward_range", "observation_space", "action_space"):
        assert getattr(trained, name, None) == getattr(made, name, None), name
    made.close()
    trained.close()


def test_the_folder_holds_the_agent_and_all_that_is_needed_to_repeat_it(tmp_path: Path) -> None:
    agent = train(request(tmp_path)).agent
    folder = tmp_path / "policy"
    assert sorted(contents(folder)) == ["agent.json", "arrays.npz", "bundle.json", "episodes.jsonl"]
    bundle = json.loads((folder / "bundle.json").read_text())
    assert bundle["request"]["subjects"] == TWO and bundle["environment"]["subjects"] == ["colorsys", "html"]
    assert bundle["request"]["setting"]["budget"] == "9g" and bundle["seeds"] == {"agent": 0, "environments": [0]}
    assert bundle["hyper_parameters"]["alpha"] == 0.05
    assert bundle["action_names"] == list(agent.action_names) and "remaining_budget" in bundle["feature_names"]
    assert bundle["versions"].keys() >= {"fitgym", "python", "numpy", "gymnasium"}
    assert agent.n_updates == 8 == Agent.load(folder).n_updates


def test_every_episode_is_a_line_and_is_told(tmp_path: Path) -> None:
    told: list[Episode] = []
    train(request(tmp_path, steps=12), told.append)
    lines = [json.loads(line) for line in (tmp_path / "policy" / "episodes.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [episode.step for episode in told]
    assert len(lines) >= 3 and {line["subject"] for line in lines} <= {"colorsys", "html"}
    assert sum(line["length"] for line in lines) <= 12


def test_the_same_seed_gives_the_same_agent(tmp_path: Path) -> None:
    for name in ("a", "b"):
        train(request(tmp_path, output=str(tmp_path / name), seed=3))
    first, second = (contents(tmp_path / name) for name in ("a", "b"))
    assert first["agent.json"] == second["agent.json"] and first["episodes.jsonl"] == second["episodes.jsonl"]


def test_a_saved_agent_goes_on_learning(tmp_path: Path) -> None:
    train(request(tmp_path))
    again = train(request(tmp_path, agent=str(tmp_path / "policy"), output=str(tmp_path / "more"))).agent
    assert again.n_updates == 16


def made(folder: Path) -> Any:
    """How the agent in a folder was made; `agent.json` and `bundle.json` say the same."""
    found = json.loads((folder / "agent.json").read_text())["made"]
    bundle = json.loads((folder / "bundle.json").read_text())
    assert bundle["made"] == found and (bundle["steps"], bundle["episodes"]) == (found["steps"], found["episodes"])
    return found


def test_a_saved_agent_says_how_it_was_made(tmp_path: Path) -> None:
    episodes = train(request(tmp_path, steps=12, reward="paper")).episodes
    found = made(tmp_path / "policy")
    (training,) = found["trainings"]
    assert (found["steps"], found["episodes"]) == (12, len(episodes)) == (training["steps"], training["episodes"])
    assert training["corpus"] == TWO and training["subjects"] == ["colorsys", "html"]
    assert training["environment"]["budget"] == "9g" and training["environment"]["reward"] == "paper"
    assert training["environment"].keys() >= {"id", "goal", "features", "population", "generations_per_step"}
    assert training["seeds"] == {"agent": 0, "environments": [0]} and training["fitgym"] == fitgym.__version__


def test_an_agent_that_goes_on_learning_keeps_the_trainings_of_its_parents(tmp_path: Path) -> None:
    first = train(request(tmp_path, steps=12)).episodes
    second = train(
        request(tmp_path, agent=str(tmp_path / "policy"), subjects="html,", output=str(tmp_path / "more"), seed=5)
    )
    found = made(tmp_path / "more")
    assert (found["steps"], found["episodes"]) == (20, len(first) + len(second.episodes))
    assert [one["steps"] for one in found["trainings"]] == [12, 8]
    assert [one["corpus"] for one in found["trainings"]] == [TWO, "html,"]


def test_steps_of_a_parent_that_does_not_say_how_it_was_made_are_not_lost(tmp_path: Path) -> None:
    train(request(tmp_path))
    path = tmp_path / "policy" / "agent.json"
    path.write_text(json.dumps({k: v for k, v in json.loads(path.read_text()).items() if k != "made"}))
    train(request(tmp_path, agent=str(tmp_path / "policy"), output=str(tmp_path / "more")))
    found = made(tmp_path / "more")
    assert (found["steps"], found["episodes"]) == (16, "not recorded")
    assert [one["steps"] for one in found["trainings"]] == [8, 8]


def test_a_subject_that_cannot_be_used_is_written_down(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("1 / 0\n")
    trained = train(request(tmp_path, subjects="no_such_module,broken,html", path=str(tmp_path), steps=12))
    bundle = json.loads((tmp_path / "policy" / "bundle.json").read_text())
    assert bundle["unusable"] == trained.unusable and set(trained.unusable) == {"no_such_module", "broken"}


def test_the_folder_of_a_corpus_counts_for_its_subjects(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "parcels.py").write_text(
        "def price(weight: int) -> int:\n    return weight if weight > 9 else 9\n"
    )
    corpus = 'path = "code"\n[[subject]]\nsubject = "parcels"\nsplit = "train"\n'
    (tmp_path / "mine.toml").write_text(corpus)
    train(request(tmp_path, subjects=f"{tmp_path / 'mine.toml'}:train", steps=2))
    assert json.loads((tmp_path / "policy" / "bundle.json").read_text())["environment"]["subjects"] == ["parcels"]


def checkpoints(folder: Path) -> list[str]:
    return sorted((path.name for path in (folder / "policy" / "checkpoints").iterdir()), key=int)


def test_checkpoints_are_the_agent_as_it_was(tmp_path: Path) -> None:
    train(request(tmp_path, checkpoint=3))
    assert checkpoints(tmp_path) == ["3", "6"]
    train(request(tmp_path, steps=6, output=str(tmp_path / "shorter")))
    expected, found = (contents(tmp_path / name) for name in ("shorter", "policy/checkpoints/6"))
    assert found["agent.json"] == expected["agent.json"]


def test_a_training_goes_on_from_its_last_checkpoint_with_the_steps_that_are_left(tmp_path: Path) -> None:
    def stop(episode: Episode) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):  # at the end of the first episode, of three steps or fewer
        train(request(tmp_path, checkpoint=2), stop)
    assert checkpoints(tmp_path) == ["2"] and not (tmp_path / "policy" / "agent.json").exists()
    trained = train(request(tmp_path, checkpoint=2, resume=True))
    assert (trained.resumed, trained.agent.n_updates) == (2, 8)
    assert checkpoints(tmp_path) == ["2", "4", "6", "8"]
    bundle = json.loads((tmp_path / "policy" / "bundle.json").read_text())
    assert bundle["resumed"] == 2 and bundle["seeds"]["environments"] != [0]
    assert [one["steps"] for one in bundle["made"]["trainings"]] == [2, 6]
    assert (bundle["steps"], bundle["episodes"]) == (8, len(trained.episodes))
    assert [one["seeds"]["environments"] for one in bundle["made"]["trainings"]] == [
        [0],
        bundle["seeds"]["environments"],
    ]
    again = train(request(tmp_path, checkpoint=2, resume=True))
    assert (again.resumed, again.agent.n_updates, again.episodes) == (8, 8, trained.episodes)
    lines = (tmp_path / "policy" / "episodes.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [episode.step for episode in trained.episodes]
    assert trained.episodes and trained.episodes[-1].step <= 8


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"agent": "linucb:alpha=0.3"}, "made with agent 'dsg_sarsa', not with 'linucb:alpha=0.3'"),
        ({"features": "paper-v1"}, "made with features 'full-v2', not with 'paper-v1'"),
        ({"goal": "coverage"}, "made with goal 'exceptions', not with 'coverage'"),
    ],
)
def test_another_training_is_not_gone_on_with(other: dict[str, str], message: str, tmp_path: Path) -> None:
    train(request(tmp_path, checkpoint=4))
    before = contents(tmp_path / "policy")
    with pytest.raises(InputError, match=message):
        train(request(tmp_path, resume=True, **other))
    assert contents(tmp_path / "policy") == before


def test_half_a_checkpoint_and_one_of_a_longer_training_are_not_gone_on_from(tmp_path: Path) -> None:
    train(request(tmp_path, steps=4, checkpoint=2))
    (tmp_path / "policy" / "checkpoints" / "3.unfinished").mkdir()
    (tmp_path / "policy" / "checkpoints" / "3").mkdir()
    assert train(request(tmp_path, steps=3, resume=True)).resumed == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agent": "ubc"}, "did you mean 'ucb'"),
        ({"agent": "fixed:exception"}, "agent 'fixed:exception' does not learn: use it without training"),
        ({"goal": "coverag"}, "did you mean 'coverage'"),
        ({"budget": "10s"}, "counts seconds, so no episode could be repeated"),
        ({"steps": 0}, "steps is 0, expected at least 1"),
        ({"envs": 0}, "envs is 0, expected at least 1"),
        ({"checkpoint": -1}, "checkpoint is -1, expected a number of steps, or 0 for none"),
        ({"tensorboard": True}, "agent 'dsg_sarsa' writes nothing for TensorBoard"),
        ({"envs": 2}, "agent 'dsg_sarsa' learns from one environment at a time"),
        ({"executor": "rey"}, r"no executor named 'rey'; did you mean 'ray'\? \(there are: local, ray\)"),
        ({"address": "auto"}, "address 'auto' needs executor 'ray', not 'local'"),
        (
            {"executor": "ray"},
            "agent 'dsg_sarsa' learns in one process: use executor local, or a deep agent such as ppo",
        ),
        ({"subjects": "stdlib-v1:tain"}, "did you mean 'train'"),
        ({"features": "paper"}, "did you mean 'paper-v1'"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        train(request(tmp_path, **options))
    assert list(tmp_path.iterdir()) == []


def test_without_ray_and_where_it_would_be_slower_the_executor_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(
        InputError, match="'fitgym/Landscapes-v0' steps all episodes in one process, faster than a cluster"
    ):
        train(Training.of("ppo", env="fitgym/Landscapes-v0", executor="ray", output=str(tmp_path)))
    monkeypatch.setitem(sys.modules, "ray", None)
    for refused in (
        lambda: train(request(tmp_path, agent="ppo", executor="ray")),
        lambda: evaluate(["uniform"], ("html",), executor="ray"),
    ):
        with pytest.raises(InputError, match=r"executor 'ray' needs ray: pip install 'fitgym\[ray\]'"):
            refused()
    assert list(tmp_path.iterdir()) == []


def test_no_subject_that_can_be_used_is_an_error_with_all_reasons(tmp_path: Path) -> None:
    reasons = r"no module named 'no_such_a' \(if its folder .* as path\); no module named 'no_such_b' \("
    with pytest.raises(SubjectError, match=reasons):
        train(request(tmp_path, subjects="no_such_a,no_such_b"))


@nightly
def test_a_deep_agent_learns_from_two_environments_and_is_used_by_name_of_its_folder(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3", reason="deep agents learn with Stable-Baselines3, in the extra 'deep'")
    agent = train(request(tmp_path, agent="ppo:n_steps=4,batch_size=8", steps=16, envs=2)).agent
    assert agent.n_updates >= 16
    log = [json.loads(line) for line in (tmp_path / "policy" / "log" / "progress.jsonl").read_text().splitlines()]
    assert any("episode/goal_value" in line for line in log)
    episodes = [json.loads(line) for line in (tmp_path / "policy" / "episodes.jsonl").read_text().splitlines()]
    assert episodes and all(episode["length"] <= 4 for episode in episodes)
    rows = list(evaluate([str(tmp_path / "policy"), "uniform"], ("colorsys",), seeds=[0], budget="150x"))
    assert [row.error for row in rows] == ["", ""]


def command(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fitgym", *arguments], cwd=folder, capture_output=True, text=True, timeout=120
    )


def test_the_command_trains_and_generate_uses_what_it_trained(tmp_path: Path) -> None:
    done = command(
        *("train", "dsg_sarsa", "--subjects", TWO, "--steps", "6", "--budget", "9g", "--population", "4"),
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "DSGSarsa learnt from 6 steps, reward growth: policy\n" and "of 6: " in done.stderr
    made = command(
        *("generate", "colorsys", "--agent", "policy", "--budget", "40x", "--population", "4", "--quiet"),
        folder=tmp_path,
    )
    assert made.returncode == 0, made.stderr


def test_who_interrupts_a_training_is_told_of_the_checkpoint_to_go_on_from(tmp_path: Path) -> None:
    options = ["--subjects", TWO, "--steps", "100000", "--budget", "6g", "--population", "5", "--checkpoint", "1"]
    running = subprocess.Popen(
        [sys.executable, "-m", "fitgym", "train", "dsg_sarsa", *options],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
    )
    assert running.stderr is not None and " of 100000: " in running.stderr.readline()
    os.killpg(running.pid, signal.SIGINT)
    last = running.communicate(timeout=60)[1].splitlines()[-1]
    assert running.returncode == 130
    assert re.fullmatch(r"fitgym: interrupted; run .* --resume to continue from 'policy/checkpoints/\d+'", last), last


def test_an_untrained_deep_agent_is_refused(tmp_path: Path) -> None:
    done = command("generate", "colorsys", "--agent", "ppo", "--budget", "200x", folder=tmp_path)
    assert done.returncode == 2
    assert "agent 'ppo' knows nothing yet: train it with `fitgym train ppo" in done.stderr
