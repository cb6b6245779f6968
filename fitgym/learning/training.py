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
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import fitgym
from fitgym.agents._deep import Deep
from fitgym.agents._made import joined
from fitgym.agents.base import Agent, kind
from fitgym.agents.base import make as make_agent
from fitgym.agents.transition import Transition
from fitgym.errors import BudgetError, InputError, SubjectError
from fitgym.evolution.budget import Budget
from fitgym.learning.dataset import check, read
from fitgym.learning.environments import at_once, attribute_of_each, environment, environments
from fitgym.learning.validation import Point, Validation, validation_tasks
from fitgym.run.cluster import check_executor
from fitgym.run.environment import has_subject, make, options_of
from fitgym.run.setting import Setting, plain
from fitgym.subject.corpus import Corpus
from fitgym.subject.source import locate
from fitgym.suite.text.export import write

__all__ = ["Episode", "Trained", "Training", "last_checkpoint", "train"]

Progress = Callable[["Episode"], None]

_PROGRESS = "progress.json"  # in a checkpoint: the request, and the episodes so far


@dataclass(frozen=True, slots=True)
class Training:
    """A request for a training.

    Attributes:
        setting: environment with its options, agent, seed, and the budget of an episode. The agent is `name`,
            `name:argument` or the folder of a saved agent, which continues learning. The subject of each episode is
            drawn from `subjects`.
        subjects: a corpus or one of its splits, or names of subjects with a comma after each; "" for an environment
            without a subject.
        steps: number of decisions to learn from, over all environments.
        output: folder for the agent; an existing agent is replaced.
        data: folders of datasets (`fitgym.learning.dataset`), separated by commas: a deep agent learns from them instead
            of the environment, and `steps` counts its updates.
        validate: steps between two validations, see `fitgym.learning.validation`; 0 for none. The last one follows the
            training.
        validate_on: subjects or tasks for the validation; "" for the validation split.
        best: save the agent of the best validation in `best` of the output folder.
        envs: number of parallel environments, each in its own process; a single process steps them all if the
            environment has a `vector_entry_point`. More than one only for deep agents.
        checkpoint: steps between two checkpoints; 0 for none.
        resume: continue from the last checkpoint in `output`, if there is one.
        tensorboard: also write events for TensorBoard; deep agents only. Validations are in `log/validation`.
        normalise: divide rewards by the standard deviation of the discounted return so far, as
            `gymnasium.wrappers.NormalizeReward` does: the scales of goals differ by orders of magnitude, which hinders
            training. Deep agents only; episodes are reported with the original rewards.
        executor: where the environments run: `local` for this machine, `ray` for a Ray cluster with one actor for each
            environment (`fitgym.learning.rollouts`); deep agents only. With two or more environments both give the same
            agent.
        address: address of the cluster, such as `auto` or `head:6379`. Without it, and without the environment variable
            `RAY_ADDRESS`, a cluster starts on this machine for the training.
    """

    setting: Setting
    subjects: str = ""
    steps: int = 2000
    output: str = "policy"
    data: str = ""
    validate: int = 0
    validate_on: str = ""
    best: bool = False
    envs: int = 1
    checkpoint: int = 0
    resume: bool = False
    tensorboard: bool = False
    normalise: bool = True
    executor: str = "local"
    address: str = ""

    @classmethod
    def of(cls, agent: str, subjects: str = "", **keywords: Any) -> Training:
        """Make a request from keywords: those of `Training` and of `Setting`, and the options of the environment."""
        own = {each.name for each in fields(cls)}
        mine = {name: value for name, value in keywords.items() if name in own}
        rest = {name: value for name, value in keywords.items() if name not in own}
        return cls(Setting.from_keywords(agent=agent, **rest), subjects, **mine)

    def to_json(self) -> dict[str, Any]:
        """Return the request as JSON-ready values."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**found, "setting": self.setting.to_json()}


@dataclass(frozen=True, slots=True)
class Episode:
    """A finished episode of the training.

    Attributes:
        step: number of decisions so far, over all environments.
        subject: the subject of the episode.
        value: the final value of the goal.
        rewards: the sum of the rewards.
        length: number of decisions in the episode.
    """

    step: int
    subject: str
    value: float
    rewards: float
    length: int


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
    _check(request)
    dataset = read(request.data.split(",")) if request.data else None
    tasks = validation_tasks(request.setting, request.subjects, request.validate_on) if request.validate else {}
    usable, unusable, path = _subjects(request)
    earlier = last_checkpoint(request) if request.resume else None
    done = 0 if earlier is None else int(earlier.name)
    before = () if earlier is None else _gone_on_from(earlier, request)
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
            check(dataset, env, agent)
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


def _gone_on_from(checkpoint: Path, request: Training) -> tuple[Episode, ...]:
    """Return the episodes before a checkpoint.

    Raises:
        InputError: the checkpoint belongs to another training than the requested one.
    """
    saved = json.loads((checkpoint / _PROGRESS).read_text("utf-8"))
    theirs, ours = _compared(saved["request"]), _compared(request.to_json())
    for name in {**theirs, **ours}:
        if theirs.get(name) != (asked := ours.get(name)):
            raise InputError(
                f"checkpoint '{checkpoint}' was made with {name} '{theirs.get(name)}', not with '{asked}': use the "
                "same value, or train in another folder"
            )
    return tuple(Episode(**episode) for episode in saved["episodes"])


def _compared(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that a resumed training must share with the interrupted one, by name."""
    setting = request["setting"]
    options = plain({**options_of(setting["env"]), **setting["options"]})
    own = {name: setting[name] for name in ("agent", "env", "seed", "budget")}
    return {**own, **options, **{name: request.get(name, "") for name in ("subjects", "normalise", "data")}}


def last_checkpoint(request: Training) -> Path | None:
    """Return the folder of the latest complete checkpoint with at most `steps` steps; None if there is none."""
    folders = [f for f in Path(request.output).glob("checkpoints/*") if f.name.isdigit() and (f / _PROGRESS).is_file()]
    reached = [folder for folder in folders if int(folder.name) <= request.steps]
    return max(reached, key=lambda folder: int(folder.name), default=None)


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
        self._checkpoints = Path(request.output) / "checkpoints"
        self._every = request.checkpoint
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
        if self._every and self._steps % self._every == 0:
            self._save(agent)
        # The last validation follows the last update.
        if self._validation and self._steps % self._request.validate == 0 and self._steps < self._request.steps:
            agent.made = self._made.after(len(self.episodes) - self._earlier)
            self._validation.add(agent, self._steps)

    def _save(self, agent: Agent) -> None:
        """Save a checkpoint.

        Its folder gets the final name only when it is complete, so that no training resumes from half of one.
        """
        folder = self._checkpoints / str(self._steps)
        agent.made = self._made.after(len(self.episodes) - self._earlier)
        unfinished = agent.save(self._checkpoints / f"{self._steps}.unfinished")
        progress = {"request": self._request.to_json(), "episodes": [asdict(episode) for episode in self.episodes]}
        write(json.dumps(progress) + "\n", unfinished / _PROGRESS)
        if folder.exists():
            shutil.rmtree(folder)
        unfinished.rename(folder)


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


def _check(request: Training) -> None:
    setting = request.setting
    if setting.budget and not Budget.parse(setting.budget).deterministic:
        raise BudgetError(
            f"budget '{setting.budget}' counts seconds, so no episode could be repeated: use 100g or 3000x"
        )
    if request.subjects and not has_subject(setting.env):
        raise InputError(f"environment '{setting.env}' has no subject: leave the subjects out")
    make(replace(setting, subject="")).close()
    cls = kind(setting.agent)
    deep = issubclass(cls, Deep)
    if not (cls.learns or deep):
        raise InputError(f"agent '{setting.agent}' does not learn: use it without training")
    if request.data and not deep:
        raise InputError(f"agent '{setting.agent}' does not learn from data: use ppo or a2c (cloning), or dqn")
    if request.data and (request.envs > 1 or request.executor != "local" or request.tensorboard):
        raise InputError("learning from data steps no environment: leave envs, executor and tensorboard out")
    for name, value in (("steps", request.steps), ("envs", request.envs)):
        if value < 1:
            raise InputError(f"{name} is {value}, expected at least 1")
    if request.validate < 0:
        raise InputError(f"validate is {request.validate}, expected a number of steps, or 0 for none")
    if not request.validate and (request.validate_on or request.best):
        raise InputError("validate is 0, but validation tasks or the best policy were requested: set validate, too")
    if request.checkpoint < 0:
        raise InputError(f"checkpoint is {request.checkpoint}, expected a number of steps, or 0 for none")
    if request.envs > 1 and not deep:
        raise InputError(
            f"agent '{setting.agent}' learns from one environment at a time: use envs 1, or a deep agent such as ppo"
        )
    if request.executor == "ray" and not deep:
        raise InputError(
            f"agent '{setting.agent}' learns in one process: use executor local, or a deep agent such as ppo"
        )
    if request.executor == "ray" and at_once(setting):
        raise InputError(
            f"environment '{setting.env}' steps all episodes in one process, faster than a cluster: use executor local"
        )
    check_executor(request.executor, request.address)
    if request.tensorboard and not deep:
        raise InputError(f"agent '{setting.agent}' writes nothing for TensorBoard: its episodes are in episodes.jsonl")
    output = Path(request.output)
    if output.exists() and not output.is_dir():
        raise InputError(f"output '{output}' is a file, expected the name of a folder")


def _versions() -> dict[str, str]:
    found = {"fitgym": fitgym.__version__, "python": platform.python_version(), "platform": sys.platform}
    for name in ("numpy", "gymnasium", "stable_baselines3", "sb3_contrib", "torch"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
