"""ProjectBudget: at every step an agent gives a slice of a project's budget to one of its modules."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Final, Literal

import numpy as np
from gymnasium import spaces
from msgspec import Meta
from numpy.typing import NDArray

from fitgym.allocation.curve import SLICE, Course
from fitgym.allocation.hindsight import best_split
from fitgym.allocation.live import Live
from fitgym.allocation.recorded import recorded
from fitgym.allocation.rules import RULES
from fitgym.allocation.standing import Standing
from fitgym.envs.action.base import index_of
from fitgym.envs.recorded import Observation, RecordedEnv, signature
from fitgym.envs.tasks import SPLITS, drawn, numbers, task_of
from fitgym.errors import InputError, ResetNeeded
from fitgym.evolution.budget import Budget
from fitgym.execution.executor import Executor, Limits
from fitgym.rendering.display import display
from fitgym.rendering.episode import Episode, Step
from fitgym.run.setting import Options, WholeNumber, read
from fitgym.subject.source import locate

__all__ = ["FEATURES", "ProjectBudget", "ProjectBudgetOptions"]

FEATURES: Final = ("there", "size", "open", "covered", "last_gain", "recent_gain", "idle", "slices")
"""The names of the numbers observed for a module, each in [0, 1]."""

_MANY: Final = 1024  # number of branches at which a feature reaches 1
_LONG: Final = 16  # number of slices at which a feature reaches 1
_MODULES: Final = (4, 8)  # fewest and most modules of a drawn project
_SLICES: Final = 6  # for each module, if no budget is given


@dataclass(frozen=True, kw_only=True)
class ProjectBudgetOptions(Options):
    """The options of `ProjectBudget`.

    Attributes:
        subjects: modules of the project; drawn from recorded curves if empty.
        path: a folder that is searched first for the modules.
        budget: executions of test cases for the whole project, such as 3000x; 600 for each module by default.
        actions: what an action names: a rule that points to a module (`pointers`), or a module (`slots`).
        slots: the number of modules that actions can name.
        split: train, validation or test, or a range of tasks such as 400-499.
        task: this task in every episode; drawn from the split if None.
        timeout_s: time limit of one test case in seconds.
    """

    subjects: tuple[str, ...] = ()
    path: str | None = None
    budget: str | None = None
    actions: Literal["pointers", "slots"] = "pointers"
    slots: WholeNumber = _MODULES[1]
    split: str = "train"
    task: Annotated[int, Meta(ge=0)] | None = None
    timeout_s: Annotated[float, Meta(gt=0)] = 2.0


class ProjectBudget(RecordedEnv):
    """## Description
    The modules of a project share a budget. A separate search generates tests for each module. At every step the agent
    gives a slice of 100 executions to one module. The budget is too small for all: some modules are finished early,
    some have branches that no search covers, and some make progress for a long time.

    By default a project consists of four to eight modules of the standard library with recorded searches, so a step
    takes microseconds. With `subjects` the searches run live.

    ## Action Space
    `Discrete(8)`: an action is a rule that points to a module, so it means the same in every project:

    | action | points to the module |
    |---|---|
    | in_turn | with the fewest slices |
    | by_size | furthest below its share by number of branches |
    | by_root_size | furthest below its share by the square root of the number of branches |
    | by_open | furthest below its share by open branches |
    | by_root_open | furthest below its share by the square root of the open branches |
    | last_gain | with the largest gain in its last slice |
    | recent_gain | with the largest gain per slice in the second half of its slices, estimated optimistically |
    | ucb | with the highest upper confidence bound of the gain per slice |

    With `actions="slots"` the space is `Discrete(slots)`, and an action names a module. `info["action_mask"]` and
    `action_masks()` allow the modules with open branches. A slice for any other slot is lost.

    ## Observation Space
    `Box(0, 1, (8 n + 1,), float32)` for n actions: eight numbers for the module that each action points to, and the
    remaining budget. The eight numbers are:

    * whether there is a module;
    * its size, its open branches, and the gain per slice of its last slice and of its last three, all on a logarithmic
      scale;
    * the share of its branches that are covered;
    * the slices since its last gain, and its slices so far.

    ## Rewards
    The branches covered in the step, as a share of all branches of the project. The rewards sum to the final share of
    covered branches. It stays below 1, because real modules have branches that no test covers.

    ## Starting State
    A project drawn from the split, with no branch covered. The seed of `reset` determines everything.
    `reset(options={"task": n})` selects project n for one episode. `info["task"]` holds the number of the project; -1
    with `subjects`. Projects of the splits train, validation and test consist of modules of the same split of
    `stdlib-v1`.

    ## Episode End
    Terminated when the budget is spent or all branches are covered.

    ## Arguments
    * `subjects`: modules of your own project, such as `["shop.cart", "shop.store"]`. Their searches run live.
    * `path`: a folder that is searched first for the modules.
    * `budget`: executions of test cases for the whole project, such as "3000x"; 600 for each module by default.
    * `actions`: "pointers" or "slots".
    * `slots`: the number of modules that actions can name.
    * `split`: "train", "validation", "test", or a range of tasks such as "400-499"; see `fitgym.envs.tasks`.
    * `task`: one task for all episodes.
    * `timeout_s`: time limit of one test case in seconds.
    * `render_mode`: "ansi" for a line of text; "rgb_array" for a picture of 800 by 600 pixels (extra `render`); "human"
      for the terminal, after every step; "episode" for the `fitgym.rendering.episode.Episode` so far; or None.

    ## Version History
    * v0: initial version.
    """

    Options: ClassVar[type[ProjectBudgetOptions]] = ProjectBudgetOptions
    options: ProjectBudgetOptions
    reward_range: tuple[float, float] = (0.0, 1.0)
    __signature__ = signature(ProjectBudgetOptions, last={"render_mode": "str | None"})

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:
        self.options = wanted = read(ProjectBudgetOptions, options, type(self).__name__)
        numbers(wanted.split)
        self._given = None if wanted.budget is None else _slices(wanted.budget)
        if self.pointing:
            self.action_names: tuple[str, ...] = tuple(RULES)
        else:
            self.action_names = tuple(f"module_{number}" for number in range(wanted.slots))
        most = len(wanted.subjects) or _MODULES[1]
        if not self.pointing and most > wanted.slots:
            raise InputError(f"slots is {wanted.slots}, expected at least {most}: an action for each module")
        self.feature_names = (
            *(f"{name}_{what}" for name in self.action_names for what in FEATURES),
            "remaining_budget",
        )
        self.render_mode = render_mode
        self._display = display(render_mode)
        self.action_space = spaces.Discrete(len(self.action_names))
        self.observation_space = spaces.Box(0.0, 1.0, (len(self.feature_names),), np.float32)
        self._recorded = recorded()
        self._executors: dict[str, Executor] = {}
        self._references = {subject: locate(subject, wanted.path) for subject in wanted.subjects}
        self.task = -1
        self.courses: tuple[Course, ...] = ()
        self.standings: list[Standing] = []
        self._budget = 0  # slices of the episode
        self._spent = 0
        self._told = -1  # the module that `informed` chose for the next step; -1 for none
        self.actions_taken = []
        self.rewards = []

    @property
    def pointing(self) -> bool:
        """Whether actions are rules that point to modules, rather than modules."""
        return self.options.actions == "pointers"

    # ------------------------------------------------------------------ Gymnasium

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Draw a project; `options={"task": n}` selects project n.

        Raises:
            InputError: the task is not a whole number from 0 to 2^31 - 1.
            SubjectError: one of the `subjects` cannot be imported or tested.
        """
        given = (options or {}).get("task", self.options.task)
        given = None if given is None else task_of(given)
        self._begin(seed)
        assert self.seed is not None
        chance = np.random.default_rng(self.seed)
        self._budget = self._given or _SLICES * len(self._references)
        if self._references:
            self.task = -1
            self.courses = tuple(self._live(name, int(chance.integers(2**31))) for name in self._references)
        else:
            # The task has its own generator, so that repeating an episode with a given task does not shift `chance`.
            of_task = np.random.default_rng((self.seed, 1))
            self.task = drawn(self.options.split, of_task) if given is None else given
            self.courses = self._project(chance)
            self._budget = self._given or _SLICES * len(self.courses)
        self.standings = [Standing(course.total) for course in self.courses]
        self._spent, self._told = 0, -1
        if self._display is not None:
            title = f"{len(self.courses)} modules" if self.task < 0 else f"project {self.task}"
            names = tuple(course.module for course in self.courses)
            self._display.begin(Episode(title, f"seed {self.seed}", names, (self._seen(""),)))
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Give a slice to a module.

        Raises:
            ResetNeeded: the episode has ended, or none has begun.
            ValueError: there is no such action.
        """
        if self._over:
            raise ResetNeeded("the episode has ended: call reset() before the next step()")
        index = int(action)
        if not 0 <= index < len(self.action_names):
            raise ValueError(f"action {index} is not among the {len(self.action_names)} actions")
        place, self._told = (self._told if self._told >= 0 else self._pointed(index)), -1
        gain = 0
        if place < len(self.courses):
            before = self.standings[place]
            self.standings[place] = before.after(self.courses[place].at(before.slices + 1))
            gain = self.standings[place].now - before.now
        self._spent += 1
        reward = gain / self._total
        self.actions_taken.append(self.action_names[index])
        self.rewards.append(reward)
        if self._display is not None:
            name = self.courses[place].module if place < len(self.courses) else "nobody"
            ended = "" if not self._over else "budget spent" if self._spent >= self._budget else "all covered"
            self._display.follow(self._seen(name), ended=ended)
        return self._observation(), reward, self._over, False, self._info()

    def render(self) -> Any:
        """Return a line, a picture or the episode so far, depending on the render mode; None for "human"."""
        if self._display is not None:
            return self._display.view()
        if self.render_mode is None:
            return None
        modules = ", ".join(
            f"{course.module} {one.now}/{one.total}" for course, one in zip(self.courses, self.standings, strict=True)
        )
        return f"{self._spent} of {self._budget} slices, covered {modules}"

    def close(self) -> None:
        """End the worker processes and the display on the terminal; a second call does nothing."""
        for executor in self._executors.values():
            executor.close()
        if self._display is not None:
            self._display.close()

    def action_masks(self) -> NDArray[np.bool_]:
        """The modules with open branches; pointers are always allowed, and so is everything if no module is open."""
        allowed = np.ones(len(self.action_names), dtype=bool)
        if not self.pointing and any(one.open for one in self.standings):
            allowed[:] = False
            allowed[[place for place, one in enumerate(self.standings) if one.open]] = True
        return allowed

    def fork(self) -> ProjectBudget:
        """Return an independent copy in the same state.

        With `subjects`, the copies share the searches, because a search runs the same in all copies. The searches end
        when the environment that started them is closed.
        """
        # The memo gives the copy an empty dict, so that closing the copy leaves the original's workers running.
        return copy.deepcopy(self, {id(self._executors): {}})

    # ------------------------------------------------------------------ baselines

    @property
    def rules(self) -> Mapping[str, Callable[[Any, Mapping[str, Any], np.random.Generator], int]]:
        """With slots, baseline rules by name; each takes observation, info and a generator. Empty with pointers."""
        if self.pointing:
            return {}
        return {name: partial(self._ruled, name) for name in RULES}

    def informed(self) -> int:
        """Return the action of the best division in hindsight, computed exactly; for oracles only.

        The module is remembered: the next step works on it, whatever module its action points to.
        """
        left = self._budget - self._spent
        curves = [
            [course.at(one.slices + more) - one.now for more in range(left + 1)]
            for course, one in zip(self.courses, self.standings, strict=True)
        ]
        split = best_split(curves, left)
        rates = [curve[n] / n if n else 0.0 for curve, n in zip(curves, split, strict=True)]
        self._told = int(np.argmax(rates))
        return 0 if self.pointing else self._told

    # ------------------------------------------------------------------ records

    @property
    def environment(self) -> dict[str, str]:
        """The names of the action catalogue and of the features."""
        catalogue = "pointers to modules" if self.pointing else f"{self.options.slots} modules"
        return {"catalogue": catalogue, "features": "modules-v1"}

    @property
    def default_agent(self) -> str:
        """The agent that is used if the user names none."""
        return "ucb"

    @property
    def recorded_budget(self) -> str | None:
        """The budget as text; None if none was given."""
        return self.options.budget

    def record(self) -> dict[str, Any]:
        """Return the record of the episode, with its task among the options."""
        found = super().record()
        return {**found, "options": {**found["options"], "task": self.task if self.task >= 0 else None}}

    def action_of(self, recorded: Any) -> np.int64:
        """Return the number of an action by its name.

        Raises:
            UnknownName: no action has this name.
        """
        return index_of(recorded, list(self.action_names))

    # ------------------------------------------------------------------ private

    @property
    def _total(self) -> int:
        return max(1, sum(one.total for one in self.standings))

    @property
    def _value(self) -> float:
        return sum(one.now for one in self.standings) / self._total

    @property
    def _over(self) -> bool:
        return self._spent >= self._budget or not any(one.open for one in self.standings)

    def _project(self, chance: np.random.Generator) -> tuple[Course, ...]:
        """Select the modules and a recorded search on each: the task determines the modules, `chance` the searches."""
        split = next((name for name, found in SPLITS.items() if self.task in found), "test")
        curves = self._recorded[split]
        draw = np.random.default_rng(self.task)
        names = draw.permutation(sorted(curves))[: draw.integers(*_MODULES, endpoint=True)].tolist()
        return tuple(curves[name][int(chance.integers(len(curves[name])))] for name in names)

    def _live(self, name: str, seed: int) -> Live:
        """Return a live search on a module, in a worker that all episodes share."""
        if name not in self._executors:
            self._executors[name] = Executor(self._references[name], Limits(seconds=self.options.timeout_s))
        return Live(name, self._executors[name], seed=seed, slices=self._budget)

    def _pointed(self, action: int) -> int:
        return RULES[self.action_names[action]](self.standings) if self.pointing else action

    def _ruled(self, name: str, observation: Any, info: Mapping[str, Any], chance: Any) -> int:
        return RULES[name](self.standings)

    def _observation(self) -> Observation:
        seen: list[float] = []
        for action in range(len(self.action_names)):
            place = self._pointed(action)
            seen += _features(self.standings[place]) if place < len(self.standings) else [0.0] * len(FEATURES)
        return np.array([*seen, 1.0 - self._spent / self._budget], dtype=np.float32)

    def _seen(self, choice: str) -> Step:
        """The last step in the form that displays show."""
        pairs = list(zip(self.courses, self.standings, strict=True))
        return Step(
            choice,
            {choice: 1.0} if choice else {},
            {course.module: (one.now, one.total) for course, one in pairs},
            reward=self.rewards[-1] if self.rewards else 0.0,
            value=self._value,
            spent=self._spent / self._budget,
            clock=f"slice {self._spent} of {self._budget}",
        )

    def _info(self) -> dict[str, Any]:
        return {
            "generation": self._spent,
            "executions": SLICE * self._spent,
            "goal_value": self._value,
            "action_mask": self.action_masks(),
            "task": self.task,
        }


def _slices(budget: str) -> int:
    """Parse a budget into a number of slices.

    Raises:
        InputError: the unit is not x, or the budget is not a whole number of slices.
    """
    parsed = Budget.parse(budget)
    if parsed.unit != "x" or parsed.amount < SLICE or parsed.amount % SLICE:
        raise InputError(f"the budget is '{budget}', expected executions in steps of {SLICE}, such as {30 * SLICE}x")
    return int(parsed.amount) // SLICE


def _features(one: Standing) -> list[float]:
    def many(count: float) -> float:
        return min(1.0, math.log1p(count) / math.log1p(_MANY))

    return [
        1.0,
        many(one.total),
        many(one.open),
        one.now / one.total if one.total else 1.0,
        many(one.rate(1)),
        many(one.rate(3)),
        min(1.0, one.idle / _LONG),
        min(1.0, one.slices / _LONG),
    ]
