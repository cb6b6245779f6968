"""Policies of the ladder: what acts in an episode without learning anything."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from fitgym.errors import InputError

__all__ = ["Constant", "Greedy", "Policy", "Rollout", "Ruled", "Schedule", "Told", "Uniform", "final", "twin"]

Chance = np.random.Generator

_SURE = 2.0  # standard errors by which a candidate must be above the base policy


class Policy(Protocol):
    """Chooses the actions of an episode; two equal policies act alike."""

    @property
    def name(self) -> str:
        """As tables show it."""
        ...

    def choose(self, env: Any, observation: Any, info: Mapping[str, Any], step: int, chance: Chance) -> int:
        """The next action.

        Args:
            env: the environment inside all wrappers.
            observation, info: as `reset` or `step` gave them.
            step: decisions so far.
            chance: the policy's own source of chance.
        """
        ...


@dataclass(frozen=True, slots=True)
class Uniform:
    """Each allowed action with the same probability: the null of the ladder."""

    name: str = "random"

    def choose(self, env: Any, observation: Any, info: Mapping[str, Any], step: int, chance: Chance) -> int:
        """See `Policy`."""
        return int(chance.choice(_allowed(env)))


@dataclass(frozen=True, slots=True)
class Constant:
    """One action at every decision; one that is not allowed now is replaced by one drawn by lot."""

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
    """A simple rule of the environment, see its `rules`."""

    rule: str

    @property
    def name(self) -> str:
        return f"rule {self.rule}"

    def choose(self, env: Any, observation: Any, info: Mapping[str, Any], step: int, chance: Chance) -> int:
        """See `Policy`."""
        return int(env.rules[self.rule](observation, info, chance))


@dataclass(frozen=True, slots=True)
class Told:
    """A policy that is told what an agent cannot see, see `informed` of the environment; part of the oracle."""

    name: str = "informed"

    def choose(self, env: Any, observation: Any, info: Mapping[str, Any], step: int, chance: Chance) -> int:
        """See `Policy`."""
        return int(env.informed())


@dataclass(frozen=True, slots=True)
class Schedule:
    """An action for each phase, whatever is observed.

    Attributes:
        actions: of the phases.
        ends: the decision at which each phase but the last ends.
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
    """The action whose next reward is largest, tried on copies; no bound on what planning further gives."""

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

    Every `every` decisions each candidate is tried `tries` times on copies: a candidate is an action followed by the base
    policy, or another policy followed to the end. Each candidate meets the same luck. The one whose final value is above
    that of the base policy by most, two standard errors taken off, is followed, and the base policy where none is: the
    largest of many noisy values is large by chance, and whoever always follows it acts by lot. Copies do not know the luck
    of the real episode where the environment can be given another seed (`reseed`).

    Attributes:
        base: what follows a tried action.
        others: further policies to try.
        actions: number of actions of the environment.
        tries: copies for each candidate.
        every: decisions between two looks ahead.

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
            if isinstance(found, Constant):  # an action is taken once
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
    """The value of an episode at its end: of the goal, or the sum of the rewards where there is none."""
    return float(info["goal_value"]) if "goal_value" in info else earned


def twin(env: Any) -> Any:
    """A copy in the same state, which costs no worker process where the environment has one.

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
        raise InputError(f"{type(env).__name__} cannot be copied, so nobody can look ahead in it: {problem}") from None


def _copy(env: Any, seed: int) -> Any:
    """A copy with luck of its own."""
    copied = twin(env)
    if hasattr(copied, "reseed"):
        copied.reseed(seed)
    return copied


def _allowed(env: Any) -> Sequence[int]:
    mask = env.action_masks() if hasattr(env, "action_masks") else np.ones(env.action_space.n, dtype=bool)
    return [int(action) for action in np.flatnonzero(mask)]


def _phase(label: str, end: int | None) -> tuple[str, ...]:
    return (label,) if end is None else (label, f"until {end},")
