"""An episode: an agent chooses fitness functions while a search runs, as in `fitgym evaluate`."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

from fitgym import __version__
from fitgym.agents.base import Transition, make, trained
from fitgym.envs.fitness_selection import FitnessSelection
from fitgym.errors import InputError
from fitgym.evolution.budget import Budget
from fitgym.replay import replay
from fitgym.study.statistics import area_under_curve
from fitgym.study.trials._goal import agent_text, check_names
from fitgym.study.trials.base import Measured, Trial
from fitgym.suite.finishing import finish

__all__ = ["Episode"]

_OF_THE_RUN = ("goal", "reward", "search", "smart", "secondary", "populations", "population", "generations_per_step")
"""Settings that the record of a run has too."""


@dataclass(frozen=True)
class Episode(Trial):
    """One run of an agent.

    Attributes:
        goal: name of the goal.
        agent: `name` or `name:argument`; "own" for the goal's own fitness function all the time (current practice), "all" for
            all of the goal's fitness functions together.
        search, smart, secondary, reward, features, populations, population, generations_per_step: as in
            `fitgym.envs.fitness_selection.FitnessSelection`.
        actions: name of a catalogue; "" for the goal's own.
        suite: finish the suite too, which takes a while, and keep its text in the record.
    """

    goal: str = "exceptions"
    agent: str = "ucb"
    search: str = "whole_suite"
    smart: bool = False
    secondary: str = "length"
    reward: str = "gain"
    actions: str = ""
    features: str = "full-v1"
    populations: str = "shared"
    population: int = 50
    generations_per_step: int = 3
    suite: bool = False

    metrics: ClassVar[dict[str, bool]] = {"value": True, "rewards": True, "area": True}
    course: ClassVar[str] = "value"
    units: ClassVar[str] = "xgs"

    def check(self, budget: str) -> None:
        """The names must be known, and the numbers make sense."""
        check_names(self.goal, self.agent, self.search)
        for name in ("population", "generations_per_step"):
            if getattr(self, name) < 1:
                raise InputError(f"{name}: {getattr(self, name)} is below 1")

    def estimate(self, budget: str) -> float:
        """Test cases that are run on mutants take ten times as long."""
        found = Budget.parse(budget)
        if found.unit == "s" or self.goal != "strong_mutation":
            return super().estimate(budget)
        return super().estimate(str(Budget(10 * found.amount, found.unit)))

    def measure(self, subject: str, seed: int, budget: str, path: str | None) -> Measured:
        """Play the episode to its end.

        Measured are `value` of the goal, the sum of `rewards`, the `area` under the value over the executions (the mean value
        while the run lasted), `executions`, `generations` and `steps`.
        """
        spent = Budget.parse(budget)
        began = time.monotonic()
        env = FitnessSelection(
            subject,
            path=path,
            goal=self.goal,
            budget=budget if spent.deterministic else None,
            reward=self.reward,
            actions=self._actions(),
            features=self.features,
            search=self.search,
            smart=self.smart,
            secondary=self.secondary,
            populations=cast(Literal["shared", "per-action"], self.populations),
            population=self.population,
            generations_per_step=self.generations_per_step,
        )
        try:
            if not spent.deterministic:
                env.deadline = began + spent.amount
            text, names = agent_text(self.goal, self.agent), env.action_names
            agent = trained(make(text, env.action_space, action_names=names, seed=seed, reseed=True))
            values, executions, generations, deciding = self._play(env, agent, seed, spent)
            assert env.engine is not None
            ended = time.monotonic()
            timings = {name: env.engine.timings[name] for name in ("execute", "measure", "search")}
            return Measured(
                {
                    "value": float(env.goal.value(env.engine)),
                    "rewards": float(sum(env.rewards)),
                    "area": area_under_curve(executions, values),
                    "executions": env.engine.executions,
                    "generations": env.engine.generation,
                    "steps": len(env.rewards),
                },
                {
                    "action": list(env.actions_taken),
                    "reward": list(env.rewards),
                    "value": values,
                    "executions": executions,
                    "generation": generations,
                },
                self._run(env, seed, budget),
                {"deciding": deciding, "run": ended - began, **timings},
            )
        finally:
            env.close()

    def check_again(self, record: Mapping[str, Any], path: str | None) -> list[str]:
        """The actions are taken again, whoever chose them, and the suite, if there is one, is run in a fresh interpreter."""
        return [*replay(record["run"], path=path).differences, *_claims(record)]

    def _play(
        self, env: FitnessSelection, agent: Any, seed: int, budget: Budget
    ) -> tuple[list[float], list[int], list[int], float]:
        """The goal's value, executions and generations, at the start and after each step; and the agent's seconds."""
        observation, info = env.reset(seed=seed)
        agent.watch(env)
        agent.begin_episode(observation, info)
        assert env.engine is not None
        values = [float(env.goal.value(env.engine))]
        executions, generations = [env.engine.executions], [env.engine.generation]
        deciding, done = 0.0, False
        while not done:
            started = time.perf_counter()
            action = agent.act(observation, info)
            deciding += time.perf_counter() - started
            seen, reward, terminated, truncated, news = env.step(action)
            started = time.perf_counter()
            agent.observe(Transition.between(observation, action, reward, seen, terminated, truncated, info, news))
            deciding += time.perf_counter() - started
            values.append(float(env.goal.value(env.engine)))
            executions.append(env.engine.executions)
            generations.append(env.engine.generation)
            observation, info = seen, news
            late = not budget.deterministic and env.engine.late
            done = terminated or truncated or late
        return values, executions, generations, deciding

    def _run(self, env: FitnessSelection, seed: int, budget: str) -> dict[str, Any]:
        """What `fitgym.replay` needs, and the suite if it is wanted."""
        engine = env.engine
        assert engine is not None
        found = {
            **env.record(),
            "fitgym_version": __version__,
            "source_sha256": hashlib.sha256(engine.subject.source.encode()).hexdigest(),
            "agent": agent_text(self.goal, self.agent),
            "population": self.population,
            "generations_per_step": self.generations_per_step,
            "budget": budget,
            "seed": seed,
            "generations": engine.generation,
            "goal_value": env.goal.value(engine),
        }
        if self.suite:
            finished = finish(engine, env.goal.kept)
            found |= {"suite": finished.source, "tests": len(finished.tests)}
        return found

    def _actions(self) -> str | tuple[str, ...] | None:
        if self.agent == "all":  # a combination that no catalogue may have
            return (agent_text(self.goal, self.agent).partition(":")[2],)
        return self.actions or None


def _claims(record: Mapping[str, Any]) -> list[str]:
    """What a record says of itself beside what its own run says."""
    run, measures = record["run"], record["measures"]
    meant = {key: record[key] for key in ("subject", "seed", "budget")}
    meant |= {key: record["settings"][key] for key in _OF_THE_RUN}
    said = [
        f"{key} of the run is {run[key]!r}, claimed is {value!r}" for key, value in meant.items() if run[key] != value
    ]
    found = {"value": run["goal_value"], "rewards": float(sum(run["rewards"])), "steps": len(run["actions"])}
    return said + [
        f"{name} is {value!r} in the run, claimed is {measures[name]!r}"
        for name, value in found.items()
        if measures[name] != value
    ]
