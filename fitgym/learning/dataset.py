"""Datasets of recorded episodes in the format of Minari, for learning without an environment (extra `offline`).

    from fitgym.learning.dataset import collect, read
    collect(Setting(env="fitgym/Landscapes-v0", agent="oracle:informed=true"), 200, "data/informed-v0")
    data = read(["data/informed-v0"])

`FOLDER/data` is the dataset: `minari.MinariDataset("FOLDER/data")` loads it. Each episode has its seed and, in an
environment with tasks, its task under `options`. Besides observations, actions and rewards there are `infos`, with one
row more than there are actions:

- `probabilities`: the probability with which each action was taken, 0 in the last row;
- `intended`: the same before random actions replaced some of the agent's;
- `action_mask`: the allowed actions;
- `goal_value`: the value of the goal, if there is one.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._behaviour import Behaviour
from fitgym.agents._data import Data
from fitgym.agents._numbers import share, whole
from fitgym.agents.base import Agent
from fitgym.errors import InputError
from fitgym.run.environment import agent_of, has_subject, make
from fitgym.run.setting import Setting

__all__ = ["Collected", "Dataset", "collect", "read"]


@dataclass(frozen=True, slots=True)
class Collected:
    """A recorded episode.

    Attributes:
        seed: the seed of its `reset`.
        steps: number of decisions.
        rewards: the sum of the rewards.
    """

    seed: int
    steps: int
    rewards: float


@dataclass(frozen=True, slots=True)
class Dataset:
    """The steps of some datasets, and what an agent must know to learn from them.

    Attributes:
        data: the steps.
        episodes: number of episodes.
        observation_space, action_space: of the environment.
    """

    data: Data
    episodes: int
    observation_space: Any
    action_space: Any


def collect(
    setting: Setting,
    episodes: int,
    output: str | Path,
    *,
    random: float = 0.0,
    progress: Callable[[Collected], None] = lambda episode: None,
) -> Path:
    """Record episodes of an agent, which does not learn meanwhile, and return the folder of the dataset.

    Args:
        setting: environment and agent. Its seed is that of the first episode, the next one has the next seed.
        episodes: number of episodes.
        output: folder for the dataset. It must not contain one.
        random: the probability with which a random allowed action replaces the agent's. It is part of the recorded
            probabilities. Without it, an agent with one certain action never shows what others lead to, and a clone of it
            never learns what to do after a mistake.
        progress: called after each episode.

    Raises:
        InputError: an argument cannot be used, the agent does not know the probabilities of its actions, or Minari is
            not installed.
    """
    minari = _minari()
    whole(episodes, "episodes", 1)
    share(random, "random", "probability")
    folder = Path(output).resolve() / "data"  # Minari cannot measure the size of a relative folder
    if folder.exists():
        raise InputError(f"'{folder}' exists: name another folder, or remove it first")
    if has_subject(setting.env):
        raise InputError(f"environment '{setting.env}' needs a subject: use fitgym/Corpus-v0, which draws subjects")
    env = make(setting)
    try:
        agent = agent_of(setting, env)
        if not isinstance(env.action_space, spaces.Discrete):
            raise InputError(
                f"the actions are {env.action_space}, expected Discrete: probabilities need single actions"
            )
        if not isinstance(agent, Behaviour):
            raise InputError(f"agent '{setting.agent}' does not know the probabilities of its actions: use {_KNOWN}")
        chance = np.random.default_rng((setting.seed, 2))  # another stream than those of agent and environment
        buffers = []
        for seed in range(setting.seed, setting.seed + episodes):
            buffer = _episode(env, agent, seed, random, chance, minari.data_collector.EpisodeBuffer)
            buffers.append(buffer)
            progress(Collected(seed, len(buffer.rewards), float(np.sum(buffer.rewards))))
        _write(folder, setting, env, buffers)
    finally:
        env.close()
    return folder


_KNOWN = "uniform, fixed, oracle, or a trained ppo, a2c or dqn"


def _episode(env: Any, agent: Any, seed: int, random: float, chance: np.random.Generator, buffer: Any) -> Any:
    observation, info = env.reset(seed=seed)
    agent.watch(env)
    agent.begin_episode(observation, info)
    n, done = int(env.action_space.n), False
    observations, infos = [observation], [info]
    actions: list[int] = []
    rewards: list[float] = []
    ends: list[tuple[bool, bool]] = []
    probabilities, intended = [], []
    while not done:
        allowed = agent.allowed(info)
        own = agent.probabilities(observation, allowed)
        weights = (1.0 - random) * own + random * allowed / allowed.sum()
        action = int(chance.choice(n, p=weights / weights.sum()))
        observation, reward, terminated, truncated, info = env.step(action)
        observations.append(observation)
        infos.append(info)
        actions.append(action)
        rewards.append(float(reward))
        ends.append((bool(terminated), bool(truncated)))
        probabilities.append(weights)
        intended.append(own)
        done = terminated or truncated
    task = {"task": infos[0]["task"]} if "task" in infos[0] else None
    rows: dict[str, NDArray[Any]] = {
        "probabilities": np.array([*probabilities, np.zeros(n)], np.float32),
        "intended": np.array([*intended, np.zeros(n)], np.float32),
        "action_mask": np.array([agent.allowed(one) for one in infos]),
    }
    if "goal_value" in infos[0]:
        rows["goal_value"] = np.array([one["goal_value"] for one in infos], np.float64)
    terminations, truncations = zip(*ends, strict=True)
    return buffer(
        seed=seed,
        options=task,
        observations=np.array(observations),
        actions=np.array(actions, np.int64),
        rewards=rewards,
        terminations=list(terminations),
        truncations=list(truncations),
        infos=rows,
    )


def _write(folder: Path, setting: Setting, env: Any, buffers: Sequence[Any]) -> None:
    """Write the dataset; a folder that exists is complete."""
    minari = _minari()
    unfinished = folder.with_name("data.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    storage = minari.dataset.minari_storage.MinariStorage.new(
        unfinished, observation_space=env.observation_space, action_space=env.action_space, env_spec=env.spec
    )
    name = folder.parent.name
    storage.update_metadata(
        {
            "dataset_id": name if name.rpartition("-v")[2].isdigit() else f"{name}-v0",
            "algorithm_name": setting.agent,
            "minari_version": minari.__version__,
        }
    )
    storage.update_episodes(buffers)
    unfinished.rename(folder)


def read(folders: Sequence[str | Path]) -> Dataset:
    """Read datasets that `collect` or Minari wrote, one after the other.

    Args:
        folders: see `collect`, or folders of Minari.

    Raises:
        InputError: a folder has no dataset, two of them have other spaces, or Minari is not installed.
    """
    minari = _minari()
    found, parts = [], []
    for folder in map(Path, folders):
        place = folder / "data" if (folder / "data").is_dir() else folder
        try:
            found.append(minari.MinariDataset(place))
        except (ValueError, OSError, KeyError) as problem:
            raise InputError(f"'{folder}' holds no dataset: {problem}; make one with `fitgym collect`") from None
        parts += [_steps(episode, found[-1].action_space) for episode in found[-1].iterate_episodes()]
    spaces_of = {(str(one.observation_space), str(one.action_space)) for one in found}
    if len(spaces_of) != 1 or not parts:
        raise InputError(
            f"{len(folders)} datasets have {len(parts)} episodes and {len(spaces_of)} pairs of spaces; "
            "expected episodes with the same observations and actions"
        )
    data = Data(*(np.concatenate([part[name] for part in parts]) for name in Data.__slots__))
    return Dataset(data, len(parts), found[0].observation_space, found[0].action_space)


def _steps(episode: Any, space: Any) -> Mapping[str, NDArray[Any]]:
    if not isinstance(space, spaces.Discrete):
        raise InputError(f"the actions of a dataset are {space}, expected Discrete")
    seen = np.asarray(episode.observations, np.float32)
    infos = episode.infos or {}
    masks = infos.get("action_mask", np.ones((len(seen), int(space.n)), bool))
    taken = np.eye(int(space.n), dtype=np.float32)[np.asarray(episode.actions, np.int64)]
    return {
        "observations": seen[:-1],
        "actions": np.asarray(episode.actions, np.int64),
        "rewards": np.asarray(episode.rewards, np.float32),
        "following": seen[1:],
        "terminated": np.asarray(episode.terminations, bool),
        "allowed": np.asarray(masks, bool)[1:],
        "intended": np.asarray(infos["intended"], np.float32)[:-1] if "intended" in infos else taken,
    }


def check(dataset: Dataset, env: Any, agent: Agent) -> None:
    """Check that the data fit an environment.

    Raises:
        InputError: they have other observations or actions.
    """
    agent.check(dataset.action_space)
    theirs, ours = dataset.observation_space.shape, env.observation_space.shape
    if theirs != ours:
        raise InputError(f"the data have observations of shape {theirs}, the environment has {ours}")


def _minari() -> Any:
    try:
        import minari
        import minari.dataset._storages.hdf5_storage  # the format of the data
    except ImportError as problem:
        raise InputError(f"datasets need Minari: pip install 'fitgym[offline]' ({problem})") from None
    return minari
