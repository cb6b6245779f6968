"""Batched training: an environment that steps many episodes at once trains in one process."""

import json

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="deep agents need torch: pip install torch==2.13.0 'fitgym[deep]'")

from nightly import nightly
from stable_baselines3.common.env_checker import check_env

from fitgym.agents.base import make as make_agent
from fitgym.envs.landscapes import LandscapesEnv
from fitgym.formulas.landscapes import SLICES
from fitgym.learning.batched import batched
from fitgym.learning.training import Training, train

SMALL = "ppo:n_steps=60,batch_size=480,n_epochs=4,learning_rate=0.001,trace=0.8,entropy=0.005"


def test_the_episodes_are_those_of_the_vector_environment():
    env = batched("fitgym/Landscapes-v0", 3, {})
    env.seed(5)
    first = env.reset()
    for number in range(3):
        assert np.array_equal(first[number], LandscapesEnv().reset(seed=5 + number)[0])
    for step in range(SLICES):
        seen, rewards, done, infos = env.step(np.full(3, 6))
        assert [info["reward"] for info in infos] == rewards.tolist()
        assert done.all() == (step == SLICES - 1)
    assert all(info["terminal_observation"][-1] == 0.0 and 0.0 < info["goal_value"] <= 1.0 for info in infos)
    assert (seen[:, -1] == 1.0).all()
    env.close()


def test_the_checker_of_the_library_accepts_the_single_environment():
    check_env(LandscapesEnv())


def score(folder, *, blank):
    env = LandscapesEnv(split="test")
    agent = make_agent(folder, env.action_space, action_names=env.action_names, environment=env.environment)
    values = []
    for task in range(200, 260):
        observation, info = env.reset(seed=task, options={"task": task})
        done = False
        while not done:
            seen = np.zeros_like(observation) if blank else observation
            observation, _, done, _, info = env.step(agent.act(seen, info))
        values.append(info["goal_value"])
    return np.mean(values)


@nightly
def test_training_at_once_learns_more_than_any_constant_and_not_without_eyes(tmp_path):
    trained = train(Training.of(SMALL, env="fitgym/Landscapes-v0", steps=120_000, envs=64, output=str(tmp_path)))
    episodes = [json.loads(line) for line in (tmp_path / "episodes.jsonl").read_text().splitlines()]
    assert len(episodes) == len(trained.episodes) > 3000
    early, late = (np.mean([one["rewards"] for one in some]) for some in (episodes[:500], episodes[-500:]))
    assert late > early + 0.08
    assert score(str(tmp_path), blank=False) > 0.69 > score(str(tmp_path), blank=True)
