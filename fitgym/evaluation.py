"""Evaluation: agents on subjects, each pair with several seeds and the same budget, one row for each run.

    from fitgym.evaluation import evaluate
    rows = list(evaluate(["ucb", "fixed:exception", "uniform"], "stdlib-v1:test", seeds=range(5), budget="3000x"))

A row says what a run reached, or why there is none: a subject that cannot be used is a row with an error, never a gap.
"""

from __future__ import annotations

import inspect
import multiprocessing
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, Literal

import gymnasium
import numpy as np

from fitgym.agents.base import Agent, Transition, is_saved, kind, make, trained
from fitgym.envs.fitness_selection import GOALS, FitnessSelection, form_of
from fitgym.errors import ExecutionError, InputError, SubjectError
from fitgym.execution.sandbox import die_with_parent
from fitgym.subject.corpus import Corpus

__all__ = ["Cell", "Row", "evaluate", "first_tries", "play", "run_cell", "run_cells", "summary"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One run to make: everything that its result depends on.

    Attributes:
        agent: `name` or `name:argument`.
        subject: its text.
        seed: of the environment and of the agent.
        goal: name of the goal.
        budget: in generations or executions.
        reward: "paper" or "gain".
        actions: name of a catalogue, or the combinations themselves; None for the goal's own catalogue.
        path: a folder to look in first for the subject.
        features: name of the feature set that agents see; a trained agent needs the one it was trained with.
        populations: "shared" or "per-action", see `FitnessSelection`.
        population: individuals of the search.
        generations_per_step: how long a decision holds.
    """

    agent: str
    subject: str
    seed: int
    goal: str = "exceptions"
    budget: str = "3000x"
    reward: str = "gain"
    actions: str | tuple[str, ...] | None = None
    path: str | None = None
    features: str = "full-v1"
    populations: Literal["shared", "per-action"] = "shared"
    population: int = 50
    generations_per_step: int = 3


@dataclass(frozen=True, slots=True)
class Row:
    """What came of a cell.

    Attributes:
        cell: the run.
        value: of the goal at its end, None if there was no run.
        rewards: their sum.
        steps: decisions.
        generations: of the search.
        executions: of test cases.
        error: why there was no run, "" if there was one.
    """

    cell: Cell
    value: float | None = None
    rewards: float = 0.0
    steps: int = 0
    generations: int = 0
    executions: int = 0
    error: str = ""


def play(
    policy: Any, env: gymnasium.Env[Any, Any], *, seed: int | None = None, learn: bool = True
) -> tuple[float, int]:
    """One episode.

    Args:
        policy: an agent, or anything with the `predict` of a Stable-Baselines3 model.
        env: where it acts.
        seed: of `env.reset`.
        learn: let an agent learn while it acts (`act`, `observe`). Otherwise, and for any other policy, `predict` is
            asked for its deterministic choice, and nothing is learnt.

    Returns:
        The sum of the rewards and the number of steps.
    """
    online = learn and isinstance(policy, Agent)
    observation, info = env.reset(seed=seed)
    if isinstance(policy, Agent):
        policy.watch(env)
        policy.begin_episode(observation, info)
    total, steps, state = 0.0, 0, None
    done = False
    while not done:
        if online:
            action = policy.act(observation, info)
        else:
            start = np.array([steps == 0])
            masks = _masks(policy, info)
            action, state = policy.predict(observation, state, episode_start=start, deterministic=True, **masks)
            action = np.asarray(action).reshape(np.shape(env.action_space.sample()))
        seen, reward, terminated, truncated, news = env.step(action)
        if online:
            policy.observe(Transition.between(observation, action, reward, seen, terminated, truncated, info, news))
        total += float(reward)
        steps += 1
        observation, info, done = seen, news, terminated or truncated
    return total, steps


def _masks(policy: Any, info: dict[str, Any]) -> dict[str, Any]:
    """The action mask as an argument, for policies that take one."""
    if "action_mask" not in info:
        return {}
    takes = isinstance(policy, Agent) or "action_masks" in inspect.signature(policy.predict).parameters
    return {"action_masks": info["action_mask"]} if takes else {}


def run_cell(cell: Cell) -> Row:
    """Make one run; the same cell gives the same row in any process."""
    try:
        env = FitnessSelection(
            cell.subject,
            path=cell.path,
            goal=cell.goal,
            budget=cell.budget,
            reward=cell.reward,
            actions=cell.actions,
            features=cell.features,
            populations=cell.populations,
            population=cell.population,
            generations_per_step=cell.generations_per_step,
        )
    except SubjectError as problem:
        return Row(cell, error=str(problem))
    try:
        names = env.action_names
        agent = trained(make(cell.agent, env.action_space, action_names=names, seed=cell.seed, reseed=True))
        rewards, steps = play(agent, env, seed=cell.seed)
        assert env.engine is not None
        value = float(env.goal.value(env.engine))
        return Row(cell, value, rewards, steps, env.engine.generation, env.engine.executions)
    except (SubjectError, ExecutionError) as problem:
        return Row(cell, error=str(problem))
    finally:
        env.close()


def evaluate(
    names: Sequence[str],
    subjects: str | Corpus | Sequence[str],
    *,
    seeds: Iterable[int] = range(3),
    goal: str = "exceptions",
    budget: str = "3000x",
    reward: str = "gain",
    actions: str | None = None,
    features: str = "full-v1",
    path: str | None = None,
    populations: Literal["shared", "per-action"] = "shared",
    population: int = 50,
    generations_per_step: int = 3,
    jobs: int = 1,
) -> Iterator[Row]:
    """Run every agent on every subject with every seed, and give each row as soon as there is one.

    All runs have the same budget, catalogue of actions and reward, and share their seeds, so that runs with the same
    subject and seed begin with the same population and can be compared in pairs.

    Args:
        names: of the agents, with options after a colon.
        subjects: their texts, or the name of a corpus or of a split of one.
        seeds: at least one.
        goal, budget, reward, actions, features, populations, population, generations_per_step: as in `Cell`.
        path: a folder to look in first; the corpus's own if it has one.
        jobs: processes at a time. With one the order is agent by agent; with more, as they finish.

    Raises:
        InputError: an agent, a goal, a budget or a corpus cannot be used, or there is nothing to run.
    """
    corpus = Corpus.of(subjects, path)
    texts, path = corpus.subjects, corpus.path
    seeds = list(seeds)
    if not (names and texts and seeds):
        raise InputError("there is nothing to run: name at least one agent, one subject and one seed")
    cells = [
        Cell(
            name,
            text,
            seed,
            goal,
            budget,
            reward,
            actions,
            path,
            features=features,
            populations=populations,
            population=population,
            generations_per_step=generations_per_step,
        )
        for name in names
        for text in texts
        for seed in seeds
    ]
    return run_cells(cells, jobs)


def run_cells(cells: Sequence[Cell], jobs: int = 1) -> Iterator[Row]:
    """Make these runs, and give each row as soon as there is one.

    Args:
        cells: in the order of the rows if there is one job.
        jobs: processes at a time.

    Raises:
        InputError: an agent cannot be used: there is none of that name, its options make no sense, it has to be trained
            first or chooses among other actions; or `jobs` is below 1.
    """
    if jobs < 1:
        raise InputError(f"jobs is {jobs}, expected at least 1")
    for name, goal, actions in dict.fromkeys((cell.agent, cell.goal, cell.actions) for cell in cells):
        form = form_of(GOALS.load(goal), actions)
        trained(make(name, form.space, action_names=form.names))
    return map(run_cell, cells) if jobs == 1 else _parallel(cells, jobs)


def _parallel(cells: Sequence[Cell], jobs: int) -> Iterator[Row]:
    # Spawned, not forked: a fork of a process with threads (of a progress display, of torch) may hang.
    # Without an end of their own they would wait for work for ever if this process is killed.
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=die_with_parent) as pool:
        futures: list[Future[Row]] = [pool.submit(run_cell, cell) for cell in cells]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()


def first_tries(rows: Iterable[Row]) -> dict[str, tuple[int, int]]:
    """The agents that learn within a run alone and had no more decisions than actions in most runs: such an agent has done no
    more than try actions once, and says nothing about learning.

    Returns:
        By agent the median of the decisions and the number of actions.
    """
    steps: dict[tuple[str, str, str | tuple[str, ...] | None], list[int]] = defaultdict(list)
    for row in rows:
        if row.value is not None:
            steps[row.cell.agent, row.cell.goal, row.cell.actions].append(row.steps)
    found = {}
    for (name, goal, actions), decisions in steps.items():
        if kind(name).learns and not is_saved(name):
            median, n_actions = int(statistics.median(decisions)), len(form_of(GOALS.load(goal), actions).names)
            if median <= n_actions:
                found[name] = median, n_actions
    return found


def summary(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """What each agent reached, best first.

    For each subject and seed the values are divided by the largest that any agent reached there (1 for all where that is
    0), because subjects offer more and less; the mean over seeds is taken first, then over subjects.

    Returns:
        For each agent `agent`, `share` (that mean), `median` (of the values themselves), both None without runs,
        `runs` and `failed`.
    """
    rows = list(rows)
    best: dict[tuple[str, int], float] = defaultdict(float)
    for row in rows:
        if row.value is not None:
            key = row.cell.subject, row.cell.seed
            best[key] = max(best[key], row.value)
    found = []
    for name in dict.fromkeys(row.cell.agent for row in rows):
        mine = [row for row in rows if row.cell.agent == name]
        done = [(row.cell, row.value) for row in mine if row.value is not None]
        shares: dict[str, list[float]] = defaultdict(list)
        for cell, value in done:
            largest = best[cell.subject, cell.seed]
            shares[cell.subject].append(value / largest if largest > 0 else 1.0)
        found.append(
            {
                "agent": name,
                "share": statistics.fmean(map(statistics.fmean, shares.values())) if done else None,
                "median": statistics.median(value for _, value in done) if done else None,
                "runs": len(done),
                "failed": len(mine) - len(done),
            }
        )
    return sorted(found, key=lambda line: -1.0 if line["share"] is None else line["share"], reverse=True)
