"""The episode loop, in which an agent acts in an environment and observes the results.

Evaluation, training, generation and studies all use this loop. They collect their data with hooks.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium
import numpy as np
from gymnasium import spaces

from fitgym.agents.transition import Transition

__all__ = ["Actor", "Curve", "Deadline", "Hook", "Played", "deterministic", "play"]

Env = gymnasium.Env[Any, Any]


class Actor(Protocol):
    """Acts in an episode, and may learn from it; `fitgym.agents.base.Agent` is an implementation."""

    def watch(self, env: Env, /) -> None:
        """Called with the environment of the episode after its reset."""

    def begin_episode(self, observation: Any, info: Mapping[str, Any], /) -> None:
        """Start an episode."""

    def act(self, observation: Any, info: Mapping[str, Any], /) -> Any:
        """Choose the next action."""

    def observe(self, transition: Transition, /) -> None:
        """Learn from one step."""


class Hook:
    """Follows an episode. A subclass overrides the methods that it needs."""

    def begin(self, env: Env, info: Mapping[str, Any]) -> None:
        """Called after the environment was reset and the actor was informed."""

    def proceed(self) -> bool:
        """Whether another decision may follow; called before each decision."""
        return True

    def step(self, transition: Transition) -> None:
        """Called after each step, when the actor has observed it."""


@dataclass(frozen=True, slots=True)
class Played:
    """The result of an episode.

    Attributes:
        rewards: the sum of the rewards.
        steps: number of decisions.
        deciding: seconds that the actor spent on acting and observing; no result depends on them.
        info: the info of the last step, or of `reset` if there was no step.
    """

    rewards: float
    steps: int
    deciding: float
    info: Mapping[str, Any]


def play(actor: Actor, env: Env, *, seed: int | None = None, hooks: Sequence[Hook] = ()) -> Played:
    """Run one episode to its end, or until a hook ends it.

    Args:
        actor: chooses the actions and observes each step.
        env: the environment; its rewards are numbers.
        seed: the seed of `env.reset`.
        hooks: called in this order.
    """
    observation, info = env.reset(seed=seed)
    actor.watch(env)
    actor.begin_episode(observation, info)
    for hook in hooks:
        hook.begin(env, info)
    rewards, steps, deciding, done = 0.0, 0, 0.0, False
    while not done and all(hook.proceed() for hook in hooks):
        started = time.perf_counter()
        action = actor.act(observation, info)
        deciding += time.perf_counter() - started
        seen, reward, terminated, truncated, news = env.step(action)
        transition = Transition.between(observation, action, reward, seen, terminated, truncated, info, news)
        started = time.perf_counter()
        actor.observe(transition)
        deciding += time.perf_counter() - started
        for hook in hooks:
            hook.step(transition)
        rewards += transition.reward
        steps += 1
        observation, info, done = seen, news, terminated or truncated
    return Played(rewards, steps, deciding, info)


def deterministic(policy: Any) -> Actor:
    """Return an actor that takes the deterministic choice of `policy` and never learns.

    Args:
        policy: an agent, or any object with the `predict` of a Stable-Baselines3 model.
    """
    return _Deterministic(policy)


class _Deterministic:
    """Acts by `predict`, and passes the state of recurrent policies from step to step."""

    def __init__(self, policy: Any) -> None:
        self._policy = policy
        self._masked = "action_masks" in inspect.signature(policy.predict).parameters
        self._space: spaces.Space[Any] | None = None
        self._state: Any = None
        self._start = True

    def watch(self, env: Env) -> None:
        self._space = env.action_space
        if hasattr(self._policy, "watch"):
            self._policy.watch(env)

    def begin_episode(self, observation: Any, info: Mapping[str, Any]) -> None:
        self._state, self._start = None, True
        if hasattr(self._policy, "begin_episode"):
            self._policy.begin_episode(observation, info)

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        more = {"action_masks": info["action_mask"]} if self._masked and "action_mask" in info else {}
        start = np.array([self._start])
        action, self._state = self._policy.predict(
            observation, self._state, episode_start=start, deterministic=True, **more
        )
        self._start = False
        assert self._space is not None, "watch comes before act"
        return np.asarray(action).reshape(self._space.shape or ())

    def observe(self, transition: Transition) -> None:
        pass


class Deadline(Hook):
    """Ends the episode when the deadline has passed.

    Args:
        deadline: on the clock `time.monotonic`.
    """

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline

    def proceed(self) -> bool:
        return time.monotonic() < self.deadline


class Curve(Hook):
    """Records the course of an episode: one value at its start and one after each step.

    Attributes:
        values: the values of the goal.
        executions: executions of test cases so far.
        generations: generations so far.
        rewards: the reward of each step, one fewer than the values.
    """

    def __init__(self) -> None:
        self.values: list[float] = []
        self.executions: list[int] = []
        self.generations: list[int] = []
        self.rewards: list[float] = []

    def begin(self, env: Env, info: Mapping[str, Any]) -> None:
        self._note(info)

    def step(self, transition: Transition) -> None:
        self.rewards.append(transition.reward)
        self._note(transition.info)

    def _note(self, info: Mapping[str, Any]) -> None:
        self.values.append(float(info["goal_value"]))
        self.executions.append(int(info["executions"]))
        self.generations.append(int(info["generation"]))
