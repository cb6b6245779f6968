"""The released EvoSuiteFIT code's version of UCB, for ablations only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._numbers import finite_reward, non_negative
from fitgym.agents._order import Order
from fitgym.agents.base import Agent
from fitgym.agents.transition import Transition

__all__ = ["ReleasedUCB"]


class ReleasedUCB(Agent):
    """The rule of the released code, which is not UCB. Use `ucb` for UCB.

    The code computes the mean reward of each action but does not use it. Instead, each position j of the shuffled list of
    actions has a "posterior mean" m(j), and every decision updates all of them with the same last reward r:

        once for each position    mean' = (mean (t - 1) + r) / t
                                  var   = ((t - 1) var + (r - mean') (r - mean)) / t
                                  t < n:  m(j) = r
                                  else:   m(j) = (m(j) var + r s(j)) / (var + s(j)),  s(j) = (s(j) var) / (s(j) var)

    Here t is the number of decisions so far, n the number of actions, and s(j) starts at 1. The first n decisions go
    through the list. Afterwards

        bound(j) = m(j) + c * sqrt(ln t / N(a)),  a the action at position j

    and the code takes the action with the largest positive bound, the first of equal ones, or action 0 without a positive
    bound. s(j) is 1, or not a number if the rewards did not vary; then all comparisons fail, and the code takes action 0
    from then on. The choice therefore depends on the position in the list and on N(a), and hardly on rewards.

    Args:
        action_space: as for every agent.
        action_names: as for every agent.
        seed: as for every agent; shuffles the list.
        c: weight of the bonus; 1/100 in the last version, 1/40 in that of the exception goal.
        whole: cut rewards to whole numbers, as the last version does.

    References:
        Almulla and Gay 2022, Learning How to Search, section 3.1, for the intended rule, and the code released with it.
        The code has no masks; here the first allowed action of the list replaces a masked one. In the code each action has
        a separate population, as environments have with `populations="per-action"`.
    """

    learns: ClassVar[bool] = True

    def __init__(
        self,
        action_space: spaces.Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        c: float = 0.01,
        whole: bool = False,
    ) -> None:
        super().__init__(action_space, action_names, seed)
        self.c = non_negative(c, "the weight c of the bonus")
        self.whole = whole
        self.order = Order(self.n_actions, self.rng)
        self.counts: NDArray[np.int64] = np.zeros(self.n_actions, np.int64)
        self.posterior: NDArray[np.float64] = np.zeros(self.n_actions)  # m, by position
        self.spread = 1.0  # s, the same at all positions
        self.mean = 0.0
        self.variance = 0.0

    def bounds(self) -> NDArray[np.float64]:
        """The bound of each position of the list, infinite for actions never taken; `(n_actions,)`."""
        counts = self.counts[self.order.actions]
        bounds = np.full(self.n_actions, np.inf)
        taken = counts > 0
        bounds[taken] = self.posterior[taken] + self.c * np.sqrt(math.log(max(1, self.n_updates)) / counts[taken])
        return bounds

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """The next action of the list, or the action with the largest bound."""
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        """The action of `act`; the rule draws nothing."""
        if self.n_updates < self.n_actions:
            action = int(self.order.actions[self.n_updates])
        else:
            action, largest = 0, 0.0
            for position, bound in enumerate(self.bounds().tolist()):
                if bound > largest:
                    action, largest = int(self.order.actions[position]), bound
        if not allowed[action]:
            action = next(a for a in self.order.actions.tolist() if allowed[a])
        return action

    def update(self, transition: Transition) -> None:
        """Update all posterior means with the reward."""
        reward = finite_reward(transition.reward)
        r = float(int(reward)) if self.whole else reward
        self.counts[int(transition.action)] += 1
        t = self.n_updates + 1
        for position in range(self.n_actions):
            mean = (self.mean * (t - 1) + r) / t
            self.variance = ((t - 1) * self.variance + (r - mean) * (r - self.mean)) / t
            self.mean = mean
            if t < self.n_actions:
                self.posterior[position] = r
            else:
                total = self.variance + self.spread
                known = float(self.posterior[position])
                self.posterior[position] = (known * self.variance + r * self.spread) / total if total else math.nan
        if t >= self.n_actions:
            product = self.spread * self.variance
            self.spread = product / product if product else math.nan

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The list, the counts and all running numbers."""
        return {
            "order": self.order.actions.copy(),
            "counts": self.counts.copy(),
            "posterior": self.posterior.copy(),
            "numbers": np.array([self.spread, self.mean, self.variance]),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state from `arrays`."""
        self.order.actions, self.counts = arrays["order"].copy(), arrays["counts"].copy()
        self.posterior = arrays["posterior"].copy()
        self.spread, self.mean, self.variance = (float(number) for number in arrays["numbers"])
