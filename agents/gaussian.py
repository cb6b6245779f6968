"""A Gaussian policy for `Box`, with a mean that is linear in the observation, trained by a policy gradient."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Space
from numpy.typing import NDArray

from fitgym.agents._features import vector, with_one
from fitgym.agents._numbers import finite_reward, positive
from fitgym.agents.base import Agent
from fitgym.agents.transition import Transition
from fitgym.errors import InputError

__all__ = ["Gaussian"]

_LEAST = 0.05
"""The smallest standard deviation, as a share of half the width of the box: exploration never stops."""

_SURPRISE = 3.0
"""The largest absolute advantage."""


class Gaussian(Agent):
    """A policy gradient for `Box`, without torch.

    Let x be the observation and a constant 1, and z the action scaled to [-1, 1] in each of the n numbers. The agent draws

        z ~ Normal(mu, sigma),     mu = clip(W x, -1, 1)

    and clips z to [-1, 1]. A step with reward R moves the parameters by

        A        = clip((R - b) / s, -3, 3)
        W x      = clip(mu + step * A * (z - mu), -1, 1)            by the smallest change of W
        ln sigma = ln sigma + spread_step * A * ((z - mu)^2 / sigma^2 - 1)

    b is a running mean of the rewards, and s a running mean of |R - b|. The smallest change of W is the change of the mean
    times x^T / (x . x). Sigma stays between 0.05 and 1. The deterministic choice is the mean. Only the reward of the same
    step counts, so the discount of later rewards is 0.

    Args:
        action_space, action_names, seed: as for every agent.
        step: step size of the mean, above 0.
        spread_step: step size of the logarithm of the standard deviation, above 0.
        spread: standard deviation at the beginning, in (0, 1].
        memory: number of decisions in the running means, above 0.

    Raises:
        InputError: a hyper-parameter is outside its range.

    References:
        Williams 1992, Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning, section 6:
        REINFORCE for Gaussian units, and the step size in proportion to sigma^2 that leaves no sigma in the step of mu.
        Sutton and Barto 2018, Reinforcement Learning: An Introduction, 2nd edition, section 13.7: Gaussian policies that
        are linear in features, and the gradients of mu and ln sigma.

    Differs from the sources: actions are clipped to the box, and z is the clipped action. Advantages are divided by s
    and clipped, and steps are divided by x . x. Sigma does not depend on the observation.
    """

    spaces: ClassVar[tuple[type[Space[Any]], ...]] = (Box,)
    learns: ClassVar[bool] = True

    def __init__(
        self,
        action_space: Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        step: float = 0.1,
        spread_step: float = 0.01,
        spread: float = 0.5,
        memory: float = 20.0,
    ) -> None:
        super().__init__(action_space, action_names, seed)
        self.step = positive(step, "the step size")
        self.spread_step = positive(spread_step, "the step size of the spread")
        self.spread = positive(spread, "the spread")
        if self.spread > 1:
            raise InputError(f"the spread is {spread}, expected a number above 0 and at most 1")
        self.memory = positive(memory, "the memory of the running means")
        assert isinstance(self.action_space, Box), "the agent acts in no other space"
        low, high = self.action_space.low.astype(np.float64), self.action_space.high.astype(np.float64)
        self._centre, self._half = low / 2 + high / 2, high / 2 - low / 2
        self.weights: NDArray[np.float64] = np.zeros((self.n_actions, 0))
        self.log_sigma: NDArray[np.float64] = np.full(self.n_actions, math.log(max(self.spread, _LEAST)))
        self.baseline = 0.0
        self.scale = 0.0
        self._seen = 0

    def mean(self, observation: Any) -> NDArray[np.float64]:
        """mu, the mean of the scaled action, in [-1, 1]; shape `(n_actions,)`.

        Raises:
            InputError: the observation is not numeric, or its length differs from the first one.
        """
        x = with_one(vector(observation))
        if not self.weights.shape[1]:
            return np.zeros(self.n_actions)
        if len(x) != self.weights.shape[1]:
            known = self.weights.shape[1] - 1
            raise InputError(f"the observation has {len(x) - 1} entries, this agent has learnt from {known}")
        with np.errstate(over="ignore", invalid="ignore"):
            return np.clip(np.nan_to_num(self.weights @ x), -1.0, 1.0)

    def sigma(self) -> NDArray[np.float64]:
        """The standard deviations of the scaled action; shape `(n_actions,)`."""
        return np.exp(self.log_sigma)

    def act(self, observation: Any, info: Mapping[str, Any]) -> NDArray[np.float32]:
        """Draw an action from the policy."""
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(
        self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None
    ) -> NDArray[np.float32]:
        """Draw an action from the policy; without `rng`, take the mean."""
        mean = self.mean(observation)
        z = mean if rng is None else np.clip(rng.normal(mean, self.sigma()), -1.0, 1.0)
        assert isinstance(self.action_space, Box), "the agent acts in no other space"
        numbers = (self._centre + self._half * z).astype(np.float32)
        return np.clip(numbers, self.action_space.low, self.action_space.high)

    def update(self, transition: Transition) -> None:
        """Move the mean and the spread along the gradient."""
        reward = finite_reward(transition.reward)
        mean = self.mean(transition.observation)
        x = with_one(vector(transition.observation))
        if not self.weights.shape[1]:
            self.weights = np.zeros((self.n_actions, len(x)))
        advantage = self._advantage(reward)
        away = self._scaled(transition.action) - mean
        moved = np.clip(mean + self.step * advantage * away, -1.0, 1.0)
        # Clipping the mean is part of the change: a mean outside the box would ignore later steps.
        with np.errstate(over="ignore", invalid="ignore"):
            change = moved - np.clip(np.nan_to_num(self.weights @ x), -1e6, 1e6)
        size = np.abs(x).max()  # at least 1, the constant; keeps x . x finite
        unit = x / size
        self.weights += np.outer(change, unit / (unit @ unit) / size)
        gradient = np.square(away / self.sigma()) - 1.0
        self.log_sigma = np.clip(self.log_sigma + self.spread_step * advantage * gradient, math.log(_LEAST), 0.0)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The weights of the mean, the spread, and the running means."""
        return {
            "weights": self.weights.copy(),
            "log_sigma": self.log_sigma.copy(),
            "running": np.array([self.baseline, self.scale]),
            "seen": np.array(self._seen),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state from `arrays`."""
        self.weights, self.log_sigma = arrays["weights"].copy(), arrays["log_sigma"].copy()
        self.baseline, self.scale = map(float, arrays["running"])
        self._seen = int(arrays["seen"])

    def _scaled(self, action: Any) -> NDArray[np.float64]:
        """z, 0 where the box has no width."""
        z = np.zeros(self.n_actions)
        np.divide(np.asarray(action, np.float64) - self._centre, self._half, out=z, where=self._half > 0)
        return np.clip(z, -1.0, 1.0)

    def _advantage(self, reward: float) -> float:
        """A, and the running means with this reward; 0 for the first reward."""
        self._seen += 1
        if self._seen == 1:
            self.baseline = reward
            return 0.0
        half = reward / 2 - self.baseline / 2  # the difference itself could overflow
        share = max(1 / self._seen, 1 / max(self.memory, 1.0))
        self.scale = abs(half) if self._seen == 2 else (1 - share) * self.scale + share * abs(half)
        self.baseline = (1 - share) * self.baseline + share * reward
        return 0.0 if self.scale == 0 else max(-_SURPRISE, min(_SURPRISE, half / self.scale))
