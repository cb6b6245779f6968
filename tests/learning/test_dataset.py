"""Datasets: recorded episodes with probabilities, readable by Minari, from which agents learn without an environment."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from fitgym.agents._data import Data
from fitgym.agents.base import Agent, make
from fitgym.envs.landscapes import LandscapesEnv
from fitgym.errors import InputError
from fitgym.learning.training import Training, train
from fitgym.run.setting import Setting

minari = pytest.importorskip("minari", reason="datasets are those of Minari, which is in the extra 'offline'")
pytest.importorskip("h5py", reason="the datasets are HDF5 files; h5py is in the extra 'offline'")

from fitgym.learning.dataset import collect, read  # noqa: E402

ENV = "fitgym/Landscapes-v0"


def recorded(folder: Path, agent: str = "uniform", episodes: int = 2, **more: Any) -> Path:
    collect(Setting(env=ENV, agent=agent, seed=3), episodes, folder, **more)
    return folder


def test_minari_loads_the_episodes_with_seeds_tasks_and_probabilities(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "mine-v1")
    dataset = minari.MinariDataset(folder / "data")
    assert (dataset.spec.dataset_id, dataset.total_episodes, dataset.total_steps) == ("mine-v1", 2, 60)
    assert dataset.spec.env_spec.id == ENV and dataset.storage.metadata["algorithm_name"] == "uniform"
    first = next(iter(dataset.iterate_episodes()))
    env = LandscapesEnv()
    observation, info = env.reset(seed=3)
    (stored, _) = dataset.storage.get_episode_metadata([0, 1])
    assert stored["seed"] == 3 and stored["options"]["task"] == info["task"]
    assert np.array_equal(first.observations[0], observation)
    for step, action in enumerate(first.actions):
        observation, reward, *_ = env.step(action)
        assert first.rewards[step] == reward and np.array_equal(first.observations[step + 1], observation)
    assert first.infos["probabilities"][:-1] == pytest.approx(1 / 7) and not first.infos["probabilities"][-1].any()
    assert first.terminations[-1] and first.infos["action_mask"].all()


def test_the_same_seed_gives_the_same_data(tmp_path: Path) -> None:
    one, other = (read([recorded(tmp_path / name)]).data for name in ("a", "b"))
    assert all(np.array_equal(getattr(one, name), getattr(other, name)) for name in Data.__slots__)


def test_random_actions_are_part_of_the_probabilities(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "mixed", "oracle:informed=true", 10, random=0.35)
    rows = np.concatenate(
        [episode.infos["probabilities"][:-1] for episode in minari.MinariDataset(folder / "data").iterate_episodes()]
    )
    assert rows.sum(axis=1) == pytest.approx(1.0)
    assert np.unique(rows.round(4)).tolist() == pytest.approx([0.05, 0.7])
    intended = read([folder]).data.intended
    assert (intended.max(axis=1) == 1.0).all() and (intended.argmax(axis=1) == rows.argmax(axis=1)).all()
    taken = rows[np.arange(len(rows)), read([folder]).data.actions]
    assert 0.6 < np.mean(taken > 0.5) < 0.8  # 0.7 expected, 300 decisions


def test_several_datasets_are_read_one_after_the_other(tmp_path: Path) -> None:
    found = read([recorded(tmp_path / "a"), recorded(tmp_path / "b", "fixed:nearest", 1)])
    assert found.episodes == 3 and len(found.data) == 90
    assert set(found.data.actions[60:]) == {4} and not found.data.terminated[:29].any() and found.data.terminated[29]
    assert np.array_equal(found.data.following[0], found.data.observations[1])


@pytest.mark.parametrize(
    ("agent", "options", "message"),
    [
        ("ucb", {}, "agent 'ucb' does not know the probabilities of its actions: use uniform, fixed, oracle"),
        ("oracle:tries=2", {}, "an oracle with 'tries' draws its actions, so it has no probabilities"),
        ("uniform", {"episodes": 0}, "episodes is 0, expected a whole number of at least 1"),
        ("uniform", {"random": 1.5}, "random is 1.5, expected a probability between 0 and 1"),
    ],
)
def test_what_cannot_be_recorded_is_refused(agent: str, options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        recorded(tmp_path / "data", agent, **options)
    assert not (tmp_path / "data").exists()


def test_other_environments_that_cannot_be_recorded_are_refused(tmp_path: Path) -> None:
    for env, message in (
        ("fitgym/FitnessSelection-v0", "needs a subject: use fitgym/Corpus-v0"),
        ("fitgym/Toy-v0", "Toy knows no informed action: use the agent oracle without 'informed'"),
    ):
        with pytest.raises(InputError, match=message):
            collect(Setting(env=env, agent="oracle:informed=true"), 1, tmp_path / "data")


def test_a_relative_folder_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Minari joined a relative folder with itself."""
    monkeypatch.chdir(tmp_path)
    assert read([recorded(Path("data"), episodes=1)]).episodes == 1


def test_a_dataset_is_never_replaced_and_a_missing_one_is_named(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "data", episodes=1)
    with pytest.raises(InputError, match="exists: name another folder, or remove it first"):
        recorded(folder)
    with pytest.raises(InputError, match=r"holds no dataset: .*; make one with `fitgym collect`"):
        read([tmp_path / "nothing"])


def sides(n: int = 600, good: float = 0.8) -> Data:
    """Recorded steps of one step each: the action on the side that is shown is rewarded, and taken more often."""
    rng = np.random.default_rng(0)
    shown, right = rng.integers(2, size=n), rng.random(n) < good
    actions = np.where(right, shown, 1 - shown)
    seen = np.eye(2, dtype=np.float32)[shown]
    rewards = (actions == shown).astype(np.float32)
    taken = np.eye(2, dtype=np.float32)[actions]
    return Data(seen, actions, rewards, seen, np.ones(n, bool), np.ones((n, 2), bool), taken)


class Sides:
    """The spaces of `sides`, for the library."""

    @staticmethod
    def env() -> Any:
        import gymnasium

        class Env(gymnasium.Env[Any, Any]):
            observation_space = spaces.Box(0, 1, (2,), np.float32)
            action_space = spaces.Discrete(2)

        return Env()


@pytest.mark.parametrize(("agent", "good"), [("ppo", 0.8), ("a2c", 0.8), ("dqn", 0.5)])
def test_an_agent_learns_from_recorded_steps(agent: str, good: float) -> None:
    """Values are learnt from steps of which half are wrong; imitation needs more right ones."""
    pytest.importorskip("stable_baselines3", reason="deep agents learn with Stable-Baselines3, in the extra 'deep'")
    found: Any = make(agent, 2, seed=1)
    counted: list[int] = []
    found.learn_from(sides(good=good), Sides.env(), 150, callback=lambda one: counted.append(one.n_updates))
    assert counted == list(range(1, 151))
    for shown in (0, 1):
        assert found.predict(np.eye(2, dtype=np.float32)[shown], deterministic=True)[0] == shown


def test_a_clone_does_what_the_agent_intended_where_chance_replaced_it() -> None:
    pytest.importorskip("stable_baselines3", reason="deep agents learn with Stable-Baselines3, in the extra 'deep'")
    found: Any = make("ppo:learning_rate=0.003", 2, seed=1)
    data = sides(good=0.5)
    found.learn_from(replace(data, intended=data.observations), Sides.env(), 150)
    for shown in (0, 1):
        seen = np.eye(2, dtype=np.float32)[shown]
        assert found.probabilities(seen, np.ones(2, bool))[shown] > 0.9


def test_imitation_keeps_the_recorded_frequencies_and_conservatism_follows_the_data() -> None:
    pytest.importorskip("stable_baselines3", reason="deep agents learn with Stable-Baselines3, in the extra 'deep'")
    cloned: Any = make("ppo:learning_rate=0.003", 2, seed=1)
    cloned.learn_from(sides(), Sides.env(), 150)
    seen, allowed = np.eye(2, dtype=np.float32)[0], np.ones(2, bool)
    assert cloned.probabilities(seen, allowed)[0] == pytest.approx(0.8, abs=0.08)
    # A wrong action that is taken nine times of ten: values alone prefer the right one, a large penalty the frequent one.
    for conservatism, best in ((0, 0), (20, 1)):
        valued: Any = make(f"dqn:conservatism={conservatism}", 2, seed=1)
        valued.learn_from(sides(good=0.1), Sides.env(), 250)
        assert valued.probabilities(seen, allowed)[best] == 1.0


@pytest.mark.parametrize("agent", ["recurrent_ppo", "sac"])
def test_agents_that_do_not_learn_from_data_say_which_do(agent: str) -> None:
    pytest.importorskip("sb3_contrib", reason="deep agents learn with Stable-Baselines3, in the extra 'deep'")
    found: Any = make(agent, spaces.Box(-1, 1, (2,)) if agent == "sac" else 2, seed=1)
    with pytest.raises(InputError, match=r"does not learn from .*: use ppo"):
        found.improve(None, sides(), 1)


def test_a_training_from_data_is_saved_validated_and_continued(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3", reason="deep agents learn with Stable-Baselines3, in the extra 'deep'")
    data = str(recorded(tmp_path / "data", "oracle:informed=true", 2))
    request = {"env": ENV, "data": data, "steps": 6, "validate": 3, "validate_on": "0-1", "checkpoint": 4}
    found = train(Training.of("ppo", output=str(tmp_path / "cloned"), **request))
    assert [point.step for point in found.validations] == [3, 6] and found.episodes == ()
    saved = Agent.load(tmp_path / "cloned")
    assert saved.n_updates == 6 and saved.made["trainings"][0]["data"] == data
    assert (tmp_path / "cloned" / "checkpoints" / "4").is_dir()
    further = train(Training.of(str(tmp_path / "cloned"), env=ENV, steps=60, output=str(tmp_path / "tuned")))
    assert [bool(one.get("data")) for one in further.agent.made["trainings"]] == [True, False]


@pytest.mark.parametrize(
    ("agent", "options", "message"),
    [
        ("linucb", {}, "agent 'linucb' does not learn from data: use ppo or a2c"),
        ("ppo", {"envs": 2}, "learning from data steps no environment: leave envs, executor and tensorboard out"),
    ],
)
def test_a_training_that_cannot_use_data_is_refused(
    agent: str, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        train(Training.of(agent, env=ENV, data=str(tmp_path), output=str(tmp_path / "out"), **options))


def test_data_of_another_environment_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3", reason="deep agents learn with Stable-Baselines3, in the extra 'deep'")
    data = str(recorded(tmp_path / "data", episodes=1))
    with pytest.raises(InputError, match="actions"):
        train(Training.of("ppo", env="fitgym/Toy-v0", data=data, steps=2, output=str(tmp_path / "out")))


def test_the_command_records_episodes(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fitgym", "collect", "uniform", "--env", ENV, "--episodes", "2", "--output", "mine-v0"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 episodes of uniform, mean rewards 0.") and "mine-v0" in done.stdout
    assert done.stderr.splitlines()[1].startswith("2 of 2: seed 1, 30 steps, rewards 0.")
