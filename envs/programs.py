"""Programs: generated programs with known obstacles; at every step an agent chooses the part to search next."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Literal

import numpy as np
from gymnasium.utils import seeding
from msgspec import Meta
from numpy.typing import NDArray

from fitgym.engine import Engine
from fitgym.envs.action.base import Action
from fitgym.envs.focus import MIO, Focus, FocusOptions
from fitgym.envs.pool import Pool
from fitgym.envs.recorded import Observation
from fitgym.envs.tasks import LARGEST, drawn, numbers, task_of
from fitgym.execution.executor import Executor, Limits
from fitgym.programs.knobs import EASY, HARD, Knobs
from fitgym.programs.program import Program, generate
from fitgym.run.setting import Name, WholeNumber
from fitgym.sandbox.folder import Folder
from fitgym.subject.source import locate
from fitgym.testcase.rates import Rates

__all__ = ["LEVELS", "ProgramOptions", "Programs"]

LEVELS: Final[dict[str, Knobs]] = {"easy": EASY, "hard": HARD}
"""The distributions of programs by name."""

_RATES: Final = Rates(
    initial_length=(1, 1),
    max_length=6,
    insert_rate=0.05,
    delete_rate=0.05,
    change_rate=0.95,
    insert_again=0.1,
    primitive_reuse=0.1,
    ill_typed=0.0,
    static_pool=0.2,
    dynamic_pool=0.2,
    max_delta=100,
    random_perturbation=0.1,
)
"""Rates for short test cases that are mutated rather than lengthened, because a part of a program is one call."""


_PATIENT: Final = 8  # idle slices after which `informed` leaves a part, although its lock opens


@dataclass(frozen=True, kw_only=True)
class ProgramOptions(FocusOptions):
    """The options of `Programs`.

    Attributes:
        level: the distribution of programs, `easy` or `hard`; see `fitgym.programs.knobs`.
        split: train, validation or test, or a range of tasks such as 400-499.
        task: this task in every episode; drawn from the split if None.
        repeat: number of consecutive episodes on one program if `reset` gets neither a seed nor a task. Starting a
            process for another program takes as long as about fifteen decisions.
    """

    without: ClassVar[Mapping[str, str]] = MappingProxyType({"actions": "every action points to a part here"})
    budget: str | None = "61g"
    generations_per_step: WholeNumber = 2
    mined: Literal["use", "ignore"] = "ignore"
    search: Name = MIO
    actions: Literal["slots", "pointers"] = "pointers"
    level: Literal["easy", "hard"] = "hard"
    split: Name = "train"
    task: Annotated[int, Meta(ge=0)] | None = None
    repeat: WholeNumber = 4


class Programs(Focus):
    """## Description
    Every episode uses another program: a generated module of twelve functions and classes (eight for the level
    "easy"), for which a real search generates tests. Most parts have a lock: a sequence of conditions that a test case must satisfy. Behind the lock is
    a treasure: many branches that are easy to cover. Some locks open after a few slices, some open slowly, and some
    never open. The agent cannot tell them apart in advance, and the time is too short for all.

    A decision holds for two generations of ten test cases, which search one part only. The agent makes 30 decisions per
    episode.

    Policies of `fitgym.envs.landscapes` can act here without further training. PPO policies that were trained there
    close more than 30 % of the gap between the best constant action and the informed policy; with observations of
    zeros they close none. The agent `pretrained` is one of these policies. `benchmarks/learning/table.md` has the
    scores and the actions by phase.

    ## Action Space
    `Discrete(7)`. Each action points to a part by the progress on it so far, so it means the same in every program:

    | action | points to |
    |---|---|
    | stay | the part of the last slice |
    | first, second, third | the parts on offer: those with the fewest slices; one that is not taken moves to the end |
    | nearest | the part with the fewest idle slices, and among these the one with the nearest open branch |
    | promising | the part with the largest approach in its last slice |
    | whole | all parts: the search algorithm divides the effort itself |

    ## Observation Space
    `Box(0, 1, ...)`: the nine numbers of `fitgym.envs.features.parts` for the part that each action points to, the last
    choice, and the remaining budget.

    ## Rewards
    The branches covered in the step, as a share of the coverable branches that were open after `reset`. The rewards sum
    to a score between 0 and 1.

    ## Starting State
    A task drawn from the split, and a first population of ten random test cases. The seed of `reset` determines
    everything. Without a seed, four consecutive episodes have the same task. `reset(options={"task": n})` selects task
    n for one episode. `info["task"]` holds the number of the task.

    ## Episode End
    Terminated when all coverable branches are covered, or when the budget is spent, after 30 decisions.
    `gymnasium.make` truncates longer episodes there: with a larger `budget`, also set `max_episode_steps`.

    ## Arguments
    * `level`: "easy" or "hard".
    * `split`: "train", "validation", "test", or a range of tasks such as "400-499"; see `fitgym.envs.tasks`.
    * `task`: one task for all episodes.
    * `repeat`: the number of consecutive episodes on one program if `reset` gets neither a seed nor a task.
    * all others as in `fitgym.envs.focus`.

    ## Version History
    * v0: initial version.
    """

    Options: ClassVar[type[ProgramOptions]] = ProgramOptions
    options: ProgramOptions
    draws: ClassVar[bool] = True

    def __init__(self, subject: str = "", **options: Any) -> None:
        super().__init__(subject, **options)
        numbers(self.options.split)
        self.reward_range = (0.0, 1.0)
        self.task = -1
        self._base = -1  # the seed of the first of the consecutive episodes on one task
        self._times = 0  # the number of these episodes before the current one
        self.program: Program | None = None
        self._pool = Pool()
        self._folder: Folder | None = None
        self._possible: NDArray[np.bool_] = np.zeros(0, dtype=bool)
        self._first = self._last = 0  # covered branches after `reset`, and after the last step
        self._told = -1  # the part that `informed` chose for the next step; -1 for none

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Draw a program and start a search on it; `options={"task": n}` selects task n.

        Raises:
            InputError: the task is not a whole number from 0 to 2^31 - 1.
        """
        rest = {name: value for name, value in (options or {}).items() if name != "task"}
        given = (options or {}).get("task", self.options.task)
        if seed is None:
            seed = self._next_seed()
        else:
            self._base = -1
        chance = seeding.np_random(seed % LARGEST)[0]  # the same for the seeds of `_next_seed` in a row
        self.task = drawn(self.options.split, chance) if given is None else task_of(given)
        self.program = generate(self.task, LEVELS[self.options.level])
        self.subject_name = f"program {self.task}"
        self._executor = self._pool.take(self.task, self._worker)
        self._written()
        return super().reset(seed=seed, options=rest)

    def step(self, action: Any) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Step as `SearchEnv` does, after making sure that the program's file exists."""
        if self._folder is not None:
            self._written()
        return super().step(action)

    def _next_seed(self) -> int:
        """Return a seed for an episode without one.

        The seeds of consecutive episodes on one task differ by multiples of 2^31, which do not influence the choice of
        the task.
        """
        self._times = (self._times + 1) % self.options.repeat
        if self._times == 0 or self._base < 0:
            self._base, self._times = int(self.np_random.integers(LARGEST)), 0
        return self._base + self._times * LARGEST

    def record(self) -> dict[str, Any]:
        """Return the record of the episode, with its task among the options."""
        found = super().record()
        return {**found, "subject": "", "options": {**found["options"], "task": self.task}}

    def close(self) -> None:
        """End all worker processes."""
        super().close()
        self._pool.close()
        if self._folder is not None:
            self._folder.remove()

    def informed(self) -> int:
        """Return the action of a player who sees which locks open; for oracles only.

        It stays with a part whose lock opens while there is progress, then takes the part with the least deep lock. The
        part is remembered: the next step works on it, whatever part its action points to.
        """
        assert self.parts is not None and self.program is not None
        seen, groups = self.parts.seen, self.parts.groups
        places = {place.name: place for place in self.program.places}
        found = [n for n in self.parts.open if (g := groups[n]) is not None and places[g.name].lock != "dead"]
        if not found:
            return self.action_names.index("whole")
        if self.parts.last in found and seen[self.parts.last].idle < _PATIENT:
            return self.action_names.index("stay")
        depth = [places[g.name].depth if (g := groups[n]) is not None else 0 for n in found]
        order = sorted(
            zip(found, depth, strict=True), key=lambda one: (seen[one[0]].idle // 4, one[1], -seen[one[0]].left)
        )
        self._told = order[0][0]
        return self.action_names.index("first")

    def _worker(self) -> Executor:
        return Executor(locate(str(self._written())), Limits(seconds=self.options.timeout_s), self._pool.server.launch)

    def _written(self) -> Path:
        """Return the file of the program, written anew if the folder is missing.

        The folder is missing after `close`, and in a copy from a process that has ended.
        """
        assert self.program is not None
        if self._folder is None or not os.path.isdir(self._folder.path):
            self._folder = Folder("" if self._folder is None else self._folder.path)
        path = Path(self._folder.path) / f"program_{self.program.number}.py"
        if not path.exists():
            path.write_text(self.program.source, "utf-8")
        return path

    def _rates(self) -> Rates:
        return _RATES

    def _tracked(self) -> Sequence[str]:
        return (self.goal.fitness,)  # no suite is exported, so lines need not be archived

    def _started(self, engine: Engine) -> None:
        super()._started(engine)
        assert self.program is not None
        subject = engine.subject
        self._possible = np.array(
            [b.root or self.program.possible(subject.sites[b.site].line, b.outcome) for b in subject.branches]
        )
        self._first = self._last = self._covered(engine)

    def _pointed(self, action: Action) -> int:
        told, self._told = self._told, -1
        return super()._pointed(action) if told < 0 else told

    def _reward(self, engine: Engine) -> float:
        before, self._last = self._last, self._covered(engine)
        return (self._last - before) / self._left

    def _reached(self, engine: Engine) -> bool:
        return self._last >= int(self._possible.sum())

    def _info(self) -> dict[str, Any]:
        return {**super()._info(), "goal_value": (self._last - self._first) / self._left, "task": self.task}

    @property
    def _left(self) -> int:
        """The number of branches that could still be covered after `reset`, at least 1."""
        return max(1, int(self._possible.sum()) - self._first)

    def _covered(self, engine: Engine) -> int:
        return int(np.count_nonzero(engine.covered("branch")))
