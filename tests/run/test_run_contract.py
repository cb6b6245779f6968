"""Every registered environment goes through every command: make, train, save, evaluate, record, replay, validate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from gymnasium import spaces
from nightly import every

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.agents.base import agents
from fitgym.envs.base import SearchEnv
from fitgym.learning.training import Training, train
from fitgym.run.environment import has_subject, kind, make
from fitgym.run.evaluation import evaluate
from fitgym.run.generation import Request, generate_request
from fitgym.run.replay import replay
from fitgym.run.setting import Setting
from fitgym.study.cell import record as study_record
from fitgym.study.plan import Cell
from fitgym.study.trials.episode import Episode
from fitgym.study.validation import claims, validate

IDS = sorted(name for name in gymnasium.registry if name.startswith("fitgym/"))
TRIANGLE = str(Path(__file__).parents[1] / "programs" / "triangle.py")

LEARNERS: Mapping[type[Any], str] = {
    spaces.Discrete: "dsg_sarsa",
    spaces.MultiBinary: "factored_ucb",
    spaces.Box: "gaussian",
}
"""By action space, an agent that learns without torch."""


def small(env: str) -> dict[str, Any]:
    """Keywords that keep a run short."""
    return {"budget": "12g", "population": 4, "generations_per_step": 2} if issubclass(kind(env), SearchEnv) else {}


def learner(env: str) -> str:
    made = make(Setting(env=env))
    made.close()
    return LEARNERS[type(made.action_space)]


def trained(env: str, agent: str, folder: Path, **options: Any) -> str:
    """The folder of an agent that has learnt for a few steps."""
    subjects = f"{TRIANGLE}," if has_subject(env) else ""
    train(Training.of(agent, subjects, env=env, output=str(folder), **{"steps": 12, **small(env), **options}))
    return str(folder)


# Each environment goes through some of these tests always, and through all of them nightly.
@pytest.mark.parametrize("env", every(4, IDS))
def test_train_save_evaluate_record_replay_and_validate_without_a_difference(env: str, tmp_path: Path) -> None:
    folder = trained(env, learner(env), tmp_path / "policy")
    subjects = (TRIANGLE,) if has_subject(env) else ()
    rows = list(evaluate([folder, "uniform"], subjects, env=env, seeds=[3], **small(env)))
    assert [row.error for row in rows] == ["", ""] and all(row.steps > 0 for row in rows)
    records = [json.loads(json.dumps(row.record)) for row in rows]
    for found in records:
        assert found["env"] == env and len(found["actions"]) == len(found["rewards"]) == found["steps"]
        assert replay(found).differences == ()
    file = tmp_path / "records.jsonl"
    file.write_text("".join(json.dumps(found) + "\n" for found in records))
    assert [validate(claim).reasons for claim in claims([file])] == [(), ()]


@pytest.mark.parametrize("env", every(8, [env for env in IDS if has_subject(env)], 1))
def test_a_suite_is_generated_and_its_record_replayed(env: str, tmp_path: Path) -> None:
    run = generate_request(Request.of(TRIANGLE, env=env, seed=5, output=tmp_path, **small(env)))
    assert run.record["env"] == env and run.record["steps"] > 0
    assert replay(json.loads(json.dumps(run.record)), suite=tmp_path if run.suite_path else None).differences == ()


@pytest.mark.parametrize("env", every(4, IDS, 2))
def test_an_episode_of_a_study_can_be_checked_again(env: str) -> None:
    settings = Episode.settings({"env": env}) | {"env": env, "agent": "uniform"}
    settings |= {name: value for name, value in small(env).items() if name in settings}
    subject, budget = (TRIANGLE, "20g") if has_subject(env) else ("", "300x")
    found = json.loads(study_record(Cell("episode", "arm", subject, 2, budget, settings)))
    assert found["error"] == ""
    assert Episode.of(found["settings"]).check_again(found, None).differences == ()


@pytest.mark.parametrize("env", every(6, IDS, 1))
def test_a_number_that_was_changed_is_a_difference(env: str) -> None:
    subjects = (TRIANGLE,) if has_subject(env) else ()
    (row,) = evaluate(["uniform"], subjects, env=env, seeds=[1], **small(env))
    found = json.loads(json.dumps(row.record))
    assert replay({**found, "goal_value": found["goal_value"] + 1}).differences
    assert replay({**found, "rewards": [9.5, *found["rewards"][1:]]}).differences


def test_every_action_space_has_two_agents_and_one_that_learns() -> None:
    for env in IDS:
        made = make(Setting(env=env))
        made.close()
        kinds = [agents().load(name) for name in agents().names()]
        able = [kind for kind in kinds if isinstance(made.action_space, kind.spaces)]
        assert len(able) >= 2 and any(kind.learns for kind in able), env


@pytest.mark.parametrize("env", ["fitgym/ExceptionDiscovery-v0", "fitgym/FitnessBits-v0", "fitgym/WeightedFitness-v0"])
def test_ppo_learns_in_every_action_space_and_acts_without_a_difference(env: str, tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    folder = trained(env, "ppo:n_steps=8,batch_size=8,n_epochs=1", tmp_path / "policy")
    (row,) = evaluate([folder], (TRIANGLE,), env=env, seeds=[0], **small(env))
    assert row.record is not None and replay(json.loads(json.dumps(row.record))).differences == ()
