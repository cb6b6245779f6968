"""Landscapes: the decisions of `Programs` on formulas, with one episode or thousands of episodes in parallel."""

from __future__ import annotations

import copy
import functools
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from msgspec import Meta
from numpy.typing import NDArray

from fitgym.envs.action.base import index_of
from fitgym.envs.recorded import Observation, RecordedEnv, signature
from fitgym.envs.tasks import drawn, numbers, task_of
from fitgym.errors import InputError, ResetNeeded
from fitgym.formulas.landscapes import ACTIONS, FEATURES, SLICES, Landscapes
from fitgym.rendering.display import display
from fitgym.rendering.episode import Episode, Step
from fitgym.run.setting import Name, Options, read

__all__ = ["LandscapeOptions", "LandscapesEnv", "LandscapesVector"]

_FEATURES = (
    *(f"{name}_{action}" for action in ACTIONS for name in FEATURES),
    *(f"last_{action}" for action in ACTIONS),
    "remaining_budget",
)


@dataclass(frozen=True, kw_only=True)
class LandscapeOptions(Options):
    """The options of `LandscapesEnv`.

    Attributes:
        split: train, validation or test, or a range of tasks such as 400-499.
        task: this task in every episode; drawn from the split if None.
    """

    split: Name = "train"
    task: Annotated[int, Meta(ge=0)] | None = None


class LandscapesEnv(RecordedEnv):
    """## Description
    The decisions of Programs-v0 without code and without a search: a formula gives the progress of each slice. There
    are twelve parts with locks. Most locks never open; behind each of the others is a treasure. The time is too short
    for all parts.

    A decision takes microseconds, so learning curves of millions of decisions take minutes. Actions and observations
    have the same meaning as in `fitgym.envs.programs`, so a policy trained here can act there. The agent `pretrained` is
    such a policy; `benchmarks/learning/table.md` has its scores in both environments.

    ## Action Space
    `Discrete(7)`: stay, first, second, third, nearest, promising, whole; see `fitgym.envs.programs`.

    ## Observation Space
    `Box(0, 1, (71,), float32)`, as in `fitgym.envs.programs`.

    ## Rewards
    The branches covered in the step, as a share of the branches that could still be covered after `reset`.

    ## Starting State
    A landscape drawn from the split. The seed of `reset` determines everything. `reset(options={"task": n})` selects
    landscape n for one episode. `info["task"]` holds the number of the landscape.

    ## Episode End
    Terminated after 30 decisions, or when all coverable branches are covered.

    ## Arguments
    * `split`: "train", "validation", "test", or a range of tasks such as "400-499"; see `fitgym.envs.tasks`.
    * `task`: one task for all episodes.
    * `render_mode`: "ansi" for a line of text; "rgb_array" for a picture of 800 by 600 pixels (extra `render`); "human"
      for the terminal, after every step; "episode" for the `fitgym.rendering.episode.Episode` so far; or None.

    `gymnasium.make_vec` makes a `LandscapesVector`, in which all episodes are rows of the same arrays. With the same
    seeds it runs the same episodes.

    ## Version History
    * v0: initial version.
    """

    Options: ClassVar[type[LandscapeOptions]] = LandscapeOptions
    options: LandscapeOptions
    __signature__ = signature(LandscapeOptions, last={"render_mode": "str | None"})

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:
        self.options = read(LandscapeOptions, options, type(self).__name__)
        numbers(self.options.split)
        self.render_mode = render_mode
        self._display = display(render_mode)
        self.action_names = list(ACTIONS)
        self.feature_names = _FEATURES
        self.action_space = spaces.Discrete(len(ACTIONS))
        self.observation_space = spaces.Box(0.0, 1.0, (len(_FEATURES),), np.float32)
        self.task = -1
        self._state = Landscapes(1)
        self._last = np.full(1, -1)
        self._ended = True
        self.actions_taken = []
        self.rewards = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Draw a landscape; `options={"task": n}` selects landscape n.

        Raises:
            InputError: the task is not a whole number from 0 to 2^31 - 1.
        """
        given = (options or {}).get("task", self.options.task)
        given = None if given is None else task_of(given)
        self._begin(seed)
        assert self.seed is not None
        self.task = drawn(self.options.split, np.random.default_rng(self.seed)) if given is None else given
        self._state.reset(np.ones(1, dtype=bool), np.array([self.task]), np.array([self.seed]))
        self._last[:] = -1
        self._ended = False
        if self._display is not None:
            self._display.begin(Episode(f"landscape {self.task}", f"seed {self.seed}", ACTIONS, (self._seen(),)))
        return self._state.observe(self._last)[0], self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Spend a slice on the part that the action points to.

        Raises:
            ResetNeeded: the episode has ended, or none has begun.
            ValueError: there is no such action.
        """
        if self._ended:
            raise ResetNeeded("the episode has ended: call reset() before the next step()")
        index = int(action)
        if not 0 <= index < len(ACTIONS):
            raise ValueError(f"action {index} is not among the {len(ACTIONS)} actions")
        reward = float(self._state.act(np.array([index]))[0])
        self._last[0] = index
        self._ended = bool(self._state.over[0])
        self.actions_taken.append(ACTIONS[index])
        self.rewards.append(reward)
        if self._display is not None:
            self._display.follow(self._seen(), ended="no decisions left" if self._ended else "")
        return self._state.observe(self._last)[0], reward, self._ended, False, self._info()

    def render(self) -> Any:
        """Return a line, a picture or the episode so far, depending on the render mode; None for "human"."""
        if self._display is not None:
            return self._display.view()
        if self.render_mode is None:
            return None
        covered = " ".join(map(str, self._state.covered[0]))
        return f"landscape {self.task}: step {self._state.step[0]}, score {self._state.score[0]:.3f}, covered {covered}"

    def close(self) -> None:
        """End the display on the terminal; a second call does nothing."""
        if self._display is not None:
            self._display.close()

    def action_masks(self) -> NDArray[np.bool_]:
        """The mask of allowed actions, shape `(7,)`: all are allowed."""
        return np.ones(len(ACTIONS), dtype=bool)

    def fork(self) -> LandscapesEnv:
        """Return an independent copy in the same state."""
        return copy.deepcopy(self)

    def reseed(self, seed: int) -> None:
        """Replace the random seed; for copies that simulate future steps.

        Raises:
            ResetNeeded: no episode has begun.
        """
        if self.task < 0:
            raise ResetNeeded("no episode has begun: call reset() before reseed()")
        self._state.seeds[:] = seed

    @property
    def rules(self) -> dict[str, Any]:
        """Baseline rules by name: stay with a part for several slices without progress, then take another one."""
        return {
            f"patient_{patience}_{otherwise}": functools.partial(self._patient, patience, otherwise)
            for patience in (1, 2, 3)
            for otherwise in ("first", "nearest", "promising")
        }

    def _patient(self, patience: int, otherwise: str, observation: Any, info: Any, chance: Any) -> int:
        return ACTIONS.index("stay" if self._state.idle_of_last()[0] < patience else otherwise)

    def informed(self) -> int:
        """Return the action of a player who sees which locks open; for oracles only.

        It takes the first of stay, promising, nearest, first, second and third that points to an open part whose lock
        opens. It takes `whole` if there is no such part.
        """
        state = self._state
        alive = np.flatnonzero(state.open[0] & ~state.dead[0])
        if not alive.size:
            return ACTIONS.index("whole")
        pointed = state.pointers()[0].tolist()
        for action in ("stay", "promising", "nearest", "first", "second", "third"):
            if pointed[ACTIONS.index(action)] in alive:
                return ACTIONS.index(action)
        return ACTIONS.index("second")  # none is pointed to: a slice elsewhere changes the offers

    @property
    def environment(self) -> dict[str, str]:
        """The names of the action catalogue and of the features; the same as in `fitgym.envs.programs`."""
        return {"catalogue": "pointers to parts", "features": "parts+last_choice+remaining_budget"}

    @property
    def default_agent(self) -> str:
        """The agent that is used if the user names none."""
        return "ucb"

    def record(self) -> dict[str, Any]:
        """Return the record of the episode, with its task among the options."""
        found = super().record()
        return {**found, "options": {**found["options"], "task": self.task}}

    def action_of(self, recorded: Any) -> np.int64:
        """Return the number of an action by its name.

        Raises:
            UnknownName: no action has this name.
        """
        return index_of(recorded, list(ACTIONS))

    def _seen(self) -> Step:
        """The last step in the form that displays show."""
        choice = ACTIONS[self._last[0]] if self._last[0] >= 0 else ""
        return Step(
            choice,
            {choice: 1.0} if choice else {},
            reward=self.rewards[-1] if self.rewards else 0.0,
            value=float(self._state.score[0]),
            spent=float(self._state.step[0]) / SLICES,
            clock=f"decision {self._state.step[0]} of {SLICES}",
        )

    def _info(self) -> dict[str, Any]:
        step = int(self._state.step[0])
        return {
            "generation": step,
            "executions": 20 * step,
            "goal_value": float(self._state.score[0]),
            "action_mask": self.action_masks(),
            "task": self.task,
        }


class LandscapesVector(VectorEnv[NDArray[np.float32], NDArray[np.int64], NDArray[np.float64]]):
    """Many episodes of `LandscapesEnv` as rows of the same arrays.

    By default, an episode that has ended restarts at the next step and ignores the action of that step, as in
    Gymnasium's own vector environments. With `AutoresetMode.SAME_STEP` it restarts at once; `info["final_obs"]` and
    `info["final_info"]` then hold the last observation and info of the old episode. `info` has "goal_value" and "task"
    as arrays.

    Args:
        num_envs: number of parallel episodes.
        max_episode_steps: number of decisions after which an episode is truncated.
        autoreset_mode: when an episode that has ended restarts.
        split, task: as for `LandscapesEnv`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        **options: Any,
    ) -> None:
        self.options = read(LandscapeOptions, options, type(self).__name__)
        if autoreset_mode is AutoresetMode.DISABLED:
            raise InputError(
                "autoreset_mode is DISABLED, expected NEXT_STEP or SAME_STEP: all episodes share their arrays"
            )
        self._most = max_episode_steps or SLICES
        self._mode = autoreset_mode
        self._numbers = numbers(self.options.split)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.metadata = {"autoreset_mode": autoreset_mode, "render_modes": []}
        self.single_action_space = spaces.Discrete(len(ACTIONS))
        self.single_observation_space = spaces.Box(0.0, 1.0, (len(_FEATURES),), np.float32)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._state = Landscapes(num_envs)
        self._last = np.full(num_envs, -1)
        self._ended = np.zeros(num_envs, dtype=bool)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Draw a landscape for each episode. A single seed gives seed + i to episode i."""
        seed = int(seed) if isinstance(seed, np.integer) else seed
        single = seed if isinstance(seed, int) else None
        if single is not None or not hasattr(self, "_chance"):
            self._chance = np.random.default_rng(single)
        if isinstance(seed, int):
            seeds = np.arange(seed, seed + self.num_envs)
        else:
            given = seed if seed is not None else [None] * self.num_envs
            fresh = self._chance.integers(2**31, size=self.num_envs)
            seeds = np.array([new if one is None else one for one, new in zip(given, fresh, strict=True)])
        task = (options or {}).get("task", self.options.task)
        self._ended[:] = False
        self._start(np.ones(self.num_envs, dtype=bool), seeds, None if task is None else task_of(task), each=True)
        return self._state.observe(self._last), self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Spend a slice in each episode; episodes that had ended restart instead."""
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.min() < 0 or actions.max() >= len(ACTIONS):
            raise ValueError(
                f"the actions are {actions}, expected {self.num_envs} numbers from 0 to {len(ACTIONS) - 1}"
            )
        again = self._ended
        self._renew(again)
        rewards = self._state.act_where(actions, ~again)
        self._last = np.where(again, -1, actions)
        terminated = self._state.over & ~again
        truncated = (self._state.step >= self._most) & ~terminated & ~again
        ended, observations, infos = terminated | truncated, self._state.observe(self._last), self._infos()
        if self._mode is AutoresetMode.SAME_STEP and ended.any():
            final = {**infos, "_goal_value": ended, "_task": ended}
            last = observations.copy()
            self._renew(ended)
            infos = {
                **self._infos(),
                **{"final_obs": last, "_final_obs": ended, "final_info": final, "_final_info": ended},
            }
            observations[ended] = self._state.observe(self._last)[ended]
        else:
            self._ended = ended
        return observations, rewards, terminated, truncated, infos

    def close_extras(self, **kwargs: Any) -> None:
        """Does nothing, because there is nothing to close."""

    def _renew(self, which: NDArray[np.bool_]) -> None:
        """Restart episodes, with tasks and seeds from the generator of the vector environment."""
        if which.any():
            self._start(which, self._chance.integers(2**31, size=int(which.sum())), self.options.task)

    def _start(
        self, which: NDArray[np.bool_], seeds: NDArray[np.int64], task: int | None, *, each: bool = False
    ) -> None:
        if task is not None:
            tasks = np.full(len(seeds), task)
        elif each:  # the same tasks as in single environments with these seeds
            tasks = np.array([drawn(self.options.split, np.random.default_rng(int(seed))) for seed in seeds])
        else:
            tasks = self._chance.integers(self._numbers.start, self._numbers.stop, size=len(seeds))
        self._state.reset(which, tasks, seeds)
        self._last[which] = -1

    def _infos(self) -> dict[str, Any]:
        everyone = np.ones(self.num_envs, dtype=bool)
        return {
            "goal_value": self._state.score,
            "_goal_value": everyone,
            "task": self._state.tasks.astype(np.int64),
            "_task": everyone,
        }
