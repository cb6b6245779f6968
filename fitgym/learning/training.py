"""Training: an agent learns across the subjects of a corpus, and is saved with the data needed to repeat the training.

    from fitgym.learning.training import Training, train
    train(Training.of("ppo", "stdlib-v1:train", goal="exceptions", steps=20_000, output="policies/mine", envs=2))

The output folder contains the agent (`agent.json`, `arrays.npz`), `bundle.json` (request, environment, seeds, versions,
unusable subjects) and `episodes.jsonl`, with a line for each episode. A deep agent adds `log/progress.jsonl`, with its
losses and other numbers, and events for TensorBoard on request. `--agent FOLDER` uses the agent. With `validate` there
is also `validation.csv`, see `fitgym.learning.validation`, and with `best` the folder `best` with another agent.

With checkpoints there is also `checkpoints/STEPS`, the agent after so many steps. The checkpoint of a deep agent
contains its last completed update; a training that resumes from it loses the later steps. An interrupted training
resumes from the last checkpoint (`resume`) with the remaining steps. The result differs from that of an uninterrupted
training: environments restart, and deep agents get a new optimiser.

Both `agent.json` and `bundle.json` record under `made` how the agent was trained: the total `steps` and `episodes`, and
the `trainings`, oldest first. Each training has its steps, episodes, corpus, subjects, environment (budget, goal,
reward, features and all other options), seeds and version of fitgym. An agent that continues learning keeps the
trainings of its parents.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import fitgym
from fitgym.agents._deep import Deep
from fitgym.agents._made import joined
from fitgym.agents.base import Agent
from fitgym.agents.base import make as make_agent
from fitgym.agents.transition import Transition
from fitgym.errors import SubjectError
from fitgym.learning.checkpoint import episodes_before, last_checkpoint, save_checkpoint
from fitgym.learning.dataset import check as check_dataset
from fitgym.learning.dataset import read
from fitgym.learning.environments import attribute_of_each, environment, environments
from fitgym.learning.episode import Episode as Episode
from fitgym.learning.request import Training as Training
from fitgym.learning.request import check
from fitgym.learning.validation import Point, Validation, validation_tasks
from fitgym.run.environment import has_subject, options_of
from fitgym.run.setting import plain
from fitgym.subject.corpus import Corpus
from fitgym.subject.source import locate
from fitgym.suite.text.export import write

__all__ = ["Trained", "train"]

Progress = Callable[["Episode"], None]


@dataclass(frozen=True, slots=True)
class Trained:
    """The result of a training.

    Attributes:
        agent: the saved agent.
        episodes: the finished episodes, including those before the checkpoint.
        unusable: the unusable subjects, each with the reason.
        resumed: number of steps before the checkpoint; 0 if the training did not resume.
        lost: number of lost environments on the cluster; with any, the training cannot be repeated exactly.
        validations: the validations, including those before the checkpoint.
    """

    agent: Agent
    episodes: tuple[Episode, ...]
    unusable: Mapping[str, str]
    resumed: int
    lost: int = 0
    validations: tuple[Point, ...] = ()


def train(
    request: Training,
    progress: Progress = lambda episode: None,
    validated: Callable[[Point], None] = lambda point: None,
) -> Trained:
    """Train an agent, and save it.

    Args:
        request: the request.
        progress: called after each episode.
        validated: called after each validation.

    Raises:
        InputError: a part of the request cannot be used, or differs from the request of the checkpoint; nothing is
            written then.
        SubjectError: none of the subjects can be used.
        ExecutionError: the cluster gave no core to an environment, or lost one too often.
    """
    check(request)
    dataset = read(request.data.split(",")) if request.data else None
    tasks = validation_tasks(request.setting, request.subjects, request.validate_on) if request.validate else {}
    usable, unusable, path = _subjects(request)
    earlier = last_checkpoint(request) if request.resume else None
    done = 0 if earlier is None else int(earlier.name)
    before = () if earlier is None else episodes_before(earlier, request)
    own = request.setting.seed
    # A resumed training needs another seed than the interrupted one, or its first episodes would be repeated.
    seed = own if earlier is None else int(np.random.SeedSequence((own, done)).generate_state(1)[0])
    makers = [partial(environment, request, usable, path, number) for number in range(request.envs)]
    env = environments(request, makers)
    try:
        names, features, bound = attribute_of_each(env, "names")[0]
        text = request.setting.agent if earlier is None else str(earlier)
        agent = make_agent(text, env.action_space, action_names=names, seed=own, environment=bound)
        made = _Made(request, usable, agent, [seed + number for number in range(request.envs)])
        output = Path(request.output)
        events = output / "log" / "validation" if request.tensorboard else None
        validation = (
            Validation(request.setting, tasks, output, request.best, done, validated, events) if tasks else None
        )
        watcher = _Watcher(request, progress, done, before, made, validation)
        if dataset is not None and request.steps > done:
            assert isinstance(agent, Deep)
            check_dataset(dataset, env, agent)
            agent.learn_from(dataset.data, env, request.steps - done, callback=watcher.count)
        elif request.steps > done:
            log = {"log": output / "log", "tensorboard": request.tensorboard}
            more: dict[str, Any] = log if isinstance(agent, Deep) else {}
            agent.learn(env, request.steps - done, callback=watcher, seed=seed, **more)
        found = dict(unusable)
        for failures in attribute_of_each(env, "failures"):
            found.update(failures)
        lost = int(np.sum(getattr(env, "lost", 0)))
    finally:
        env.close()
    agent.made = made.after(len(watcher.episodes) - len(before))
    if validation is not None and request.steps > done:
        validation.add(agent, request.steps)
    folder = agent.save(request.output)
    bundle = {
        "request": request.to_json(),
        "environment": {"subjects": list(usable), "path": path, **bound},
        "hyper_parameters": agent.hyper_parameters(),
        "action_names": list(names or ()),
        "feature_names": list(features),
        "seeds": {"agent": agent.seed, "environments": made.seeds},
        "resumed": done,
        "lost": lost,
        "steps": agent.made["steps"],
        "episodes": agent.made["episodes"],
        "made": agent.made,
        "unusable": found,
        "versions": _versions(),
    }
    write(json.dumps(bundle, indent=2) + "\n", folder / "bundle.json")
    write("".join(json.dumps(asdict(episode)) + "\n" for episode in watcher.episodes), folder / "episodes.jsonl")
    points = () if validation is None else tuple(validation.points)
    return Trained(agent, tuple(watcher.episodes), found, done, lost, points)


class _Made:
    """The training history of the agent so far: the trainings of its parents, and this one."""

    def __init__(self, request: Training, subjects: Sequence[str], agent: Agent, seeds: list[int]) -> None:
        self.seeds = seeds
        self._agent, self._parent, self._before = agent, agent.made, agent.n_updates
        setting = request.setting
        options = plain({**options_of(setting.env), **setting.options})
        self._training = {
            "corpus": request.subjects,
            **({"data": request.data} if request.data else {}),
            "subjects": list(subjects),
            "environment": {"id": setting.env, **options, "budget": setting.budget},
            "normalise": request.normalise and isinstance(agent, Deep),
            "seeds": {"agent": agent.seed, "environments": seeds},
            "fitgym": fitgym.__version__,
        }

    def after(self, episodes: int) -> dict[str, Any]:
        """Return all trainings, with this one after so many episodes."""
        steps = self._agent.n_updates - self._before
        training = {"steps": steps, "episodes": episodes, **self._training}
        return joined(self._parent, self._before, training if steps else None)


class _Watcher:
    """Assembles the steps of each environment into episodes; saves checkpoints and validates at regular intervals."""

    def __init__(
        self,
        request: Training,
        progress: Progress,
        done: int,
        before: Sequence[Episode],
        made: _Made,
        validation: Validation | None,
    ) -> None:
        self.episodes = list(before)
        self._made, self._earlier = made, len(before)
        self._request = request
        self._validation = validation
        self._progress = progress
        self._steps = done
        self._open: dict[int, list[float]] = {}

    def __call__(self, agent: Agent, transition: Transition) -> None:
        info = transition.info
        rewards = self._open.setdefault(int(info["environment"]), [])
        rewards.append(float(info["reward"]))
        if transition.terminated or transition.truncated:
            episode = Episode(
                self._steps + 1,
                str(info.get("subject", "")),
                float(info.get("goal_value", np.sum(rewards))),
                float(np.sum(rewards)),
                len(rewards),
            )
            rewards.clear()
            self.episodes.append(episode)
            self._progress(episode)
        self.count(agent)

    def count(self, agent: Agent) -> None:
        """Count a step."""
        self._steps += 1
        if self._request.checkpoint and self._steps % self._request.checkpoint == 0:
            agent.made = self._made.after(len(self.episodes) - self._earlier)
            save_checkpoint(self._request, agent, self._steps, self.episodes)
        # The last validation follows the last update.
        if self._validation and self._steps % self._request.validate == 0 and self._steps < self._request.steps:
            agent.made = self._made.after(len(self.episodes) - self._earlier)
            self._validation.add(agent, self._steps)


def _subjects(request: Training) -> tuple[tuple[str, ...], dict[str, str], str | None]:
    """Return the usable subjects, the unusable ones with their reasons, and the folder to search first."""
    if not has_subject(request.setting.env):
        return (), {}, None
    corpus = Corpus.of(request.subjects, request.setting.options.get("path"))
    texts, path = corpus.subjects, corpus.path
    unusable = {}
    for text in texts:
        try:
            locate(text, path)
        except SubjectError as problem:
            unusable[text] = str(problem)
    usable = tuple(text for text in texts if text not in unusable)
    if not usable:
        reasons = "; ".join(unusable.values()) or "none is named"
        raise SubjectError(f"no subject of '{request.subjects}' can be used: {reasons}")
    return usable, unusable, path


def _versions() -> dict[str, str]:
    found = {"fitgym": fitgym.__version__, "python": platform.python_version(), "platform": sys.platform}
    for name in ("numpy", "gymnasium", "stable_baselines3", "sb3_contrib", "torch"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
