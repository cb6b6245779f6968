"""UCB: the action with the largest upper confidence bound of its mean reward."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._bandit import Bandit
from fitgym.agents._numbers import non_negative

__all__ = ["UCB"]


class UCB(Bandit):
    """The upper confidence bound rule for bandits, with or without forgetting.

    Every action is tried once, in a random order drawn when the agent is made. Then

        A_t = argmax over a of  Q(a) + c * sqrt(ln t / N(a)),     t = sum over a of N(a)

    with Q(a) the mean reward, measured by a running scale, and N(a) the number of rewards seen for action a. Ties go to
    the action that comes first in the random order. Observations are ignored.

    The running scale keeps the rule the same in any unit of the rewards. Let a be the mean of the absolute rewards so far
    that are not 0, and let R' be the reward clipped to [-5 a, 5 a], once ten rewards were not 0. Clipping keeps one outlier
    from hiding all other rewards. The scale is the standard deviation of R'. Both run over about 50 rewards, see
    `fitgym.agents._scale`.

    Two published rules are options. UCB1 is `ucb:c=1.4142135623730951,normalise=none`; its bound on the regret holds for
    rewards in [0, 1]. The rule of Almulla and Gay is `ucb:c=...,normalise=none` with the reward "paper". The rule of their
    released code is the agent `released_ucb`.

    What a fitness function pays drifts as its targets get covered. With `discount` (discounted UCB) the reward of s
    decisions ago weighs discount^s in Q, N and t. With `window` (sliding-window UCB) only the most recent `window`
    decisions count, and an action without a decision among them is tried again.

    Args:
        action_space: as for every agent.
        action_names: as for every agent.
        seed: as for every agent.
        c: weight of the bonus, >= 0, in the unit of the rewards. On `benchmarks/agents/streams.md` 0.1 and 0.3 do about
            equally well, and larger values worse.
        normalise: unit of the rewards: `running` (a running standard deviation, see above), `largest` (the largest absolute
            reward so far) or `none`.
        discount: in (0, 1]; 1 forgets nothing.
        window: only the most recent `window` decisions count; 0 for all.

    References:
        Auer, Cesa-Bianchi and Fischer 2002, Finite-time Analysis of the Multiarmed Bandit Problem, figure 1: UCB1.
        Garivier and Moulines 2011, On Upper-Confidence Bound Policies for Switching Bandit Problems:
        D-UCB, whose bonus 2 B sqrt(xi ln t / N) is ours with c = 2 B sqrt(xi), and SW-UCB, B sqrt(xi ln min(t, tau) / N).
        Almulla and Gay 2022, Learning How to Search, section 3.1: the rule with a free c, for which it gives no value,
            and section 3.4: every action once in a random order first.

    Differs from Almulla and Gay: the running scale, unless `normalise` is `none`; and t counts decisions, not generations.
    The two are proportional. With decisions the rule is comparable between environments that act every generation and
    those that act every third.
    """

    def __init__(
        self,
        action_space: spaces.Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        c: float = 0.3,
        normalise: str | bool = "running",
        discount: float = 1.0,
        window: int = 0,
    ) -> None:
        super().__init__(action_space, action_names, seed, discount=discount, window=window, normalise=normalise)
        self.c = non_negative(c, "the weight c of the bonus")

    def indices(self) -> NDArray[np.float64]:
        """The upper confidence bound of each action, infinite for untried ones; `(n_actions,)`."""
        bounds = np.full(self.n_actions, np.inf)
        tried = self.counts > 0
        if tried.any():
            # The weights of the remembered decisions sum to at least 1, up to rounding, so ln is at least 0.
            logarithm = max(0.0, math.log(self.counts.sum()))
            bounds[tried] = self.means()[tried] + self.c * np.sqrt(logarithm / self.counts[tried])
        return bounds

    def pick(self, allowed: NDArray[np.bool_], rng: np.random.Generator) -> int:
        """The allowed action with the largest bound."""
        return self.order.largest(self.indices(), allowed)
