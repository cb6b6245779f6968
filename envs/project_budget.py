"""ProjectBudget: the modules of a project share a budget; at every step an agent gives a slice of it to one of them."""

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
"""What is seen of a module, each in [0, 1]."""

_MANY: Final = 1024  # branches at which a count is seen as 1
_LONG: Final = 16  # slices at which a number of slices is seen as 1
_MODULES: Final = (4, 8)  # of a drawn project
_SLICES: Final = 6  # for each module, where no budget is given


@dataclass(frozen=True, kw_only=True)
class ProjectBudgetOptions(Options):
    """The options of `ProjectBudget`.

    Attributes:
        subjects: modules of the project; drawn from recorded curves if empty.
        path: folder that is searched first for them.
        budget: executions of test cases of the whole project: 3000x. 600 for each module if not given.
        actions: what an action names: a rule that points to a module (`pointers`), or a module (`slots`).
        slots: the number of modules that can be named.
        split: train, validation or test, or a range of tasks such as 400-499.
        task: this task in every episode; drawn from the split if None.
        timeout_s: seconds that one test case may take.
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
    The modules of a project share a budget. A search generates tests for each module, independently of the others. At
    every step the agent gives a slice of 100 executions to one module. There is not enough budget for all: some modules
    are soon done, some have branches that no search covers, and some go on for long.

    By default a project is four to eight modules of the standard library whose searches have been recorded, so a step
    takes microseconds. With `subjects` the searches run.

    ## Action Space
    `Discrete(8)`: an action is a rule that points to a module, so it means the same in every project:

    | action | points to the module |
    |---|---|
    | in_turn | with the fewest slices |
    | by_size | that is furthest below its share by number of branches |
    | by_root_size | that is furthest below its share by the square root of that number |
    | by_open | that is furthest below its share by open branches |
    | by_root_open | that is furthest below its share by the square root of its open branches |
    | last_gain | whose last slice covered most |
    | recent_gain | that covered most per slice in the second half of its slices, with optimism |
    | ucb | with the highest upper confidence bound of the gain per slice |

    With `actions="slots"` the space is `Discrete(slots)`, and an action is a module. `info["action_mask"]` and
    `action_masks()` allow those with open branches. A slice for another one is lost.

    ## Observation Space
    `Box(0, 1, (8 n + 1,), float32)` for n actions: eight numbers for the module that each action points to, and the
    remaining budget.
    The numbers are: whether there is a module; its size, its open branches, the gain of its last slice and of its last
    three, all on a logarithmic scale; the share of its branches that are covered; slices since the last gain, and slices
    so far.

    ## Rewards
    The branches that were covered in the step, as a share of all branches of the project. They sum to the share that is
    covered at the end. Nobody reaches 1: real modules have branches that no test covers.

    ## Starting State
    A project drawn from the split, no branch covered. The seed of `reset` determines everything.
    `reset(options={"task": n})` takes this project for one episode. `info["task"]` tells it, -1 with `subjects`.
    Projects of the splits train, validation and test have the modules of that split of `stdlib-v1`.

    ## Episode End
    Terminated when the budget is spent or all branches are covered.

    ## Arguments
    * `subjects`: modules of a project of your own, such as `["shop.cart", "shop.store"]`. Their searches run.
    * `path`: a folder that is searched first for them.
    * `budget`: executions of test cases of the whole project, such as "3000x"; by default 600 for each module.
    * `actions`: "pointers" or "slots".
    * `slots`: the number of modules that an action can name.
    * `split`: "train", "validation", "test", or a range of tasks such as "400-499"; see `fitgym.envs.tasks`.
    * `task`: one task for all episodes.
    * `timeout_s`: seconds that one test case may take.
    * `render_mode`: "ansi", a line; "rgb_array", a picture of 800 by 600 pixels (extra `render`); "human", the terminal,
      after every step; "episode", the `fitgym.rendering.episode.Episode` so far; or None.

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
        self._told = -1  # a module that `informed` has named for the next step
        self.actions_taken = []
        self.rewards = []

    @property
    def pointing(self) -> bool:
        """Actions are rules that point to modules, rather than modules."""
        return self.options.actions == "pointers"

    # ------------------------------------------------------------------ Gymnasium

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Draw a project; `options={"task": n}` takes this one.

        Raises:
            InputError: the task is no whole number from 0 to 2^31 - 1.
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
            # The task has a generator of its own: an episode that is repeated with its task given must not shift the other.
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
        """A line or a picture of the episode, as the render mode says; None for "human", which shows each step."""
        if self._display is not None:
            return self._display.view()
        if self.render_mode is None:
            return None
        modules = ", ".join(
            f"{course.module} {one.now}/{one.total}" for course, one in zip(self.courses, self.standings, strict=True)
        )
        return f"{self._spent} of {self._budget} slices, covered {modules}"

    def close(self) -> None:
        """End the worker processes and what is shown on the terminal; harmless when called twice."""
        for executor in self._executors.values():
            executor.close()
        if self._display is not None:
            self._display.close()

    def action_masks(self) -> NDArray[np.bool_]:
        """Which modules have open branches; every pointer is allowed, and everything where no module is left."""
        allowed = np.ones(len(self.action_names), dtype=bool)
        if not self.pointing and any(one.open for one in self.standings):
            allowed[:] = False
            allowed[[place for place, one in enumerate(self.standings) if one.open]] = True
        return allowed

    def fork(self) -> ProjectBudget:
        """An independent copy in the same state.

        With `subjects`, copies share the searches, whose course is the same in all of them. The searches end when the
        environment that started them is closed.
        """
        return copy.deepcopy(self, {id(self._executors): {}})

    # ------------------------------------------------------------------ what agents are compared with

    @property
    def rules(self) -> Mapping[str, Callable[[Any, Mapping[str, Any], np.random.Generator], int]]:
        """With slots, simple rules by name; each takes observation, info and a generator. Pointers are rules already."""
        if self.pointing:
            return {}
        return {name: partial(self._ruled, name) for name in RULES}

    def informed(self) -> int:
        """The best division in hindsight, exact; for oracles only.

        The module is remembered, and the next step works on it whatever its action points to.
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
        """The names of the catalogue of actions and of the features."""
        catalogue = "pointers to modules" if self.pointing else f"{self.options.slots} modules"
        return {"catalogue": catalogue, "features": "modules-v1"}

    @property
    def default_agent(self) -> str:
        """The agent when the user names none."""
        return "ucb"

    @property
    def recorded_budget(self) -> str | None:
        """The budget as text; None where none was given."""
        return self.options.budget

    def record(self) -> dict[str, Any]:
        """As for every environment, with the task of the episode among the options."""
        found = super().record()
        return {**found, "options": {**found["options"], "task": self.task if self.task >= 0 else None}}

    def action_of(self, recorded: Any) -> np.int64:
        """The number of an action by its name.

        Raises:
            UnknownName: no action has it.
        """
        return index_of(recorded, list(self.action_names))

    # ------------------------------------------------------------------ inside

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
        """The task draws the modules, chance draws one of the recorded searches on each."""
        split = next((name for name, found in SPLITS.items() if self.task in found), "test")
        curves = self._recorded[split]
        draw = np.random.default_rng(self.task)
        names = draw.permutation(sorted(curves))[: draw.integers(*_MODULES, endpoint=True)].tolist()
        return tuple(curves[name][int(chance.integers(len(curves[name])))] for name in names)

    def _live(self, name: str, seed: int) -> Live:
        """A search on a module, in a worker that serves all episodes."""
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
        """What there is to be shown of the step that was made."""
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
    """A budget as a number of slices.

    Raises:
        InputError: it has another unit, or is no whole number of slices.
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
