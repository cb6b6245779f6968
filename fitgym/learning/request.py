"""The request for a training: what learns from what, for how long, and where the result goes."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from fitgym.agents._deep import Deep
from fitgym.agents.base import kind
from fitgym.errors import BudgetError, InputError
from fitgym.evolution.budget import Budget
from fitgym.learning.environments import at_once
from fitgym.run.cluster import check_executor
from fitgym.run.environment import has_subject, make
from fitgym.run.setting import Setting

__all__ = ["Training", "check"]


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


def check(request: Training) -> None:
    """Check a request before anything is written.

    Raises:
        BudgetError: the budget counts seconds, so no episode could be repeated.
        InputError: a part of the request cannot be used.
    """
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
