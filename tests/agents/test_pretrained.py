"""The policies shipped with fitgym, and the agent that uses them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fitgym.agents import pretrained
from fitgym.agents.base import Agent, make, trained
from fitgym.agents.pretrained import Pretrained, constant, described, policies
from fitgym.cli import main
from fitgym.envs.fitness_selection import FitnessSelection
from fitgym.envs.landscapes import LandscapesEnv
from fitgym.envs.rules import POINTERS
from fitgym.errors import InputError
from fitgym.run.environment import agent_of
from fitgym.run.environment import make as env_of
from fitgym.run.evaluation import play
from fitgym.run.setting import Setting

GOALS = ("diversity", "exceptions", "strong_mutation")
TINY = "def f(x):\n    if x > 3:\n        raise ValueError('big')\n    return x\n"


def env_for(goal: str, folder: Path) -> FitnessSelection:
    (folder / "tiny.py").write_text(TINY, "utf-8")
    return FitnessSelection(str(folder / "tiny.py"), goal=goal, features="full-v1", budget="9g", population=4)


def test_there_is_one_policy_for_each_goal_of_the_paper_and_one_for_parts() -> None:
    assert sorted(folder.name for folder in policies().values()) == sorted((*GOALS, "pointers"))


@pytest.mark.parametrize("goal", GOALS)
def test_a_policy_fits_its_goal_and_its_bundle_says_how_it_was_made(goal: str, tmp_path: Path) -> None:
    env = env_for(goal, tmp_path)
    try:
        folder = policies()[tuple(env.action_names)]
        bundle = json.loads((folder / "bundle.json").read_text("utf-8"))
        assert folder.name == goal == bundle["request"]["goal"]
        assert bundle["action_names"] == list(env.action_names)
        assert bundle["feature_names"] == list(env.feature_names)
        assert bundle["request"]["subjects"] == "stdlib-v1:train" and bundle["unusable"] == {}
        assert bundle["made"] == Agent.load(folder).made
        assert bundle["steps"] == bundle["request"]["steps"] == Agent.load(folder).n_updates
        assert not Path(bundle["request"]["output"]).is_absolute()
    finally:
        env.close()


@pytest.mark.parametrize("goal", GOALS)
def test_it_takes_what_the_policy_judges_best(goal: str, tmp_path: Path) -> None:
    env = env_for(goal, tmp_path)
    try:
        agent = trained(make("pretrained", env.action_space, action_names=env.action_names, seed=5))
        policy = Agent.load(policies()[agent.action_names])
        observation, info = env.reset(seed=1)
        best, _ = policy.predict(observation, deterministic=True)
        assert [agent.act(observation, info) for _ in range(5)] == [int(best)] * 5
        assert play(agent, env, seed=1)[1] >= 1  # fewer than three where the goal is reached
    finally:
        env.close()


def test_for_other_actions_it_says_what_there_is() -> None:
    agent = make("pretrained", 3)
    assert not agent.ready and {agent.act(np.zeros(4), {}) for _ in range(60)} == {0, 1, 2}
    with pytest.raises(
        InputError, match=r"'pretrained' has no policy for these 3 actions, only these policies: diversity, exc"
    ):
        trained(agent)


def test_the_command_line_says_so_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tiny.py").write_text(TINY, "utf-8")
    out = tmp_path / "out"
    command = ["generate", str(tmp_path / "tiny.py"), "--agent", "pretrained", "--goal", "coverage"]
    with pytest.raises(SystemExit) as ended:
        main([*command, "--budget", "3g", "--output", str(out)])
    assert ended.value.code == 2
    assert "has no policy for these" in capsys.readouterr().err and not out.exists()


def visited(goal: str, text: str, folder: Path) -> set[str]:
    """The actions that the policy takes in two episodes about a subject, by name."""
    (folder / "subject.py").write_text(text, "utf-8")
    options: dict[str, Any] = {"features": "full-v1", "budget": "30g", "population": 4, "generations_per_step": 1}
    env = FitnessSelection(str(folder / "subject.py"), goal=goal, reward="gain", **options)
    found: set[str] = set()
    try:
        agent = trained(make("pretrained", env.action_space, action_names=env.action_names))
        for seed in (1, 2):
            seen, info = env.reset(seed=seed)
            done = False
            while not done:
                action = int(agent.act(seen, info))
                found.add(env.action_names[action])
                seen, _, terminated, truncated, info = env.step(action)
                done = terminated or truncated
    finally:
        env.close()
    return found


LARGER = """
class Account:
    def __init__(self, owner: str):
        self.owner, self.money = owner, 0

    def pay(self, amount: int):
        if amount <= 0:
            raise ValueError(amount)
        self.money += amount
        return self.money

def compare(a: int, b: int):
    for i in range(3):
        if a == b * i:
            return "equal"
    return "less" if a < b else "more"
"""


@pytest.mark.parametrize("goal", GOALS)
def test_a_policy_that_takes_one_action_everywhere_says_that_it_is_a_constant(goal: str, tmp_path: Path) -> None:
    folder = next(folder for folder in policies().values() if folder.name == goal)
    found = visited(goal, TINY, tmp_path) | visited(goal, LARGER, tmp_path)
    declared = constant(folder)
    assert found == {declared} if declared is not None else len(found) > 1, found


def test_the_documentation_and_the_listing_call_a_constant_a_constant(capsys: pytest.CaptureFixture[str]) -> None:
    said = described()
    for folder in policies().values():
        declared = constant(folder)
        row = next(line for line in (Pretrained.__doc__ or "").splitlines() if f"| `{folder.name}`" in line)
        expected = f"constant: always `{declared}`" if declared else "takes different actions"
        assert expected in row and ("a constant" in said[folder.name]) is (declared is not None)
    assert "None of the three beats the best constant" in " ".join((Pretrained.__doc__ or "").split())
    with pytest.raises(SystemExit):
        main(["list", "policies", "exceptions"])
    shown = capsys.readouterr().out
    assert "8000 steps, 219 episodes on stdlib-v1:train" in shown and '"reward": "gain"' in shown


def test_what_was_not_recorded_is_said_to_be_so() -> None:
    for folder in (one for one in policies().values() if one.name in GOALS):
        made = Agent.load(folder).made["trainings"][0]
        assert made["environment"]["search"] == "not recorded" and made["fitgym"] == "0.1.0"
        assert (made["episodes"] == "not recorded") is (folder.name == "strong_mutation")


def test_an_environment_with_other_features_is_refused_by_name() -> None:
    names = next(names for names in policies() if len(names) == 64)
    asked = {"catalogue": "paper of exceptions", "features": "paper-v1"}
    with pytest.raises(InputError, match="trained for features 'full-v1', this environment has 'paper-v1'"):
        make("pretrained", 64, action_names=names, environment=asked)
    assert make("pretrained", 64, action_names=names, environment={"features": "full-v1"}).ready


def test_other_features_are_refused_with_both_numbers(tmp_path: Path) -> None:
    agent = make("pretrained", 64, action_names=next(names for names in policies() if len(names) == 64))
    with pytest.raises(InputError, match=r"the observation has 3 entries, this agent has learnt from \d+"):
        agent.act(np.zeros(3), {})


def test_a_saved_one_stays_what_it_is_when_the_policies_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names, folder = next(iter(policies().items()))
    agent: Any = make("pretrained", len(names), action_names=names)
    agent.save(tmp_path / "kept")
    other = Agent.load(folder)
    other.restore({name: -values for name, values in other.arrays().items()})
    other.save(tmp_path / "other")
    monkeypatch.setattr(pretrained, "policies", lambda: {names: tmp_path / "other"})
    kept = Agent.load(tmp_path / "kept")
    assert isinstance(kept, Pretrained) and kept.policy is not None and agent.policy is not None
    for name, values in agent.policy.arrays().items():
        assert np.array_equal(values, kept.policy.arrays()[name])


@pytest.fixture(scope="module")
def landscapes() -> LandscapesEnv:
    return LandscapesEnv(split="test")


def scores(env: LandscapesEnv, choose: Callable[[Any, Any], int], tasks: range) -> tuple[float, list[int]]:
    """The mean score on some tasks, and all actions."""
    values, taken = [], []
    for task in tasks:
        observation, info = env.reset(seed=task, options={"task": task})
        done = False
        while not done:
            taken.append(choose(observation, info))
            observation, _, done, _, info = env.step(taken[-1])
        values.append(info["goal_value"])
    return float(np.mean(values)), taken


def test_the_policy_for_parts_beats_every_constant_and_needs_its_observations(landscapes: LandscapesEnv) -> None:
    agent = trained(make("pretrained", landscapes.action_space, action_names=landscapes.action_names))
    tasks = range(200, 230)
    best, taken = scores(landscapes, lambda seen, info: int(agent.act(seen, info)), tasks)
    blank, _ = scores(landscapes, lambda seen, info: int(agent.act(np.zeros_like(seen), info)), tasks)
    constants = [scores(landscapes, lambda seen, info, a=action: a, tasks)[0] for action in range(7)]
    assert best > max(constants) + 0.1 and best > blank + 0.1
    assert len(set(taken)) >= 4 and max(np.bincount(taken)) < 0.8 * len(taken)


def test_the_policy_for_parts_acts_on_programs_and_on_real_modules_without_torch() -> None:
    for env, options in (
        ("fitgym/Programs-v0", {"budget": "9g"}),
        ("fitgym/Focus-v0", {"subject": "colorsys", "actions": "pointers", "budget": "60x"}),
    ):
        setting = Setting.from_keywords(env=env, agent="pretrained", **options)
        made = env_of(setting)
        try:
            agent = agent_of(setting, made)
            assert agent.ready and play(agent, made, seed=1)[1] >= 1
        finally:
            made.close()
    known = {"catalogue": "pointers to parts", "features": "parts+last_choice+remaining_budget"}
    assert Agent.load(policies()[tuple(POINTERS)]).environment == known


def test_the_listing_says_where_the_policy_for_parts_acts(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["list", "policies", "pointers"])
    shown = capsys.readouterr().out
    assert "--agent pretrained --env fitgym/Landscapes-v0" in shown
    assert "400000 steps" in shown and "on fitgym/Landscapes-v0" in shown
