"""The base class of environments that run a search on a subject; each subclass defines a kind of decision."""

from __future__ import annotations

import copy
import time
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray

from fitgym.engine import SECONDARY, Engine, Existing, check_variants, parse_search
from fitgym.envs.action.base import Action, ActionSpace
from fitgym.envs.catalogue import action_name
from fitgym.envs.feature_set import FeatureSet
from fitgym.envs.features.base import Moment, View
from fitgym.envs.parts import Part
from fitgym.envs.recorded import Observation, RecordedEnv, signature
from fitgym.errors import InputError, ResetNeeded
from fitgym.evolution.budget import Budget
from fitgym.execution.executor import Executor, Limits
from fitgym.goals.base import Goal
from fitgym.registry import Registry
from fitgym.rendering.display import display
from fitgym.rendering.episode import Episode, Step
from fitgym.run.setting import SearchOptions, read
from fitgym.subject.source import locate
from fitgym.testcase.rates import DEFAULT, Rates
from fitgym.testcase.statement import TestCase

if TYPE_CHECKING:
    from typing import Self

    from fitgym.envs.footprint import Footprint

__all__ = ["GOALS", "Observation", "SearchEnv"]

GOALS = Registry("fitgym.goals", Goal, "goal")


class SearchEnv(RecordedEnv):
    """## Description
    A search algorithm evolves a test suite for a Python module. Every few generations the agent makes a decision about
    the search. It is rewarded for progress towards a testing goal. Subclasses define the decision.

    ## Observation Space
    `Box(0, 1, (n,), float32)`; `env.unwrapped.feature_names` names the entries. There are three feature sets:

    * "paper-v1": which functions are active, their combined fitness, the squashed size of the best suite, and the
      coverage of their targets.
    * "full-v1" adds the fitness and coverage of each function, the goal's value and its last three gains, the
      stagnation, the remaining budget and the last action.
    * "full-v2": the true fitness and coverage of each function, active or not; gains relative to the goal's value; the
      functions of the last action; statistics of the population; and a profile of the program.

    Join blocks of `fitgym.envs.features` with +, as in "full-v1+my_block" or "active+goal".

    ## Rewards
    * "growth": ln((w + unit) / (v + unit)), the relative growth of the goal's value from v to w; comparable between goals.
    * "gain": the change w - v.
    * "paper": the reward published for the goal; "released": that of the published code.

    See `fitgym.goals`. `env.unwrapped.reward_range` holds the lowest and the highest reward.

    ## Starting State
    A random population, evaluated under the goal's own fitness function. The seed of `reset` determines everything.

    ## Episode End
    The episode is terminated when the goal is reached. When the budget is spent, it is `terminated` if a feature shows
    the remaining budget, as in "full-v1" and "full-v2". Otherwise it is `truncated`, because the agent cannot foresee
    the end. A budget in seconds is refused because it cannot be reproduced: use a time limit wrapper instead.

    ## Arguments
    All except `executor` are names, numbers or lists of these, so the spec can be written as JSON.

    * `subject`: `package.module`, `package.module:Class` or `path/to/file.py[:Class]`; "" if `reset` names it.
    * `path`: a folder to search first for the subject.
    * `goal`: the name of a goal.
    * `functions`: fitness functions that replace the goal's own list, such as "exception,branch,loop_twice"; the
      default catalogue is then "pairs".
    * `variants`: arguments of fitness functions, such as `{"diversity": {"last_two": true}}`; see `Engine`.
    * `reward`: "growth", "gain", "paper" or "released".
    * `features`: a feature set, or feature blocks joined by +.
    * `generations_per_step`: the number of generations per decision; 3 by default (the paper uses 3 to 5).
    * `budget`: `200g` for generations or `20000x` for executions of test cases; None for no limit.
    * `search`: a search algorithm, such as `whole_suite` or `whole_suite:use_archive=false`.
    * `population`: the number of individuals.
    * `smart`: guide the search by representatives of the active functions and targets only; see
      `fitgym.engine.smart_selection`.
    * `secondary`: tie-breaker between equally fit test cases: `length`, `performance` or `diversity`.
    * `combination`: "scaled" scales each fitness value to [0, 1] before they are added; "raw" does not, as in the
      released code.
    * `private`: "late" also calls private functions and methods once nothing new has been covered for some time;
      "never" does not.
    * `mined`: "use" starts the search with calls and arguments from the doctests, tests and README of the package;
      "ignore" does not.
    * `timeout_s`: time limit of one test case in seconds.
    * `render_mode`: "ansi" (a line), "rgb_array" (a picture of 800 by 600 pixels, extra `render`), "human" (the terminal,
      after every step), "episode" (the `fitgym.rendering.episode.Episode` so far) or None.
    * `executor`: an executor of this subject that has already been started.
    """

    Options: ClassVar[type[SearchOptions]]
    options: SearchOptions
    draws: ClassVar[bool] = False
    """Whether `reset` draws the subject, so that the user names none."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "Options" in vars(cls):
            last = {"render_mode": "str | None", "executor": "fitgym.execution.executor.Executor | None"}
            cls.__signature__ = signature(cls.Options, "subject", last=last)  # type: ignore[attr-defined]

    def __init__(
        self, subject: str = "", *, render_mode: str | None = None, executor: Executor | None = None, **options: Any
    ) -> None:
        self.options = read(self.Options, options, type(self).__name__)
        self.subject_name = subject
        self.budget = None if self.options.budget is None else Budget.counted(self.options.budget)
        self.goal = self._goal()
        if self.options.functions is not None:
            self.goal.combine(self.options.functions)
        self.reward_range = self.goal.reward_range
        self.actions = self._actions()
        self.action_names = self.actions.names
        self.action_space = self.actions.space
        functions = tuple(self.goal.functions)
        parts = functions if self.actions.functions else tuple(self.actions.names)
        self.view = View(functions, self.actions.size, parts, self._slots())
        self.features = FeatureSet.load(self.options.features)
        self.feature_names = self.features.names(self.view)
        self.observation_space: spaces.Space[Any] = self.features.space(self.view)
        parse_search(self.search)  # these three lines report wrong names now rather than at the first reset
        check_variants(self.options.variants)
        SECONDARY.load(self.options.secondary)
        self.render_mode = render_mode
        self._display = display(render_mode)
        self._footprint: Footprint | None = None  # set if there is a display
        self._executor = executor
        if executor is None and subject:
            self._executor = Executor(
                locate(subject, self.options.path, self.options.programs), Limits(seconds=self.options.timeout_s)
            )
        self._settled: tuple[str, ...] | None = None  # see `settle`
        self.deadline: float | None = None  # see `Engine`; for callers with a budget in seconds
        self.existing: Existing | None = None  # see `Engine`; for callers that have measured the existing tests
        self.engine: Engine | None = None
        self.actions_taken = []
        self.rewards = []
        self._steps: list[tuple[str, float]] = []
        self._moment = Moment()
        self._ended = False

    # ------------------------------------------------------------------ hooks for subclasses

    @abstractmethod
    def _actions(self) -> ActionSpace:
        """Return the action space; called once the goal is known."""

    def _goal(self) -> Goal:
        """Return the testing goal."""
        return GOALS.load(self.options.goal)(self.options.reward)

    def _starts_with(self) -> tuple[str, ...]:
        """The fitness functions of the first population."""
        return (self.goal.fitness,)

    def _tracked(self) -> Sequence[str]:
        """The fitness functions whose targets the archive always keeps, active or not."""
        return (*self.goal.kept, *self.goal.tracked)

    def _usable(self) -> Sequence[str]:
        """Fitness functions to measure in addition to the guiding ones."""
        return self.goal.functions if self.actions.functions or self.features.reads_inactive else ()

    def _rates(self) -> Rates:
        """The probabilities and limits of random test generation."""
        return DEFAULT

    def _slots(self) -> tuple[str, ...]:
        """Names of the parts of a subject that the search can focus on."""
        return ()

    def _started(self, engine: Engine) -> None:
        """Hook that runs after the first generation of an episode."""

    def _parts_seen(self) -> tuple[Part, ...]:
        """The progress on each part, in the order of `_slots`."""
        return ()

    def _prepared(self, action: Action) -> Action:
        """Return the action in the form in which it is applied now."""
        return action

    def _reward(self, engine: Engine) -> float:
        """Return the reward of a step, after its generations."""
        return float(self.goal.reward(engine))

    def _reached(self, engine: Engine) -> bool:
        """Whether the goal is reached, so that no further reward is possible."""
        return self.goal.reached(engine)

    @property
    def search(self) -> str:
        """The search algorithm of the first population, with its options."""
        return self.options.search

    @property
    def pursued(self) -> str:
        """The name of the goal."""
        return self.options.goal

    def _given(self) -> str:
        """A short description of the fixed settings, for displays."""
        return f"search {self.search}"

    def _parts(self) -> tuple[str, ...]:
        """The names that a display lists: the parts of actions."""
        return self.actions.functions

    def _guides(self, engine: Engine) -> dict[str, float]:
        """The parts that guide the search now, each with its weight."""
        return {name: engine.weights.get(name, 1.0) for name in engine.active}

    # ------------------------------------------------------------------ Gymnasium

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new search.

        Args:
            seed: seed of all randomness in the episode; drawn from `np_random` if None.
            options: `{"subject": ...}` switches to another subject from now on; `"path"` next to it is a folder to
                search first. If the subject cannot be found, the environment keeps its previous subject.

        Raises:
            SubjectError: the subject cannot be found, imported or tested.
        """
        self._begin(seed)
        if options and "subject" in options and options["subject"] != self.subject_name:
            reference = locate(options["subject"], options.get("path"), self.options.programs)
            if self._executor is not None:
                self._executor.close()
            self.subject_name = options["subject"]
            self._executor = Executor(reference, Limits(seconds=self.options.timeout_s))
        chance, _ = seeding.np_random(self.seed)
        self.engine = Engine(
            self.executor,
            fitness=self._starts_with(),
            tracked=self._tracked(),
            usable=self._usable() if self._settled is None else self._settled,
            late=self.goal.late,
            variants=self.options.variants,
            **{**self.options.engine(), "search": self.search},
            rates=self._rates(),
            seed=int(chance.integers(2**31)),
            budget=self.budget,
            deadline=self.deadline,
            existing=self.existing,
        )
        self.engine.step()
        self.goal.begin(self.engine)
        self._steps = []
        self._started(self.engine)
        value = self.goal.value(self.engine)
        self._moment = Moment(1.0 - self.spent, value, self.goal.scale, self.goal.unit, slots=self._parts_seen())
        self._ended = False
        if self._display is not None:
            from fitgym.envs.footprint import Footprint

            self._footprint = Footprint(self.engine.subject)
            setting = f"goal {self.pursued} · {self._given()} · seed {self.seed}"
            episode = Episode(
                self.subject_name,
                setting,
                self._parts(),
                (),
                self._footprint.listing,
                goal=self.pursued,
                reward=self.options.reward,
            )
            self._display.begin(episode.then(*self._footprint.look(self.engine, self._seen(""), episode)))
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Apply the action and run the search for `generations_per_step` generations.

        Raises:
            ResetNeeded: the episode has ended, or none has begun.
            ValueError: the action is not in the action space.
        """
        if self.engine is None or self._ended:
            raise ResetNeeded("the episode has ended: call reset() before the next step()")
        chosen = self.actions.read(action)
        started = time.perf_counter()
        self._prepared(chosen).apply(self.engine)
        for _ in range(self.options.generations_per_step):
            self.engine.step()
            if self.engine.over:
                break
        reward = self._reward(self.engine)
        self._after(chosen, self.engine)
        self._steps.append((chosen.name, time.perf_counter() - started))
        self.actions_taken.append(chosen.to_json())
        self.rewards.append(reward)
        self._moment = self._next(chosen)
        spent, reached = self.spent >= 1.0, self._reached(self.engine)
        terminated = bool(reached or (spent and self.features.shows_budget))
        truncated = bool((spent or self.engine.stuck) and not terminated)
        self._ended = terminated or truncated
        if self._display is not None and self._footprint is not None:
            ended = "" if not self._ended else "goal reached" if terminated and not spent else "budget spent"
            seen = self._footprint.look(self.engine, self._seen(chosen.label), self._display.episode)
            self._display.follow(*seen, ended)
        return self._observation(), reward, terminated, truncated, self._info()

    def render(self) -> Any:
        """Return a line, a picture or the episode so far, depending on the render mode; None for "human"."""
        if self._display is not None:
            return self._display.view()
        if self.render_mode is None or self.engine is None:
            return None
        coverage = ", ".join(f"{name} {c}/{n}" for name, (c, n) in self.engine.coverage().items())
        return (
            f"{self.subject_name}: generation {self.engine.generation}, {self.engine.executions} executions, "
            f"active {action_name(self.engine.active)}, goal {self._moment.value:.4g}, covered {coverage}"
        )

    def close(self) -> None:
        """End the worker process and the display on the terminal; a second call does nothing."""
        if self._executor is not None:
            self._executor.close()
        if self._display is not None:
            self._display.close()

    # ------------------------------------------------------------------ beyond Gymnasium

    @classmethod
    def for_agents(cls, options: dict[str, Any]) -> dict[str, Any]:
        """Adapt the options for agents that learn from a scalar reward; unchanged unless a subclass overrides it."""
        return options

    @property
    def executor(self) -> Executor:
        """The executor that runs the test cases of the subject.

        Raises:
            InputError: no subject has been set.
        """
        if self._executor is None:
            raise InputError("there is no subject yet: make the environment with one, or name one in `reset`'s options")
        return self._executor

    @property
    def environment(self) -> dict[str, str]:
        return {"catalogue": self.actions.title, "features": self.features.name}

    @property
    def default_agent(self) -> str:
        """The goal's agent if it can act here; otherwise ucb, factored_ucb or gaussian, depending on the space."""
        if isinstance(self.action_space, spaces.MultiBinary):
            return "factored_ucb"
        if isinstance(self.action_space, spaces.Box):
            return "gaussian"
        _, _, argument = self.goal.agent.partition(":")
        return self.goal.agent if not argument or set(argument.split(",")) <= set(self.action_names) else "ucb"

    @property
    def recorded_budget(self) -> str | None:
        return None if self.budget is None else str(self.budget)

    @property
    def timings(self) -> dict[str, Any]:
        """Wall time of the episode in seconds; no result depends on it.

        * "steps": the action of each step and its seconds.
        * "actions": seconds, executions and generations of each combination of active functions.
        * "execute", "measure" and "search": seconds per stage, see `Engine.timings`.
        """
        if self.engine is None:
            return {"steps": [], "actions": {}}
        return {
            "steps": list(self._steps),
            "actions": {action_name(active): asdict(cost) for active, cost in self.engine.costs.items()},
            **self.engine.timings,
        }

    @property
    def spent(self) -> float:
        """The share of the budget that is spent, in [0, 1]; 0 without a budget."""
        return 0.0 if self.engine is None else self.engine.spent

    def settle(self, *actions: Any) -> None:
        """Declare that every step of the following episodes takes one of these actions.

        The search then records only the measurements that their fitness functions need. This is faster and changes no
        result. Observations are zero.
        """
        self._settled = tuple(name for one in actions for name in getattr(self.actions.read(one), "functions", ()))

    def action_masks(self) -> NDArray[np.bool_]:
        """The mask of allowed actions, shape `(n_actions,)`, two entries per bit for `MultiBinary`; all are allowed."""
        return self.actions.mask()

    def action_of(self, recorded: Any) -> Any:
        return self.actions.raw(recorded)

    def fork(self, *, share_worker: bool = False) -> Self:
        """Return an independent copy in the same state.

        Args:
            share_worker: run the copy's test cases in the same worker process, which saves starting another one. The
                results are the same. The two environments must not be stepped at the same time, and closing one closes
                the worker of both.
        """
        if not share_worker:
            return copy.deepcopy(self)
        twin = copy.deepcopy(self, {id(self._executor): self._executor})  # the memo shares the executor
        if self.engine is not None and twin.engine is not None:
            self.executor.continue_as(self.engine.table, twin.engine.table)
        return twin

    def reseed(self, seed: int) -> None:
        """Replace the random generator; for copies that simulate future steps.

        Raises:
            ResetNeeded: no episode has begun.
        """
        if self.engine is None:
            raise ResetNeeded("no episode has begun: call reset() before reseed()")
        self.engine.reseed(seed)

    def suite(self) -> list[TestCase]:
        """The best suite so far, supplemented from the archive."""
        return [] if self.engine is None else self.engine.best_suite()

    # ------------------------------------------------------------------ private

    def _after(self, chosen: Action, engine: Engine) -> None:
        """Hook that runs after the generations of a step."""

    def _seen(self, choice: str) -> Step:
        """The last step in the form that displays show."""
        assert self.engine is not None
        engine = self.engine
        fitness = engine.functions
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

    def _next(self, action: Action) -> Moment:
        """Return the observable state of the episode after an action."""
        assert self.engine is not None
        before, value = self._moment, self.goal.value(self.engine)
        gain = value - before.value
        return replace(
            before,
            remaining=1.0 - self.spent,
            value=value,
            gains=(gain, *before.gains[:2]),
            stagnation=0 if gain > 0 else before.stagnation + 1,
            action=action.index,
            parts=action.describe(self.view.parts),
            slots=self._parts_seen(),
        )

    def _observation(self) -> Observation:
        assert self.engine is not None
        if self._settled is not None:
            return np.zeros(self.observation_space.shape or (), np.float32)
        return self.features.observe(self.engine, self.view, self._moment)

    def _info(self) -> dict[str, Any]:
        """Reproducible numbers under constant keys; times are in `timings` instead."""
        assert self.engine is not None
        return {
            "generation": self.engine.generation,
            "executions": self.engine.executions,
            "goal_value": float(self._moment.value),
            "suite_size": len(self.engine.best),
            "crashes": len(self.engine.crashes),
            "action_mask": self.action_masks(),
        }
