"""Fitness selection: at every step an agent chooses which fitness functions guide the search."""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.engine import SECONDARY, Engine, Variants, check_variants, parse_search
from fitgym.envs.action_form import ActionForm, Chosen, Listed, action_form
from fitgym.envs.catalogue import action_name
from fitgym.errors import BudgetError, InputError, ResetNeeded, UnknownName
from fitgym.evolution.budget import Budget
from fitgym.evolution.individual import Individual
from fitgym.execution.executor import Executor, Limits
from fitgym.features import FeatureSet, Moment
from fitgym.goals.base import Goal
from fitgym.registry import Registry
from fitgym.rendering.display import MODES, display
from fitgym.rendering.episode import Episode, Step
from fitgym.subject.source import locate
from fitgym.testcase.statement import TestCase

if TYPE_CHECKING:
    from fitgym.envs.footprint import Footprint

__all__ = ["GOALS", "FitnessSelection", "form_of"]

GOALS = Registry("fitgym.goals", Goal, "goal")
POPULATIONS = ("shared", "per-action")

Observation = NDArray[np.float32]


class FitnessSelection(gymnasium.Env[Observation, np.int64]):
    """## Description
    A genetic algorithm evolves a suite of tests for a Python module. Every few generations the agent chooses the
    combination of fitness functions that guides it, and is rewarded for progress towards a testing goal.

    ## Action Space
    `Discrete(n)` over a catalogue of named combinations, `env.unwrapped.action_names`. The catalogue of the
    exception goal has 64, that of the diversity goal 44, that of strong mutation 31, as published; the coverage goal
    takes "pairs", 36 of them. With `actions="bits"` it is `MultiBinary(n)`, a bit for each fitness function of the goal;
    with `actions="weights"` `Box(-1, 1, (n,))`, where -1 is a function that is not active and x weighs (1 + x) / 2 in the
    sum that guides the search. Agents of fitgym choose from `Discrete`; the others are for libraries that can do more.

    ## Observation Space
    `Box(0, 1, (n,), float32)`; `env.unwrapped.feature_names` names the entries. "paper-v1": which functions are
    active, their combined fitness, the squashed size of the best suite, the coverage of their targets. "full-v1" adds
    fitness and coverage of each function, the goal's value, its last three gains, stagnation, the remaining budget and
    the last action.

    ## Rewards
    "paper", as published for the goal, or "gain", the change of the goal's value. See `fitgym.goals`;
    `env.unwrapped.reward_range` is the lowest and the highest.

    ## Starting State
    A random population, evaluated under the goal's own fitness function. The seed of `reset` determines everything.

    ## Episode End
    Terminated when the goal is reached or the budget is spent (the budget is part of the task and can be observed).
    A budget in seconds cannot be reproduced and is refused here: wrap the environment in a time limit instead.

    ## Arguments
    All but the last are names, numbers or lists of these, so the spec can be written as JSON.

    * `subject`: `package.module`, `package.module:Class` or `path/to/file.py[:Class]`.
    * `path`: a folder that is searched first.
    * `goal`: name of a goal; the registered ids fix it.
    * `budget`: `200g` generations or `20000x` executions of test cases.
    * `actions`: a catalogue, see `fitgym.envs.catalogue`, "bits" or "weights"; the goal's own catalogue if not given.
    * `features`: name of a feature set.
    * `reward`: "paper" or "gain".
    * `variants`: of fitness functions, such as `{"diversity": {"last_two": true}}`; see `Engine`.
    * `search`: a search algorithm, such as `whole_suite` or `whole_suite:use_archive=false`.
    * `smart`: of the chosen functions only those guide, with those of their targets, that stand for the others; see
      `fitgym.smart_selection`.
    * `secondary`: what breaks ties and chooses what the archive keeps: `length`, `performance` or `diversity`.
    * `population`: number of its individuals.
    * `populations`: "shared", one that all actions work on; or "per-action": once as many decisions were made as there
      are actions, an action that is not the one before goes on with the population that it left when it was last
      chosen. That is what the code released with the paper does, and the paper does not say.
    * `generations_per_step`: 3, as published (3 to 5).
    * `render_mode`: "ansi", a line; "rgb_array", a picture of 800 by 600 pixels (extra `render`); "human", the terminal,
      after every step; or None.
    * `timeout_s`: seconds that one test case may take.
    * `executor`: one that has been started for this subject, for a caller that could not wait.

    ## References
    Almulla and Gay 2022, Learning How to Search: Generating Effective Test Cases Through Adaptive Fitness Function
    Selection.

    ## Version History
    * v0: initial version.
    """

    metadata: dict[str, Any] = {"render_modes": list(MODES), "render_fps": 4}  # noqa: RUF012  (Gymnasium declares it so)

    def __init__(
        self,
        subject: str,
        *,
        path: str | None = None,
        goal: str = "exceptions",
        budget: str | None = "200g",
        actions: str | Sequence[str] | None = None,
        features: str = "paper-v1",
        reward: str = "paper",
        variants: Variants | None = None,
        search: str = "whole_suite",
        smart: bool = False,
        secondary: str = "length",
        population: int = 50,
        populations: Literal["shared", "per-action"] = "shared",
        generations_per_step: int = 3,
        render_mode: str | None = None,
        timeout_s: float = 2.0,
        executor: Executor | None = None,
    ) -> None:
        self.subject_name = subject
        self.goal = self._goal(goal, reward)
        self.reward_range = self.goal.reward_range
        self.budget = None if budget is None else Budget.parse(budget)
        if self.budget is not None and not self.budget.deterministic:
            raise BudgetError(
                f"budget '{budget}' counts seconds, so no run could be repeated: give an environment generations "
                "(200g) or executions (20000x)"
            )
        if generations_per_step < 1:
            raise ValueError(f"generations_per_step is {generations_per_step}, expected at least 1")
        self.form = self._form(actions)
        self.catalogue = self.form.combinations
        self.action_names = self.form.names
        self.features = FeatureSet.load(features)
        self.feature_names = self.features.names(self.goal.functions)
        parse_search(search)  # refused here rather than at the first reset
        self.variants = check_variants(variants or {})
        self.search = search
        self.smart = smart
        SECONDARY.load(secondary)
        self.secondary = secondary
        if populations not in POPULATIONS:
            raise UnknownName("kind of populations", populations, POPULATIONS)
        if populations == "per-action" and not isinstance(self.form, Listed):
            raise InputError(f"actions '{actions}' have no populations of their own: use a catalogue, or shared ones")
        self.population = population
        self.populations = populations
        self.generations_per_step = generations_per_step
        self.render_mode = render_mode
        self._display = display(render_mode)
        self._footprint: Footprint | None = None  # where there is a display
        self.action_space = self.form.space
        self.observation_space = spaces.Box(0.0, 1.0, (len(self.feature_names),), np.float32)
        self.executor = executor or Executor(locate(subject, path), Limits(seconds=timeout_s))
        self.deadline: float | None = None  # see `Engine`; for callers with a budget in seconds
        self.engine: Engine | None = None
        self.seed: int | None = None
        self.actions_taken: list[str] = []
        self.rewards: list[float] = []
        self._seconds: list[float] = []
        self._moment = Moment()
        self._ended = False

    # ------------------------------------------------------------------ Gymnasium

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new search.

        Args:
            seed: of everything random in the episode.
            options: `{"subject": ...}` takes another subject from now on, with `"path"` one that is looked for there
                first. If it cannot be found the environment keeps the one it has.

        Raises:
            SubjectError: the subject cannot be found, imported or tested.
        """
        super().reset(seed=seed)
        if options and "subject" in options and options["subject"] != self.subject_name:
            reference = locate(options["subject"], options.get("path"))
            limits = self.executor.limits
            self.executor.close()
            self.subject_name = options["subject"]
            self.executor = Executor(reference, limits)
        self.seed = int(self.np_random.integers(2**31))
        self.engine = Engine(
            self.executor,
            fitness=self._starts_with(),
            tracked=(*self.goal.kept, *self.goal.tracked),
            usable=tuple(dict.fromkeys(name for action in self.catalogue for name in action)),
            variants=self.variants,
            search=self.search,
            smart=self.smart,
            secondary=self.secondary,
            seed=self.seed,
            population=self.population,
            budget=self.budget,
            deadline=self.deadline,
        )
        self.engine.step()
        self.goal.begin(self.engine)
        self.actions_taken, self.rewards, self._seconds = [], [], []
        self._moment = Moment(
            1.0 - self.spent, self.goal.value(self.engine), self.goal.scale, n_actions=len(self.catalogue)
        )
        self._ended = False
        if self._display is not None:
            from fitgym.envs.footprint import Footprint

            self._footprint = Footprint(self.engine.subject)
            setting = f"goal {self._pursued()} · {self._given()} · seed {self.seed}"
            episode = Episode(self.subject_name, setting, self._options(), (), self._footprint.listing)
            self._display.begin(episode.then(self._seen(""), self._footprint.runs(self.engine)))
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Let the chosen combination guide the search for some generations.

        Raises:
            ResetNeeded: the episode has ended, or none has begun.
        """
        if self.engine is None or self._ended:
            raise ResetNeeded("the episode has ended: call reset() before the next step()")
        chosen = self.form.read(action)
        started = time.perf_counter()
        self._act(self.engine, chosen)
        for _ in range(self.generations_per_step):
            self.engine.step()
            if self.engine.over:
                break
        reward = float(self.goal.reward(self.engine))
        if self.populations == "per-action":
            self.engine.kept[chosen.name] = list(self.engine.search.population)
        self._seconds.append(time.perf_counter() - started)
        self.actions_taken.append(chosen.name)
        self.rewards.append(reward)
        self._moment = self._next(chosen.number)
        terminated = bool(self.spent >= 1.0 or self.goal.reached(self.engine))
        self._ended = terminated
        if self._display is not None and self._footprint is not None:
            ended = "" if not terminated else "budget spent" if self.spent >= 1.0 else "goal reached"
            self._display.follow(self._seen(chosen.label), self._footprint.runs(self.engine), ended)
        return self._observation(), reward, terminated, False, self._info()

    def render(self) -> Any:
        """A line or a picture of the running search, as the render mode says; None for "human", which shows each step."""
        if self._display is not None:
            return self._display.picture()
        if self.render_mode is None or self.engine is None:
            return None
        coverage = ", ".join(f"{name} {c}/{n}" for name, (c, n) in self.engine.coverage().items())
        return (
            f"{self.subject_name}: generation {self.engine.generation}, {self.engine.executions} executions, "
            f"active {action_name(self.engine.active)}, goal {self._moment.value:.4g}, covered {coverage}"
        )

    def close(self) -> None:
        """End the worker process and what is shown on the terminal; harmless when called twice."""
        self.executor.close()
        if self._display is not None:
            self._display.close()

    # ------------------------------------------------------------------ beyond Gymnasium

    @property
    def timings(self) -> dict[str, Any]:
        """What the episode took so far; wall time in seconds, on which no result depends.

        "steps": for each step the action and the seconds that it took. "actions": for each combination that was active
        (the goal's own at the beginning) the seconds, executions and generations that it took altogether. "execute",
        "measure" and "search": the seconds by what the engine did, see `Engine.timings`.
        """
        if self.engine is None:
            return {"steps": [], "actions": {}}
        return {
            "steps": list(zip(self.actions_taken, self._seconds, strict=True)),
            "actions": {action_name(active): asdict(cost) for active, cost in self.engine.costs.items()},
            **self.engine.timings,
        }

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions make sense now, shape `(n_actions,)`, of bits two for each; all, in this environment."""
        return self.form.mask()

    def fork(self, *, share_worker: bool = False) -> FitnessSelection:
        """An independent copy in the same state.

        Args:
            share_worker: run the copy's test cases in the same worker process, which saves starting one. Results are the
                same; the two may not be stepped at the same time, and closing one closes the worker of both.
        """
        if not share_worker:
            return copy.deepcopy(self)
        twin = copy.deepcopy(self, {id(self.executor): self.executor})
        if self.engine is not None and twin.engine is not None:
            self.executor.continue_as(self.engine.table, twin.engine.table)
        return twin

    def suite(self) -> list[TestCase]:
        """The best suite so far, supplemented from the archive."""
        return [] if self.engine is None else self.engine.best_suite()

    def record(self) -> dict[str, Any]:
        """What is needed to repeat the episode, and what it gave, as JSON-ready values."""
        return {
            "subject": self.subject_name,
            "goal": self._pursued(),
            "reward": self.goal.reward_name,
            "variants": {name: dict(arguments) for name, arguments in self.variants.items()},
            "search": self.search,
            "smart": self.smart,
            "secondary": self.secondary,
            "populations": self.populations,
            "budget": None if self.budget is None else str(self.budget),
            "seed": self.seed,
            "actions": list(self.actions_taken),
            "rewards": list(self.rewards),
        }

    # ------------------------------------------------------------------ inside

    def _goal(self, goal: str, reward: str) -> Goal:
        return GOALS.load(goal)(reward)

    def _form(self, actions: str | Sequence[str] | None) -> ActionForm:
        """How actions are written, and what they mean."""
        return form_of(self.goal, actions)

    def _starts_with(self) -> tuple[str, ...]:
        """The fitness functions of the first population."""
        return (self.goal.fitness,)

    def _act(self, engine: Engine, chosen: Chosen) -> None:
        """Do what was chosen, before some generations follow."""
        if chosen.functions:
            engine.activate(chosen.functions, self._left_by(chosen.name), chosen.weights)

    def _pursued(self) -> str:
        """The goal, by name."""
        return type(self.goal).__module__.rpartition(".")[2]

    def _given(self) -> str:
        """What is not chosen by the agent, in a few words."""
        return f"search {self.search}"

    def _options(self) -> tuple[str, ...]:
        """What actions are made of."""
        return tuple(dict.fromkeys(name for functions in self.catalogue for name in functions))

    def _guides(self, engine: Engine) -> dict[str, float]:
        """Which of these guide the search now, each with its weight."""
        return {name: engine.weights.get(name, 1.0) for name in engine.active}

    def _seen(self, choice: str) -> Step:
        """What there is to be shown of the step that was made."""
        assert self.engine is not None
        engine = self.engine
        fitness = engine.measurements.fitness
        covered = {
            name: (n, None if fitness[name].dynamic else known)
            for name, (n, known) in engine.coverage().items()
            if known or fitness[name].dynamic
        }
        return Step(
            choice,
            self._guides(engine),
            covered,
            reward=self.rewards[-1] if self.rewards else 0.0,
            value=float(self._moment.value),
            spent=self.spent,
            clock=f"generation {engine.generation}, {engine.executions:,} executions",
        )

    @property
    def spent(self) -> float:
        """The share of the budget that is used up, in [0, 1]; 0 without a budget."""
        return 0.0 if self.engine is None else self.engine.spent

    def _left_by(self, name: str) -> list[Individual] | None:
        """The population that an action goes on with, None for the one there is."""
        assert self.engine is not None
        taken = self.actions_taken
        if self.populations == "shared" or len(taken) <= len(self.catalogue) or taken[-1] == name:
            return None
        return self.engine.kept.get(name)

    def _next(self, action: int) -> Moment:
        """What can be seen of the episode now that an action has been taken."""
        assert self.engine is not None
        before, value = self._moment, self.goal.value(self.engine)
        gain = value - before.value
        return replace(
            before,
            remaining=1.0 - self.spent,
            value=value,
            gains=(gain, *before.gains[:2]),
            stagnation=0 if gain > 0 else before.stagnation + 1,
            action=action,
        )

    def _observation(self) -> Observation:
        assert self.engine is not None
        return self.features.observe(self.engine, self.goal.functions, self._moment)

    def _info(self) -> dict[str, Any]:
        """Reproducible numbers under constant keys; times are in `timings`, never here."""
        assert self.engine is not None
        return {
            "generation": self.engine.generation,
            "executions": self.engine.executions,
            "goal_value": float(self._moment.value),
            "suite_size": len(self.engine.best),
            "crashes": len(self.executor.crashes),
            "action_mask": self.action_masks(),
        }


def form_of(goal: Goal | type[Goal], actions: str | Sequence[str] | None) -> ActionForm:
    """How the actions for a goal are written; None for its own catalogue, see `action_form`."""
    return action_form(goal.catalogue if actions is None else actions, goal.functions, goal.required)
