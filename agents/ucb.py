"""UCB1: the action whose reward could still be the highest, judging by its mean and by how rarely it was tried."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents.base import Agent, Transition
from fitgym.errors import InputError

__all__ = ["UCB"]


class UCB(Agent):
    """The upper confidence bound rule for bandits.

    Every action is tried once, in a random order drawn when the agent is made. Then

        A_t = argmax over a of  Q(a) + c * sqrt(ln t / N(a)),     Q(a) = (sum of rewards of a) / N(a)

    with N(a) the number of rewards seen for action a and t = sum over a of N(a). Ties go to the action that comes
    first in the random order. Observations are ignored.

    Args:
        action_space: as for every agent.
        action_names: as for every agent.
        seed: as for every agent.
        c: weight of the bonus, >= 0. The default sqrt(2) makes the rule UCB1, whose bound on the regret holds for
            rewards in [0, 1].
        normalise: measure rewards by the largest absolute one so far, Q(a) / max |R|, so that c means the same for
            rewards of any size. Without it the rule is the textbook's.

    References:
        Auer, Cesa-Bianchi and Fischer 2002, Finite-time Analysis of the Multiarmed Bandit Problem, figure 1: UCB1.
        Almulla and Gay 2022, Learning How to Search, section 3.1: the rule with a free c, for which it gives no value,
            and section 3.4: every action once in a random order first.

    Differs from Almulla and Gay: t counts decisions, not generations. The two are proportional, and with decisions
    the rule stays comparable between environments that act every generation and such that act every third.
    """

    learns: ClassVar[bool] = True

    def __init__(
        self,
        action_space: spaces.Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        c: float = math.sqrt(2),
        normalise: bool = False,
    ) -> None:
        super().__init__(action_space, action_names, seed)
        if not (isinstance(c, int | float) and math.isfinite(c) and c >= 0):
            raise InputError(f"the weight c of the bonus is {c}, expected a number of at least 0")
        self.c = c
        self.normalise = normalise
        self.order: NDArray[np.int64] = self.rng.permutation(self.n_actions)
        self.counts: NDArray[np.int64] = np.zeros(self.n_actions, np.int64)
        self.sums: NDArray[np.float64] = np.zeros(self.n_actions, np.float64)
        self.largest = 0.0

    def means(self) -> NDArray[np.float64]:
        """Q(a), the mean reward of each action, 0 for untried ones; `(n_actions,)`."""
        scale = self.largest if self.normalise and self.largest > 0 else 1.0
        means: NDArray[np.float64] = self.sums / np.maximum(self.counts, 1) / scale
        return means

    def indices(self) -> NDArray[np.float64]:
        """The upper confidence bound of each action, infinite for untried ones; `(n_actions,)`."""
        bounds = np.full(self.n_actions, np.inf)
        tried = self.counts > 0
        bounds[tried] = self.means()[tried]
        if tried.any():
            bounds[tried] += self.c * np.sqrt(math.log(self.counts.sum()) / self.counts[tried])
        return bounds

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """The allowed action with the largest bound."""
        return self._largest(self.indices(), self.allowed(info))

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        """What `act` would do, or, when asked for the deterministic choice, the tried action with the largest mean."""
        if rng is not None:
            return self._largest(self.indices(), allowed)
        return self._largest(np.where(self.counts > 0, self.means(), -np.inf), allowed)

    def _largest(self, values: NDArray[np.float64], allowed: NDArray[np.bool_]) -> int:
        candidates = self.order[allowed[self.order]]
        return int(candidates[np.argmax(values[candidates])])

    def update(self, transition: Transition) -> None:
        """Count the action and add its reward."""
        if not math.isfinite(transition.reward):
            raise InputError(f"the reward is {transition.reward}, expected a finite number")
        self.counts[transition.action] += 1
        self.sums[transition.action] += transition.reward
        self.largest = max(self.largest, abs(transition.reward))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The order of the first sweep, the counts and sums of rewards, and the largest absolute reward."""
        return {
            "order": self.order.copy(),
            "counts": self.counts.copy(),
            "sums": self.sums.copy(),
            "largest": np.array(self.largest),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what `arrays` gave."""
        self.order, self.counts, self.sums = (arrays[name].copy() for name in ("order", "counts", "sums"))
        self.largest = float(arrays["largest"])
