"""What does an agent's decision cost, compared with the step of the search that it controls?"""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from fitgym.agents.base import Agent, Transition, agents, agents_for, make
from fitgym.envs.feature_set import FeatureSet
from fitgym.envs.features.base import View
from fitgym.envs.fitness_selection import FitnessSelection
from fitgym.goals.exceptions import Exceptions
from questions.answer import Answer, Settings, Table, Target
from questions.estimate import bootstrap
from questions.processes import apart, cpu_of_tree
from questions.searching import folder_of

__all__ = ["answer"]

MODULES = ("semver.version", "numeric")
VARIANTS = ("ucb:discount=0.9", "ucb:window=50", "dsg_sarsa:tiles=4")
"""Agents with options that are measured in addition to every agent with its defaults."""

LOOKING_AHEAD = ("oracle",)
"""Agents that need as many steps of the search per decision as there are actions."""

ACTIONS = 64
MOST_US = 50.0
MOST_SHARE = 0.01
TAUGHT = 300  # warm-up steps: every action is tried, and tables are filled


class Random(gymnasium.Env[Any, Any]):
    """Returns random observations and rewards, with as many actions and features as the goal of exceptions."""

    def __init__(self) -> None:
        names = FeatureSet.load("full-v1").names(View(Exceptions.functions))
        self.action_space = spaces.Discrete(ACTIONS)
        self.observation_space = spaces.Box(0.0, 1.0, (len(names),), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return self.np_random.random(self.observation_space.shape, np.float32), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        seen = self.np_random.random(self.observation_space.shape, np.float32)
        return seen, float(self.np_random.random()), False, False, self._info()

    def action_masks(self) -> Any:
        return np.ones(ACTIONS, bool)

    def _info(self) -> dict[str, Any]:
        return {"generation": 0, "action_mask": self.action_masks()}


def timed(text: str, seed: int, rounds: int, decisions: int) -> dict[str, list[float]]:
    """Return processor seconds of `act` and of `observe` for one decision, in rounds of many."""
    env = Random()
    agent = make(text, ACTIONS, seed=seed).learn(env, TAUGHT, seed=seed)
    costs: dict[str, list[float]] = {"act": [], "observe": []}
    observation, info = env.reset(seed=seed)
    agent.begin_episode(observation, info)
    for _ in range(rounds):
        acting = observing = 0.0
        for _ in range(decisions):
            started = time.process_time()
            action = agent.act(observation, info)
            acting += time.process_time() - started
            seen, reward, _, _, news = env.step(action)
            transition = Transition.between(observation, action, reward, seen, False, False, info, news)
            started = time.process_time()
            agent.observe(transition)
            observing += time.process_time() - started
            observation, info = seen, news
        costs["act"].append(acting / decisions)
        costs["observe"].append(observing / decisions)
    return costs


def stepped(module: str, folder: Path, seed: int, steps: int) -> float:
    """Return processor seconds of all processes for one step of the search with random actions."""
    env = FitnessSelection(module, path=str(folder), goal="exceptions", budget=None, features="full-v1")
    try:
        env.action_space.seed(seed)
        env.reset(seed=seed)
        before = sum(cpu_of_tree())
        for _ in range(steps):
            env.step(env.action_space.sample())
        return (sum(cpu_of_tree()) - before) / steps
    finally:
        env.close()


def asked() -> tuple[list[str], list[str]]:
    """Return the agents to measure, and the reason for each that is left out."""
    names, notes = [], []
    learned = importlib.util.find_spec("stable_baselines3") and importlib.util.find_spec("sb3_contrib")
    discrete = agents_for(spaces.Discrete)
    for name in agents().names():
        if name not in discrete:
            notes.append(f"{name}: does not act in Discrete")
        elif name in LOOKING_AHEAD:
            notes.append(f"{name}: a decision is {ACTIONS} steps of the search")
        elif _is_deep(agents().load(name)) and not learned:
            notes.append(f"{name}: cannot be trained without Stable-Baselines3")
        else:
            names.append(name)
    return sorted({*names, *VARIANTS}), notes


def _is_deep(kind: type[Agent]) -> bool:
    return any(base.__module__ == "fitgym.agents._deep" for base in kind.__mro__)


def answer(settings: Settings) -> Answer:
    """Measure microseconds of every agent, and their share of a step."""
    rounds, decisions = settings.choose((20, 50), (100, 100))
    names, notes = asked()
    module = settings.pick(MODULES[:1], MODULES)[0]
    step = apart(stepped, module, folder_of(module, settings.subjects), settings.seed, settings.choose(10, 100))
    table = Table(
        f"A decision, microseconds of processor time, {ACTIONS} actions; beside {1000 * step:.1f} ms for a step on {module}",
        ("agent", "act, least", "observe, least", "both, least", "both, median", "share of a step"),
        [],
    )
    result = Answer([table], notes=notes, figures={"step": step})
    for name in names:
        costs = apart(timed, name, settings.seed, rounds, decisions)
        act, observe = 1e6 * min(costs["act"]), 1e6 * min(costs["observe"])
        both = [1e6 * (a + o) for a, o in zip(costs["act"], costs["observe"], strict=True)]
        share = 1e-6 * min(both) / step
        table.rows.append(
            (
                *(name, f"{act:.1f}", f"{observe:.1f}", f"{min(both):.1f}", str(bootstrap(both))),
                f"{100 * share:.3f} %",
            )
        )
        result.figures[name] = costs
        result.targets.append(Target(f"agent {name}: microseconds for a decision, least", MOST_US, min(both)))
        result.targets.append(Target(f"agent {name}: share of a step", MOST_SHARE, share))
    return result
