"""Policies of the ladder: they act in an episode without learning."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from fitgym.errors import InputError

__all__ = ["Constant", "Greedy", "Informed", "Policy", "Rollout", "Ruled", "Schedule", "Uniform", "duplicate", "final"]

Chance = np.random.Generator

_SURE = 2.0  # number of standard errors by which a candidate must exceed the base policy


class Policy(Protocol):
    """Chooses the actions of an episode; equal policies behave the same."""

    @property
    def name(self) -> str:
        """The name of the policy in tables."""
        ...

    def choose(self, env: Any, observation: Any, info: Mapping[str, Any], step: int, chance: Chance) -> int:
        """Choose the next action.

        Args:
            env: the environment without its wrappers.
            observation, info: as returned by `reset` or `step`.
            step: number of decisions so far.
            chance: the policy's own random generator.
        """
        ...


@dataclass(frozen=True, slots=True)
class Uniform:
    """Chooses uniformly among the allowed actions: score 0 of the ladder."""

    name: str = "random"

    def choose(self, env: Any, observation: Any, info: Mapping[str, Any], step: int, chance: Chance) -> int:
        """See `Policy`."""
        return int(chance.choice(_allowed(env)))


@dataclass(frozen=True, slots=True)
class Constant:
    """Takes one action at every decision, and a random allowed one if it is not allowed."""

    action: int
    label: str = ""

    @property
    def name(self) -> str:
        return f"constant {self.label or self.action}"

    def choose(self, env: Any, observation: Any, info: Mapping[str, Any], step: int, chance: Chance) -> int:
        """See `Policy`."""
        allowed = _allowed(env)
        return self.action if self.action in allowed else int(chance.choice(allowed))


@dataclass(frozen=True, slots=True)
class Ruled:
    """Follows a simple rule of the environment, see its `rules`."""

    rule: str

    @property
    def name(self) -> str:
        return f"rule {self.rule}"

    def choose(self, env: Any, observation: Any, info: Mapping[str, Any], step: int, chance: Chance) -> int:
        """See `Policy`."""
        return int(env.rules[self.rule](observation, info, chance))


@dataclass(frozen=True, slots=True)
class Informed:
    """Uses information that an agent cannot see, see `informed` of the environment; part of the oracle."""

    name: str = "informed"

    def choose(self, env: Any, observation: Any, info: Mapping[str, Any], step: int, chance: Chance) -> int:
        """See `Policy`."""
        return int(env.informed())


@dataclass(frozen=True, slots=True)
class Schedule:
    """Takes a fixed action in each phase and ignores observations.

    Attributes:
        actions: the action of each phase.
        ends: the decision at which each phase ends, without the last phase.
        labels: names of the actions.
    """

    actions: tuple[int, ...]
    ends: tuple[int, ...]
    labels: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        labels = self.labels or tuple(map(str, self.actions))
        return " ".join(
            part for label, end in zip(labels, (*self.ends, None), strict=True) for part in _phase(label, end)
        )

    def choose(self, env: Any, observation: Any, info: Mapping[str, Any], step: int, chance: Chance) -> int:
        """See `Policy`."""
        phase = sum(step >= end for end in self.ends)
        return Constant(self.actions[phase]).choose(env, observation, info, step, chance)


@dataclass(frozen=True, slots=True)
class Greedy:
    """Takes the action with the largest next reward, tried on copies; planning further ahead may gain more."""

    name: str = "greedy"

    def choose(self, env: Any, observation: Any, info: Mapping[str, Any], step: int, chance: Chance) -> int:
        """See `Policy`."""
        allowed = _allowed(env)
        seed = int(chance.integers(2**31))
        rewards = [float(_copy(env, seed).step(action)[1]) for action in allowed]
        return int(allowed[int(np.argmax(rewards))])


@dataclass(slots=True)
class Rollout:
    """Looks ahead to the end of the episode on copies of the environment.

    Every `every` decisions, each candidate is tried `tries` times on copies. A candidate is an action followed by the
    base policy, or another policy followed to the end. All candidates have the same random numbers. The gain of a
    candidate is the difference of its final value to that of the base policy. The candidate with the largest mean gain
    minus two standard errors is followed if this number is positive. Otherwise the base policy is followed. The
    standard errors are necessary because the largest of many noisy values is large by chance. If the environment has
    `reseed`, copies do not have the random numbers of the real episode.

    Attributes:
        base: the policy that follows a tried action.
        others: further policies to try.
        actions: number of actions of the environment.
        tries: number of copies per candidate.
        every: number of decisions between two look-aheads.

    References:
        Tesauro and Galperin 1996, On-line Policy Improvement using Monte-Carlo Search.
    """

    base: Policy
    others: tuple[Policy, ...]
    actions: int
    tries: int = 2
    every: int = 3
    _followed: Policy | None = field(default=None, init=False, compare=False)

    @property
    def name(self) -> str:
        return "oracle"

    def choose(self, env: Any, observation: Any, info: Mapping[str, Any], step: int, chance: Chance) -> int:
        """See `Policy`."""
        if step % self.every == 0 or self._followed is None:
            found = self._best(env, observation, info, step, chance)
            if isinstance(found, Constant):  # take the action once, then follow the base policy
                self._followed = self.base
                return found.action
            self._followed = found
        return int(self._followed.choose(env, observation, info, step, chance))

    def _best(self, env: Any, observation: Any, info: Mapping[str, Any], step: int, chance: Chance) -> Policy:
        candidates: list[Policy] = [self.base, *self.others, *(Constant(int(action)) for action in _allowed(env))]
        seeds = chance.integers(2**31, size=self.tries).tolist()
        values = np.array(
            [[self._tried(env, one, observation, info, step, seed) for seed in seeds] for one in candidates]
        )
        gains = values - values[0]
        error = gains.std(axis=1, ddof=1) / np.sqrt(self.tries) if self.tries > 1 else np.zeros(len(candidates))
        sure = gains.mean(axis=1) - _SURE * error
        best = int(np.argmax(sure))
        return candidates[best] if sure[best] > 0.0 else self.base

    def _tried(
        self, env: Any, policy: Policy, observation: Any, info: Mapping[str, Any], step: int, seed: int
    ) -> float:
        copied = _copy(env, seed)
        chance = np.random.default_rng(seed)
        earned, done, first = 0.0, False, step
        while not done:
            once = isinstance(policy, Constant) and step > first
            action = (self.base if once else policy).choose(copied, observation, info, step, chance)
            observation, reward, terminated, truncated, info = copied.step(action)
            earned += float(reward)
            done = terminated or truncated
            step += 1
        return final(info, earned)


def final(info: Mapping[str, Any], earned: float) -> float:
    """Return the final value of an episode: the goal's value, or the sum of the rewards if there is no goal."""
    return float(info["goal_value"]) if "goal_value" in info else earned


def duplicate(env: Any) -> Any:
    """Return a copy in the same state, without another worker process if the environment has one.

    Raises:
        InputError: the environment cannot be copied.
    """
    if hasattr(env, "executor"):
        return env.fork(share_worker=True)
    if hasattr(env, "fork"):
        return env.fork()
    try:
        return copy.deepcopy(env)
    except (TypeError, copy.Error) as problem:
        raise InputError(
            f"{type(env).__name__} cannot be copied, so no policy can look ahead in it: {problem}"
        ) from None


def _copy(env: Any, seed: int) -> Any:
    """Return a copy with its own random numbers."""
    copied = duplicate(env)
    if hasattr(copied, "reseed"):
        copied.reseed(seed)
    return copied


def _allowed(env: Any) -> Sequence[int]:
    mask = env.action_masks() if hasattr(env, "action_masks") else np.ones(env.action_space.n, dtype=bool)
    return [int(action) for action in np.flatnonzero(mask)]


def _phase(label: str, end: int | None) -> tuple[str, ...]:
    return (label,) if end is None else (label, f"until {end},")
