"""Evaluation: run agents on subjects, with several seeds per pair and the same budget; each run gives a row.

    from fitgym.run.evaluation import evaluate
    rows = list(evaluate(["ucb", "fixed:exception", "uniform"], "stdlib-v1:test", seeds=range(5), budget="3000x"))

A row holds the result of a run. An unusable subject gives a row with an error, so that no rows are missing.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, fields, replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from fitgym.agents.base import Agent, is_saved, kind
from fitgym.envs.tasks import numbers
from fitgym.errors import ExecutionError, InputError, SubjectError
from fitgym.run.cluster import check_executor, connected, enter, reason, tasks
from fitgym.run.environment import agent_of, check, has_subject, has_tasks, make
from fitgym.run.episode import deterministic
from fitgym.run.episode import play as play_episode
from fitgym.run.record import record
from fitgym.run.setting import DEFAULT_ENV, Setting
from fitgym.sandbox.sandbox import die_with_parent
from fitgym.subject.corpus import Corpus

__all__ = ["BUDGET", "Row", "evaluate", "first_tries", "play", "run", "run_all", "summary"]


BUDGET = "3000x"
"""The default budget of runs on a subject."""

_MOST_TASKS = 10_000  # more would never end; the training split has 2^31


@dataclass(frozen=True, slots=True)
class Row:
    """The result of one run.

    Attributes:
        setting: the setting of the run.
        value: the final value of the goal; None if there was no run.
        rewards: the sum of the rewards.
        steps: number of decisions.
        generations: generations of the search.
        executions: executions of test cases.
        error: the reason why there was no run; "" if there was one.
        record: the record with which `fitgym replay` repeats the run; None if there was no run or the environment keeps
            no record.
    """

    setting: Setting
    value: float | None = None
    rewards: float = 0.0
    steps: int = 0
    generations: int = 0
    executions: int = 0
    error: str = ""
    record: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return the row as JSON-ready values, without the record."""
        found = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "record"}
        return {**found, "setting": self.setting.to_json()}


def play(
    policy: Any, env: gymnasium.Env[Any, Any], *, seed: int | None = None, learn: bool = True
) -> tuple[float, int]:
    """Play one episode.

    Args:
        policy: an agent, or any object with the `predict` of a Stable-Baselines3 model.
        env: the environment.
        seed: the seed of `env.reset`.
        learn: let an agent learn while it acts (`act`, `observe`). Otherwise, and for any other policy, `predict` gives
            deterministic choices and nothing is learnt.

    Returns:
        The sum of the rewards and the number of steps.
    """
    actor = policy if learn and isinstance(policy, Agent) else deterministic(policy)
    played = play_episode(actor, env, seed=seed)
    return played.rewards, played.steps


def run(setting: Setting) -> Row:
    """Make one run; the same setting gives the same row in any process."""
    try:
        env = make(setting)
    except SubjectError as problem:
        return Row(setting, error=str(problem))
    try:
        played = play_episode(agent_of(setting, env), env, seed=setting.seed)
        info = played.info
        return Row(
            setting,
            float(info["goal_value"]) if "goal_value" in info else played.rewards,
            played.rewards,
            played.steps,
            int(info.get("generation", played.steps)),
            int(info.get("executions", 0)),
            record=record(env, setting, info) if hasattr(env.unwrapped, "record") else None,
        )
    except (SubjectError, ExecutionError) as problem:
        return Row(setting, error=str(problem))
    finally:
        env.close()


def evaluate(
    names: Sequence[str],
    subjects: str | Corpus | Sequence[str] = (),
    *,
    seeds: Iterable[int] = range(3),
    env: str = DEFAULT_ENV,
    budget: str = "",
    path: str | None = None,
    tasks: str = "",
    jobs: int | None = None,
    executor: str = "local",
    address: str = "",
    **options: Any,
) -> Iterator[Row]:
    """Run every agent on every subject or task with every seed, and yield each row as soon as it is available.

    All runs share environment, budget, action catalogue, reward and seeds. Runs with the same subject and seed start
    with the same population, so they can be compared in pairs.

    Args:
        names: names of the agents, with options after a colon.
        subjects: names of subjects, or the name of a corpus or of its split; empty for environments without a subject.
        seeds: at least one seed.
        env: the id of the environment.
        budget: the budget of each run. The default is 3000x, or the environment's own budget if it has no subject.
        path: a folder to search first; the corpus's own folder by default.
        tasks: for an environment with numbered tasks: a range such as 200-299, or the split `validation` or `test`.
            Without it, the seed determines the task.
        jobs, executor, address: see `run_all`. With one local job the rows are in the order of the agents; otherwise
            they come as the runs finish.
        options: options of the environment, such as `goal="coverage"`.

    Raises:
        InputError: an agent, a goal, a budget or a corpus cannot be used, or there is nothing to run.
    """
    seeds = list(seeds)
    texts: Sequence[str] = ("",)
    of_tasks: Sequence[dict[str, Any]] = [{}]
    if has_subject(env):
        corpus = Corpus.of(subjects, path)
        texts, options, budget = corpus.subjects, {**options, "path": corpus.path}, budget or BUDGET
    elif subjects:
        raise InputError(f"environment '{env}' has no subject: leave the subjects out")
    if tasks:
        of_tasks = [{"task": task} for task in _numbers(env, tasks)]
    if not (names and texts and seeds):
        raise InputError("there is nothing to run: name at least one agent, one subject and one seed")
    settings = [
        Setting.from_keywords(env=env, subject=text, agent=name, seed=seed, budget=budget, **{**options, **task})
        for name in names
        for text in texts
        for task in of_tasks
        for seed in seeds
    ]
    return run_all(settings, jobs, executor, address)


def _numbers(env: str, tasks: str) -> range:
    if not has_tasks(env):
        raise InputError(f"environment '{env}' has no numbered tasks: leave the tasks out")
    found = numbers(tasks)
    if len(found) > _MOST_TASKS:
        raise InputError(
            f"tasks '{tasks}' are {len(found)} tasks, expected at most {_MOST_TASKS}: use a range such as 200-299"
        )
    return found


def run_all(
    settings: Sequence[Setting], jobs: int | None = None, executor: str = "local", address: str = ""
) -> Iterator[Row]:
    """Make these runs, and yield each row as soon as it is available.

    Args:
        settings: the settings; with one local job the rows have their order.
        jobs: the number of parallel runs. None means one locally, and the number of cores of the cluster with `ray`.
        executor: `local` for processes of this machine, `ray` for tasks of a Ray cluster. The rows are the same.
            Folders and files that a setting names must exist on every node of the cluster under the same path.
        address: the address of the cluster, such as `auto`; see `fitgym.run.cluster.connected`.

    Raises:
        InputError: an environment or its options cannot be used; an agent does not exist, has invalid options, is
            untrained or has other actions; `jobs` is below 1; or the executor cannot be used.
    """
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs is {jobs}, expected at least 1")
    check_executor(executor, address)
    for setting in _without_subjects(settings):
        check(setting)
    if executor == "ray":
        return _on_ray(settings, jobs, address)
    return map(run, settings) if jobs in (None, 1) else _parallel(settings, jobs)


def _on_ray(settings: Sequence[Setting], jobs: int | None, address: str) -> Iterator[Row]:
    """Make each run as a task of the cluster."""
    folder = os.getcwd()

    def made(setting: Setting) -> Row:
        enter(folder)  # a task may start in another folder
        return run(setting)

    with connected(address, jobs) as ray:
        most = jobs or max(1, int(ray.cluster_resources().get("CPU", 1)))
        for setting, answer in tasks(ray, made, settings, most):
            if isinstance(answer, ray.exceptions.RayTaskError):
                raise answer.cause from None
            if isinstance(answer, ray.exceptions.RayError):
                answer = Row(setting, error=f"the process that made the run died: {reason(answer)}")
            yield answer


def _without_subjects(settings: Iterable[Setting]) -> list[Setting]:
    """Return the distinct settings, ignoring subject, task, path and seed."""
    found: list[Setting] = []
    for setting in settings:
        options = {name: value for name, value in setting.options.items() if name not in ("path", "task")}
        blank = replace(setting, subject="", seed=0, options=options)
        if blank not in found:
            found.append(blank)
    return found


def _parallel(settings: Sequence[Setting], jobs: int) -> Iterator[Row]:
    # Spawn instead of fork: forking a process with threads (of a progress display, of torch) may hang.
    # `die_with_parent`: otherwise the workers would wait for work for ever if this process is killed.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, spawn, initializer=die_with_parent, initargs=(os.getpid(),)) as pool:
        futures: list[Future[Row]] = [pool.submit(run, setting) for setting in settings]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()


def first_tries(rows: Iterable[Row]) -> dict[str, tuple[int, int]]:
    """Find agents that learn within a run only, and had at most as many decisions as actions in the median run.

    Such an agent has only tried actions once, so its result is no evidence about learning.

    Returns:
        By agent, the median number of decisions and the number of actions.
    """
    runs: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.value is not None:
            runs[row.setting.agent].append(row)
    found = {}
    for name, mine in runs.items():
        if kind(name).learns and not is_saved(name):
            median = int(statistics.median(row.steps for row in mine))
            n_actions = max(_n_choices(setting) for setting in _without_subjects(row.setting for row in mine))
            if median <= n_actions:
                found[name] = median, n_actions
    return found


def _n_choices(setting: Setting) -> int:
    """Return the number of actions that an agent can try one by one in the environment of a setting."""
    env = make(replace(setting, subject=""))
    env.close()
    space = env.action_space
    return int(space.n) if isinstance(space, spaces.Discrete) else int(np.prod(space.shape or (1,)))


def summary(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Summarise the results of each agent, best first.

    Subjects and tasks differ in their attainable values. For each of them and each seed, the values are therefore divided by the
    largest value of any agent (1 for all if that is 0). The mean is taken over seeds first, then over subjects.

    Returns:
        For each agent `agent`, `share` (that mean), `median` and `mean` (of the values themselves), all None without
        runs, `runs` and `failed`.
    """
    rows = list(rows)
    best: dict[tuple[str, int], float] = defaultdict(float)
    for row in rows:
        if row.value is not None:
            key = row.setting.place, row.setting.seed
            best[key] = max(best[key], row.value)
    found = []
    for name in dict.fromkeys(row.setting.agent for row in rows):
        mine = [row for row in rows if row.setting.agent == name]
        done = [(row.setting, row.value) for row in mine if row.value is not None]
        shares: dict[str, list[float]] = defaultdict(list)
        for setting, value in done:
            largest = best[setting.place, setting.seed]
            shares[setting.place].append(value / largest if largest > 0 else 1.0)
        found.append(
            {
                "agent": name,
                "share": statistics.fmean(map(statistics.fmean, shares.values())) if done else None,
                "median": statistics.median(value for _, value in done) if done else None,
                "mean": statistics.fmean(value for _, value in done) if done else None,
                "runs": len(done),
                "failed": len(mine) - len(done),
            }
        )
    return sorted(found, key=lambda line: -1.0 if line["share"] is None else line["share"], reverse=True)
