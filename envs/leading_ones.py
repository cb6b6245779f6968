"""LeadingOnes: how many bits to flip, a problem of parameter control whose best policy is known exactly."""

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
        horizon: decisions of an episode.
        tries: flips of a decision.
    """

    bits: WholeNumber = 40
    flips: tuple[WholeNumber, ...] = (1, 2, 4, 8, 16)
    horizon: WholeNumber = 60
    tries: Annotated[int, Meta(ge=1)] = 10


class LeadingOnes(RecordedEnv):
    """## Description
    A string of n bits; its fitness is the number of ones before the first zero. Every decision says how many bits are
    flipped at a time, chosen uniformly, for the next ten tries; a try that is not worse is kept. With few leading ones
    many flips find the next one soonest, with many leading ones a single flip does, because others break what is there.

    The best policy is known, so the environment is a yardstick for agents and for `fitgym headroom`.

    ## Action Space
    `Discrete(5)`: flip 1, 2, 4, 8 or 16 bits, `env.unwrapped.action_names`.

    ## Observation Space
    `Box(0, 1, (7,), float32)`: the share of the decisions that are left, the fitness as a share of n, and the last action
    one-hot.

    ## Rewards
    By how much the fitness rose, as a share of n. They sum to the fitness at the end, but for that of the first string.

    ## Starting State
    A random string. The seed of `reset` determines everything.

    ## Episode End
    Terminated when all bits are one, or after the last decision.

    ## Arguments
    * `bits`: n.
    * `flips`: the numbers to choose from.
    * `horizon`: decisions of an episode.
    * `tries`: flips of a decision.
    * `render_mode`: "ansi", a line; "rgb_array", a picture of 800 by 600 pixels (extra `render`); "human", the terminal,
      after every step; "episode", the `fitgym.rendering.episode.Episode` so far; or None.

    ## References
    Biedenkapp, Dang, Krejca, Hutter and Doerr 2022, Theory-Inspired Parameter Control Benchmarks for Dynamic Algorithm
    Configuration; Doerr and Wagner 2018, Simple On-the-Fly Parameter Selection Mechanisms for Two Classical Discrete
    Black-Box Optimization Benchmark Problems. There the expected time to the optimum is minimised, here the fitness after
    a fixed number of decisions is maximised, each of ten flips, because episodes of a fixed length suit learners.

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
        """Draw a string."""
        self._begin(seed)
        self._luck = np.random.default_rng(self.seed)
        self._bits = self._luck.random(self.options.bits) < 0.5
        self._step, self._last = 0, -1
        if self._display is not None:
            self._display.begin(Episode("leading ones", f"seed {self.seed}", tuple(self.action_names), (self._seen(),)))
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Flip so many bits at a time.

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
        """A line or a picture of the episode, as the render mode says; None for "human", which shows each step."""
        if self._display is not None:
            return self._display.view()
        bits = "".join("1" if bit else "0" for bit in self._bits)
        return None if self.render_mode is None else f"step {self._step} of {self.options.horizon}: {bits}"

    def close(self) -> None:
        """End what is shown on the terminal; harmless when called twice."""
        if self._display is not None:
            self._display.close()

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions make sense now: all of them."""
        return np.ones(len(self.action_names), dtype=bool)

    def fork(self) -> LeadingOnes:
        """An independent copy in the same state."""
        return copy.deepcopy(self)

    def reseed(self, seed: int) -> None:
        """Go on with another source of chance; for copies that look ahead."""
        self._luck = np.random.default_rng(seed)

    def best_action(self) -> int:
        """What the best policy does now.

        Raises:
            ResetNeeded: the episode has ended, or none has begun.
        """
        if self._step >= self.options.horizon or self.fitness == self.options.bits:
            raise ResetNeeded("the episode has ended: call reset() before asking for an action")
        wanted = self.options
        return int(optimum(wanted.bits, wanted.flips, wanted.horizon, wanted.tries)[1][self._step, self.fitness])

    @property
    def rules(self) -> dict[str, Any]:
        """The rule of the theory: the number of flips nearest to n / (fitness + 1), not above it."""
        return {"theory": lambda observation, info, chance: self._theory()}

    @property
    def environment(self) -> dict[str, str]:
        """The names of the catalogue of actions and of the features."""
        return {"catalogue": f"flips {self.options.flips}", "features": "leading-ones-v1"}

    @property
    def default_agent(self) -> str:
        """The agent when the user names none."""
        return "ucb"

    def action_of(self, recorded: Any) -> np.int64:
        """The number of an action by its name.

        Raises:
            UnknownName: no action has it.
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
        if self.fitness < before:
            self._bits[chosen] ^= True

    def _observation(self) -> Observation:
        last = [float(action == self._last) for action in range(len(self.action_names))]
        wanted = self.options
        return np.array([1.0 - self._step / wanted.horizon, self.fitness / wanted.bits, *last], dtype=np.float32)

    def _seen(self) -> Step:
        """What there is to be shown of the step that was made."""
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
    """The probability that flipping k of n bits raises a fitness f below n: C(n - f - 1, k - 1) / C(n, k).

    The first zero must be among the k bits, and none of the f ones before it.
    """
    if k > bits - fitness:
        return 0.0
    return math.comb(bits - fitness - 1, k - 1) / math.comb(bits, k)


@lru_cache(maxsize=8)
def optimum(bits: int, flips: tuple[int, ...], horizon: int, tries: int) -> tuple[float, NDArray[np.int8]]:
    """The best expected final fitness as a share of n, and the best action in each state (step, fitness).

    By backward induction. Bits behind the first zero are uniform whatever was done before, as the theory has it: so
    after a rise by one the next ones come with probability 1/2 each.

    Returns:
        The value at the start, and actions of shape `(horizon, n)`, read-only.
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
    """The expected final fitness as a share of n when always k bits are flipped."""
    move = np.linalg.matrix_power(_transitions(bits, k), tries * horizon)
    return float(_start(bits) @ move @ (np.arange(bits + 1) / bits))


def _transitions(bits: int, k: int) -> NDArray[np.float64]:
    """Probabilities of the fitness after one try, by the fitness before it, `(n + 1, n + 1)`."""
    found = np.eye(bits + 1)
    for fitness in range(bits):
        rise = passes(bits, fitness, k)
        found[fitness, fitness] = 1.0 - rise
        found[fitness, fitness + 1 :] = rise * _free(bits - fitness - 1)
    return found


def _free(bits: int) -> NDArray[np.float64]:
    """How many ones so many uniform bits begin with, as probabilities of 0 to that number."""
    found: NDArray[np.float64] = 0.5 ** np.arange(1.0, bits + 2.0)
    found[-1] *= 2.0
    return found


def _start(bits: int) -> NDArray[np.float64]:
    return _free(bits)
