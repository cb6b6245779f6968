"""Plays: episodes of policies, each on one task with one seed, in one process or several."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from fitgym.headroom.policy import Policy, final
from fitgym.run.environment import make
from fitgym.run.setting import Setting
from fitgym.sandbox.sandbox import die_with_parent

__all__ = ["Play", "Task", "Value", "play_all"]


@dataclass(frozen=True, slots=True)
class Task:
    """The task of an episode.

    Attributes:
        subject: the module under test; "" if the user names none.
        number: the number of a numbered task, see `fitgym.envs.tasks`; None for other environments.
    """

    subject: str = ""
    number: int | None = None

    @property
    def name(self) -> str:
        """The name of the task in tables."""
        return self.subject or ("" if self.number is None else f"task {self.number}")


@dataclass(frozen=True, slots=True)
class Play:
    """One episode: a policy, a task, and the seed of `reset`."""

    policy: Policy
    task: Task
    seed: int


@dataclass(frozen=True, slots=True)
class Value:
    """The result of an episode.

    Attributes:
        final: the final value of the goal, or the sum of the rewards if there is no goal.
        area: the mean of the value over the decisions, the area under the curve.
        steps: number of decisions.
    """

    final: float
    area: float
    steps: int


def play_all(setting: Setting, plays: Sequence[Play], jobs: int = 1) -> Iterator[Value]:
    """Yield the value of each episode, in order.

    Args:
        setting: the environment; its agent, subject and seed are ignored.
        plays: the episodes.
        jobs: number of parallel processes; it does not influence the values.
    """
    batches = list(_batches(plays))
    if jobs == 1 or len(batches) < 2:
        for batch in batches:
            yield from _played(setting, batch)
        return
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, spawn, initializer=die_with_parent, initargs=(os.getpid(),)) as pool:
        for values in pool.map(_played, [setting] * len(batches), batches):
            yield from values


def _batches(plays: Iterable[Play]) -> Iterator[list[Play]]:
    """Group consecutive plays on the same task, which share an environment."""
    batch: list[Play] = []
    for play in plays:
        if batch and (play.task != batch[-1].task or len(batch) >= 50):
            yield batch
            batch = []
        batch.append(play)
    if batch:
        yield batch


def _played(setting: Setting, plays: Sequence[Play]) -> list[Value]:
    task = plays[0].task
    options = {**setting.options, **({} if task.number is None else {"task": task.number})}
    env = make(Setting(env=setting.env, subject=task.subject, budget=setting.budget, options=options))
    try:
        return [_value(env, play) for play in plays]
    finally:
        env.close()


def _value(env: Any, play: Play) -> Value:
    inner = env.unwrapped
    # Another stream than that of the environment, which gets the seed alone.
    chance = np.random.default_rng((play.seed, 1))
    observation, info = env.reset(seed=play.seed)
    earned, done = 0.0, False
    curve: list[float] = []
    known: Mapping[str, Any] = info
    while not done:
        action = play.policy.choose(inner, observation, known, len(curve), chance)
        observation, reward, terminated, truncated, known = env.step(action)
        earned += float(reward)
        curve.append(final(known, earned))
        done = terminated or truncated
    return Value(curve[-1], float(np.mean(curve)), len(curve))
