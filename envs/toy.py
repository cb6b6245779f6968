"""A toy environment: five fitness functions as formulas, microseconds per step, and a computable best policy."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray

from fitgym.envs.action.base import index_of
from fitgym.envs.recorded import Observation, RecordedEnv
from fitgym.errors import InputError, ResetNeeded
from fitgym.rendering.display import display
from fitgym.rendering.episode import Episode, Step
from fitgym.run.setting import Options

__all__ = ["ACTIONS", "Toy", "ToyOptions", "optimum"]

ACTIONS = ("steady", "fading", "rising", "mirage", "ground")
STEADY, FADING, RISING, MIRAGE, GROUND = range(5)

_STEADY_PAY = 0.4
_FADING_PAY, _FADES = 0.9, 0.85
_RISING_PAY = 0.8
_MIRAGE_PAY, _HARM = 0.9, 0.93
_GROWTH, _MOST_GROUND = 1.15, 5


@dataclass(frozen=True, kw_only=True)
class ToyOptions(Options):
    """The options of `Toy`.

    Attributes:
        horizon: number of steps in an episode, at least 2.
        noise: standard deviation of the reward noise, at least 0.
    """

    horizon: int = 40
    noise: float = 0.0


class Toy(RecordedEnv):
    """## Description
    Typical behaviours of fitness functions during a search, as formulas: one function saturates, one drifts, one
    deceives, and one pays off only later. It serves the course, tests of agents and learning curves.

    ## Action Space
    `Discrete(5)`, `env.unwrapped.action_names`. Let t be the step (from 0), H the horizon and n(a) the number of
    earlier uses of action a. An action pays its rate times the state of the run so far:

        R = rate(a) * 1.15 ^ min(n(ground), 5) * 0.93 ^ n(mirage) + noise

    | action | rate | what it stands for |
    |---|---|---|
    | steady | 0.4 | a function that always helps a little |
    | fading | 0.9 * 0.85 ^ n(fading) | saturation: its targets get covered |
    | rising | 0.8 * t / (H - 1) | drift: worth nothing before the rest is covered |
    | mirage | 0.9 | deception: pays at once, and lowers all later rewards |
    | ground | 0 | investment: pays nothing, and its first five uses raise all later rewards |

    ## Observation Space
    `Box(0, 1, (11,), float32)`, `env.unwrapped.feature_names`: the share of the horizon that is left, the uses of each
    action as a share of the horizon (5), and the last action one-hot (5). The state is fully observed.

    ## Rewards
    The formula above. `noise` is the standard deviation of an added normal draw.

    ## Starting State
    No action has been used. With `noise`, the seed of `reset` determines the draws; without it, the environment is
    deterministic.

    ## Episode End
    Terminated after H steps, because the horizon is part of the task and can be observed.

    ## Arguments
    * `horizon`: H, at least 2.
    * `noise`: standard deviation of the reward noise, at least 0.
    * `render_mode`: "ansi" for a line of text; "rgb_array" for a picture of 800 by 600 pixels (extra `render`); "human"
      for the terminal, after every step; "episode" for the `fitgym.rendering.episode.Episode` so far; or None.

    ## Optimum
    `fitgym.envs.toy.optimum(horizon)` computes the best return and the best action in each state by backward induction.
    At H = 40 the best return is 39.46: the best policy starts with ground, and takes the mirage only at the end, when
    few rewards are left to lower. The best single action earns 16.00, the greedy policy 13.00. Random actions earn
    about 21 and beat both.

    ## Version History
    * v0: initial version.
    """

    Options: ClassVar[type[ToyOptions]] = ToyOptions
    options: ToyOptions

    action_names = ACTIONS
    feature_names = (
        "remaining",
        *(f"share_{name}" for name in ACTIONS),
        *(f"last_{name}" for name in ACTIONS),
    )

    def __init__(self, horizon: int = 40, noise: float = 0.0, render_mode: str | None = None) -> None:
        if not (isinstance(horizon, int | np.integer) and horizon >= 2):
            raise InputError(f"the horizon is {horizon}, expected a whole number of at least 2 steps")
        if not (isinstance(noise, int | float | np.number) and math.isfinite(noise) and noise >= 0):
            raise InputError(f"the noise is {noise}, expected a standard deviation of at least 0")
        self.horizon = int(horizon)
        self.noise = float(noise)
        self.options = ToyOptions(horizon=self.horizon, noise=self.noise)
        self.render_mode = render_mode
        self._display = display(render_mode)
        self.action_space = spaces.Discrete(len(ACTIONS))
        self.observation_space = spaces.Box(0.0, 1.0, (len(self.feature_names),), np.float32)
        self._step = horizon  # as after an episode, so that `step` requires a reset
        self._uses = [0] * len(ACTIONS)
        self._value = 0.0
        self._taken: list[int] = []
        self.actions_taken = []
        self.rewards = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode in which no action has been used."""
        self._begin(seed)
        self._chance, _ = seeding.np_random(self.seed)
        self._step = 0
        self._uses = [0] * len(ACTIONS)
        self._value = 0.0
        self._taken = []
        if self._display is not None:
            self._display.begin(Episode("toy", f"noise {self.noise:g} · seed {self.seed}", ACTIONS, (self._seen(),)))
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one action.

        Raises:
            ResetNeeded: the episode has ended, or none has begun.
            ValueError: there is no such action.
        """
        if self._step >= self.horizon:
            raise ResetNeeded("the episode has ended: call reset() before the next step()")
        index = int(action)
        if not 0 <= index < len(ACTIONS):
            raise ValueError(f"action {index} is not one of the {len(ACTIONS)} actions")
        uses = self._uses
        reward = _rate(index, self._step, uses[FADING], self.horizon) * _factor(uses[GROUND], uses[MIRAGE])
        if self.noise:
            reward += self.noise * float(self._chance.standard_normal())
        uses[index] += 1
        self._step += 1
        self._value += reward
        self._taken.append(index)
        self.actions_taken.append(ACTIONS[index])
        self.rewards.append(reward)
        if self._display is not None:
            self._display.follow(self._seen(), ended="horizon reached" if self._step == self.horizon else "")
        return self._observation(), reward, self._step == self.horizon, False, self._info()

    def render(self) -> Any:
        """Return a line, a picture or the episode so far, depending on the render mode; None for "human"."""
        if self._display is not None:
            return self._display.view()
        if self.render_mode is None:
            return None
        uses = ", ".join(f"{name} {n}" for name, n in zip(ACTIONS, self._uses, strict=True))
        return f"step {self._step} of {self.horizon}, earned {self._value:.2f}, taken: {uses}"

    def close(self) -> None:
        """End the display on the terminal; a second call does nothing."""
        if self._display is not None:
            self._display.close()

    def action_masks(self) -> NDArray[np.bool_]:
        """The mask of allowed actions, shape `(5,)`: all are allowed."""
        return np.ones(len(ACTIONS), dtype=bool)

    def fork(self) -> Toy:
        """Return an independent copy in the same state."""
        return copy.deepcopy(self)

    def reseed(self, seed: int) -> None:
        """Does nothing: without noise, the environment is deterministic."""

    def best_action(self) -> int:
        """Return the action of the best policy in the current state.

        Raises:
            ResetNeeded: the episode has ended, or none has begun.
        """
        if self._step >= self.horizon:
            raise ResetNeeded("the episode has ended: call reset() before asking for an action")
        ground = min(self._uses[GROUND], _MOST_GROUND)
        return int(optimum(self.horizon)[1][self._step, self._uses[FADING], self._uses[MIRAGE], ground])

    @property
    def environment(self) -> dict[str, str]:
        """The names of the action catalogue and of the features."""
        return {"catalogue": "toy", "features": "toy-v1"}

    @property
    def default_agent(self) -> str:
        """The agent that is used if the user names none."""
        return "ucb"

    def action_of(self, recorded: Any) -> np.int64:
        """Return the number of an action by its name.

        Raises:
            UnknownName: no action has this name.
        """
        return index_of(recorded, ACTIONS)

    def _observation(self) -> Observation:
        last = self._taken[-1] if self._taken else -1
        return np.array(
            [
                1.0 - self._step / self.horizon,
                *(n / self.horizon for n in self._uses),
                *(1.0 if action == last else 0.0 for action in range(len(ACTIONS))),
            ],
            dtype=np.float32,
        )

    def _seen(self) -> Step:
        """The last step in the form that displays show."""
        choice = ACTIONS[self._taken[-1]] if self._taken else ""
        return Step(
            choice,
            {choice: 1.0} if choice else {},
            reward=self.rewards[-1] if self.rewards else 0.0,
            value=self._value,
            spent=self._step / self.horizon,
            clock=f"horizon {self.horizon}",
        )

    def _info(self) -> dict[str, Any]:
        return {
            "generation": self._step,
            "executions": self._step,
            "goal_value": self._value,
            "action_mask": self.action_masks(),
        }


def _rate(action: int, step: int, n_fading: int, horizon: int) -> float:
    """Return the rate of an action, without the factor of the run."""
    if action == STEADY:
        return _STEADY_PAY
    if action == FADING:
        return _FADING_PAY * _FADES**n_fading
    if action == RISING:
        return _RISING_PAY * step / (horizon - 1)
    return _MIRAGE_PAY if action == MIRAGE else 0.0


def _factor(n_ground: int, n_mirage: int) -> float:
    """Return the factor that earlier uses of ground and mirage put on all rewards."""
    return _GROWTH ** min(n_ground, _MOST_GROUND) * _HARM**n_mirage


@lru_cache(maxsize=8)
def optimum(horizon: int = 40) -> tuple[float, NDArray[np.int8]]:
    """Return the best expected return of an episode, and the best action in each state.

    The computation is backward induction over all states (step, n(fading), n(mirage), n(ground)): V(s) = max over a of
    R(s, a) + V(s'). More than five uses of ground count as five. The first of equally good actions is taken.

    Args:
        horizon: number of steps in an episode.

    Returns:
        The return, and a read-only array of actions of shape `(H, H + 1, H + 1, 6)`.
    """
    shape = (horizon + 2, horizon + 2, _MOST_GROUND + 1)
    n_fading, n_mirage, n_ground = np.ogrid[: shape[0], : shape[1], : shape[2]]
    factor = _GROWTH**n_ground * _HARM**n_mirage
    values = np.zeros(shape)
    policy = np.zeros((horizon, horizon + 1, horizon + 1, _MOST_GROUND + 1), np.int8)
    for step in reversed(range(horizon)):
        # The value after an action: that of the state with one more use of it.
        later = np.zeros((len(ACTIONS), *shape))
        later[[STEADY, RISING]] = values
        later[FADING, :-1] = values[1:]
        later[MIRAGE, :, :-1] = values[:, 1:]
        later[GROUND, :, :, :-1], later[GROUND, :, :, -1] = values[:, :, 1:], values[:, :, -1]
        later[STEADY] += _STEADY_PAY * factor
        later[FADING] += _FADING_PAY * _FADES**n_fading * factor
        later[RISING] += _RISING_PAY * step / (horizon - 1) * factor
        later[MIRAGE] += _MIRAGE_PAY * factor
        values = later.max(axis=0)
        policy[step] = later.argmax(axis=0)[:-1, :-1]
    policy.setflags(write=False)
    return float(values[0, 0, 0]), policy
