"""LeadingOnes: choose how many bits to flip, a parameter control problem whose best policy is known exactly."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import numpy as np
from gymnasium import spaces
from msgspec import Meta
from numpy.typing import NDArray

from fitgym.envs.action.base import index_of
from fitgym.envs.recorded import Observation, RecordedEnv, signature
from fitgym.errors import InputError, ResetNeeded
from fitgym.rendering.display import display
from fitgym.rendering.episode import Episode, Step
from fitgym.run.setting import Options, WholeNumber, read

__all__ = ["LeadingOnes", "LeadingOnesOptions", "constant_value", "optimum", "passes"]


@dataclass(frozen=True, kw_only=True)
class LeadingOnesOptions(Options):
    """The options of `LeadingOnes`.

    Attributes:
        bits: length n of the string.
        flips: numbers of bits to choose from, ascending.
        horizon: number of decisions in an episode.
        tries: number of tries per decision.
    """

    bits: WholeNumber = 40
    flips: tuple[WholeNumber, ...] = (1, 2, 4, 8, 16)
    horizon: WholeNumber = 60
    tries: Annotated[int, Meta(ge=1)] = 10


class LeadingOnes(RecordedEnv):
    """## Description
    The fitness of a string of n bits is the number of ones before the first zero. Every decision sets the number of
    bits that each of the next ten tries flips. The bits are chosen uniformly. A try is kept unless the fitness falls.
    With few leading ones, many flips find the next one fastest. With many leading ones a single flip does, because more
    flips destroy leading ones.

    The best policy is known, so the environment is a yardstick for agents and for `fitgym headroom`.

    ## Action Space
    `Discrete(5)`: flip 1, 2, 4, 8 or 16 bits, `env.unwrapped.action_names`.

    ## Observation Space
    `Box(0, 1, (7,), float32)`: the share of the decisions that are left, the fitness as a share of n, and the last
    action one-hot.

    ## Rewards
    The rise of the fitness, as a share of n. The rewards sum to the final fitness minus that of the first string.

    ## Starting State
    A random string. The seed of `reset` determines everything.

    ## Episode End
    Terminated when all bits are one, or after the last decision.

    ## Arguments
    * `bits`: n.
    * `flips`: the numbers of bits to choose from.
    * `horizon`: the number of decisions in an episode.
    * `tries`: the number of tries per decision.
    * `render_mode`: "ansi" for a line of text; "rgb_array" for a picture of 800 by 600 pixels (extra `render`); "human"
      for the terminal, after every step; "episode" for the `fitgym.rendering.episode.Episode` so far; or None.

    ## References
    Biedenkapp, Dang, Krejca, Hutter and Doerr 2022, Theory-Inspired Parameter Control Benchmarks for Dynamic Algorithm
    Configuration; Doerr and Wagner 2018, Simple On-the-Fly Parameter Selection Mechanisms for Two Classical Discrete
    Black-Box Optimization Benchmark Problems. These papers minimise the expected time to the optimum. This environment
    maximises the fitness after a fixed number of decisions of ten tries each, because episodes of fixed length suit
    learning agents.

    ## Version History
    * v0: initial version.
    """

    Options: ClassVar[type[LeadingOnesOptions]] = LeadingOnesOptions
    options: LeadingOnesOptions
    __signature__ = signature(LeadingOnesOptions, last={"render_mode": "str | None"})

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:
        self.options = wanted = read(LeadingOnesOptions, options, type(self).__name__)
        if not wanted.flips or list(wanted.flips) != sorted(set(wanted.flips)) or wanted.flips[-1] > wanted.bits:
            raise InputError(
                f"flips is {wanted.flips}, expected ascending numbers from 1 to bits, which is {wanted.bits}"
            )
        self.render_mode = render_mode
        self._display = display(render_mode)
        self.action_names = [f"flip_{k}" for k in wanted.flips]
        self.feature_names = ("remaining", "fitness", *(f"last_{name}" for name in self.action_names))
        self.action_space = spaces.Discrete(len(wanted.flips))
        self.observation_space = spaces.Box(0.0, 1.0, (len(self.feature_names),), np.float32)
        self._bits = np.zeros(wanted.bits, dtype=bool)
        self._step = wanted.horizon
        self._last = -1
        self.actions_taken = []
        self.rewards = []

    @property
    def fitness(self) -> int:
        """The number of ones before the first zero."""
        return int(self._bits.argmin()) if not self._bits.all() else self._bits.size

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Draw a random string."""
        self._begin(seed)
        self._luck = np.random.default_rng(self.seed)
        self._bits = self._luck.random(self.options.bits) < 0.5
        self._step, self._last = 0, -1
        if self._display is not None:
            self._display.begin(Episode("leading ones", f"seed {self.seed}", tuple(self.action_names), (self._seen(),)))
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Flip bits in `tries` tries; the action sets how many at a time.

        Raises:
            ResetNeeded: the episode has ended, or none has begun.
            ValueError: there is no such action.
        """
        index = int(action)
        if self._step >= self.options.horizon or (self._step and self.fitness == self.options.bits):
            raise ResetNeeded("the episode has ended: call reset() before the next step()")
        if not 0 <= index < len(self.action_names):
            raise ValueError(f"action {index} is not among the {len(self.action_names)} actions")
        before = self.fitness
        for _ in range(self.options.tries):
            self._try(self.options.flips[index])
        self._step, self._last = self._step + 1, index
        reward = (self.fitness - before) / self.options.bits
        self.actions_taken.append(self.action_names[index])
        self.rewards.append(reward)
        ended = self._step == self.options.horizon or self.fitness == self.options.bits
        if self._display is not None:
            self._display.follow(self._seen(), ended="no decisions left" if ended else "")
        return self._observation(), reward, ended, False, self._info()

    def render(self) -> Any:
        """Return a line, a picture or the episode so far, depending on the render mode; None for "human"."""
        if self._display is not None:
            return self._display.view()
        bits = "".join("1" if bit else "0" for bit in self._bits)
        return None if self.render_mode is None else f"step {self._step} of {self.options.horizon}: {bits}"

    def close(self) -> None:
        """End the display on the terminal; a second call does nothing."""
        if self._display is not None:
            self._display.close()

    def action_masks(self) -> NDArray[np.bool_]:
        """The mask of allowed actions, shape `(n_actions,)`: all are allowed."""
        return np.ones(len(self.action_names), dtype=bool)

    def fork(self) -> LeadingOnes:
        """Return an independent copy in the same state."""
        return copy.deepcopy(self)

    def reseed(self, seed: int) -> None:
        """Replace the random generator; for copies that simulate future steps."""
        self._luck = np.random.default_rng(seed)

    def best_action(self) -> int:
        """Return the action of the best policy in the current state.

        Raises:
            ResetNeeded: the episode has ended, or none has begun.
        """
        if self._step >= self.options.horizon or self.fitness == self.options.bits:
            raise ResetNeeded("the episode has ended: call reset() before asking for an action")
        wanted = self.options
        return int(optimum(wanted.bits, wanted.flips, wanted.horizon, wanted.tries)[1][self._step, self.fitness])

    @property
    def rules(self) -> dict[str, Any]:
        """The rule from theory: the largest number of flips that is at most n / (fitness + 1)."""
        return {"theory": lambda observation, info, chance: self._theory()}

    @property
    def environment(self) -> dict[str, str]:
        """The names of the action catalogue and of the features."""
        return {"catalogue": f"flips {self.options.flips}", "features": "leading-ones-v1"}

    @property
    def default_agent(self) -> str:
        """The agent that is used if the user names none."""
        return "ucb"

    def action_of(self, recorded: Any) -> np.int64:
        """Return the number of an action by its name.

        Raises:
            UnknownName: no action has this name.
        """
        return index_of(recorded, self.action_names)

    def _theory(self) -> int:
        most = self.options.bits // (self.fitness + 1)
        return max(0, sum(k <= most for k in self.options.flips) - 1)

    def _try(self, k: int) -> None:
        before = self.fitness
        if before == self.options.bits:
            return
        chosen = self._luck.choice(self.options.bits, size=k, replace=False)
        self._bits[chosen] ^= True
        if self.fitness < before:  # undo: flipping the same bits again restores them
            self._bits[chosen] ^= True

    def _observation(self) -> Observation:
        last = [float(action == self._last) for action in range(len(self.action_names))]
        wanted = self.options
        return np.array([1.0 - self._step / wanted.horizon, self.fitness / wanted.bits, *last], dtype=np.float32)

    def _seen(self) -> Step:
        """The last step in the form that displays show."""
        choice = self.action_names[self._last] if self._last >= 0 else ""
        return Step(
            choice,
            {choice: 1.0} if choice else {},
            reward=self.rewards[-1] if self.rewards else 0.0,
            value=self.fitness / self.options.bits,
            spent=self._step / self.options.horizon,
            clock=f"decision {self._step} of {self.options.horizon}",
        )

    def _info(self) -> dict[str, Any]:
        return {
            "generation": self._step,
            "executions": self._step * self.options.tries,
            "goal_value": self.fitness / self.options.bits,
            "action_mask": self.action_masks(),
        }


def passes(bits: int, fitness: int, k: int) -> float:
    """Return the probability that flipping k of n bits raises a fitness f < n: C(n - f - 1, k - 1) / C(n, k).

    The first zero must be among the k bits, and none of the f leading ones.
    """
    if k > bits - fitness:
        return 0.0
    return math.comb(bits - fitness - 1, k - 1) / math.comb(bits, k)


@lru_cache(maxsize=8)
def optimum(bits: int, flips: tuple[int, ...], horizon: int, tries: int) -> tuple[float, NDArray[np.int8]]:
    """Return the best expected final fitness as a share of n, and the best action in each state (step, fitness).

    The computation is backward induction. By the theory, the bits after the first zero are uniform, whatever the
    earlier decisions were. After a rise, each following bit is therefore one with probability 1/2.

    Returns:
        The value at the start, and a read-only array of actions of shape `(horizon, n)`.
    """
    later = np.arange(bits + 1) / bits
    policy = np.zeros((horizon, bits), dtype=np.int8)
    moves = [np.linalg.matrix_power(_transitions(bits, k), tries) for k in flips]
    for step in reversed(range(horizon)):
        values = np.array([move @ later for move in moves])
        policy[step] = values.argmax(axis=0)[:-1]
        later = values.max(axis=0)
    policy.setflags(write=False)
    return float(_start(bits) @ later), policy


def constant_value(bits: int, k: int, horizon: int, tries: int) -> float:
    """Return the expected final fitness as a share of n if every try flips k bits."""
    move = np.linalg.matrix_power(_transitions(bits, k), tries * horizon)
    return float(_start(bits) @ move @ (np.arange(bits + 1) / bits))


def _transitions(bits: int, k: int) -> NDArray[np.float64]:
    """Return the transition matrix of the fitness for one try, `(n + 1, n + 1)`; the row is the fitness before it."""
    found = np.eye(bits + 1)
    for fitness in range(bits):
        rise = passes(bits, fitness, k)
        found[fitness, fitness] = 1.0 - rise
        found[fitness, fitness + 1 :] = rise * _free(bits - fitness - 1)
    return found


def _free(bits: int) -> NDArray[np.float64]:
    """Return the distribution of the number of leading ones in uniform bits, for 0 to `bits`."""
    found: NDArray[np.float64] = 0.5 ** np.arange(1.0, bits + 2.0)
    found[-1] *= 2.0
    return found


def _start(bits: int) -> NDArray[np.float64]:
    return _free(bits)
