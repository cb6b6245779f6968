"""LinUCB: an upper confidence bound that depends on the functions of an action and on the observation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._averages import forgetting
from fitgym.agents._features import vector, with_one
from fitgym.agents._functions import function_bits
from fitgym.agents._numbers import non_negative, positive
from fitgym.agents._order import Order
from fitgym.agents._ridge import Ridge
from fitgym.agents._scale import Scale
from fitgym.agents.base import Agent
from fitgym.agents.transition import Transition
from fitgym.errors import InputError

__all__ = ["LinUCB"]

Floats = NDArray[np.float64]


class LinUCB(Agent):
    """A contextual bandit: ridge regression of the reward on features of the action, and its uncertainty.

    x(a) are the features of action a in the current state. The sums are over all steps so far:

        A = ridge * I + sum of x x^T        b = sum of R x        theta = A^-1 b

        A_t = argmax over a of  theta . x(a) + alpha * sqrt(x(a) . A^-1 x(a))

    Rewards are measured by a running scale. Ties go to the action that comes first in a random order, drawn when the agent
    is made. The deterministic choice leaves the uncertainty out.

    Let o be the observation and a constant 1, and f(a) a bit for each fitness function that action a combines, and a
    constant 1. The names of the actions say which: `exception+branch` combines two.

    | `features` | x(a) | numbers to estimate, for 64 sets of 8 functions and 60 features |
    |---|---|---|
    | `action` | f(a) | 8 |
    | `both` | the products of the entries of f(a) and o | 8 * 61 = 488 |
    | `observation` | o, with A, b and theta of its own for each action | 64 * 61 = 3904 |

    Where no action combines several functions, each action is a function of its own, and f(a) has no constant 1. `both` is
    then the same rule as `observation`. With `both` and `action` a decision says something about all actions that share a
    function. Where actions share none, every action is tried once first in the random order.

    The default is `both`: it is the smallest choice that uses the observation. A run has about 140 decisions, too few for
    `observation` in a catalogue of 64 sets.

    Args:
        action_space: as for every agent.
        action_names: as for every agent.
        seed: as for every agent.
        alpha: weight of the uncertainty, >= 0. The source derives 1 + sqrt(ln(2 / delta) / 2) for rewards in [0, 1] and
            bounds that hold with probability 1 - delta, and finds smaller ones better.
        ridge: above 0, 1 in the source. A larger ridge makes estimates move away from 0 more slowly.
        normalise: unit of the rewards: `running` (a running standard deviation), `largest` (the largest absolute reward
            so far) or `none`.
        features: `action`, `both` or `observation`, see above.
        discount: in (0, 1]; the step of s decisions ago weighs discount^s in A and b. 1 forgets nothing. Below 1 each
            step takes time in proportion to the cube of the length of x.
        window: only the most recent `window` decisions count; 0 for all.

    Raises:
        InputError: a hyper-parameter is outside its range.

    References:
        Li, Chu, Langford and Schapire 2010, A Contextual-Bandit Approach to Personalized News Article Recommendation,
        algorithm 1: `observation`, disjoint linear models. Section 3.1 there: one model with features of actions.
        Russac, Vernade and Cappe 2019, Weighted Linear Bandits for Non-Stationary Environments: a discount in A and b.

    Differs from the sources: the first sweep, the running scale, and A with the same discount for means and uncertainty,
    where D-LinUCB has a second matrix with the squared discount.
    """

    learns: ClassVar[bool] = True
    earlier: ClassVar[Mapping[str, Any]] = {"features": "observation"}

    def __init__(
        self,
        action_space: spaces.Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        alpha: float = 1.0,
        ridge: float = 1.0,
        normalise: str | bool = "running",
        features: str = "both",
        discount: float = 1.0,
        window: int = 0,
    ) -> None:
        super().__init__(action_space, action_names, seed)
        self.alpha = non_negative(alpha, "the weight alpha of the uncertainty")
        self.ridge = positive(ridge, "ridge")
        self.scale = Scale(normalise)
        self.normalise = self.scale.normalise
        if features not in ("action", "both", "observation"):
            raise InputError(f"features is '{features}', expected action, both or observation")
        self.features = features
        self.discount, self.window = forgetting(discount, window)
        self.order = Order(self.n_actions, self.rng)
        self.tried: NDArray[np.bool_] = np.zeros(self.n_actions, bool)
        bits = function_bits(self.action_names).astype(np.float64)
        alone = bool((bits.sum(axis=1) == 1).all()) and bits.shape == (self.n_actions, self.n_actions)
        # Disjoint models: one regression for each action, which is cheaper than one with a block for each.
        self._disjoint = features == "observation" or alone
        self._bits: Floats = bits if alone else np.hstack([bits, np.ones((self.n_actions, 1))])
        self._model: Ridge | None = None
        self._n_seen = -1  # length of o, once one was seen

    @property
    def model(self) -> Ridge:
        """The regressions: one for each action, or a single one.

        Raises:
            InputError: nothing was learnt yet.
        """
        if self._model is None:
            raise InputError("the agent has not learnt yet")
        return self._model

    def bounds(self, observation: Any, alpha: float | None = None) -> Floats:
        """The upper confidence bound of each action; shape `(n_actions,)`.

        Args:
            observation: of the environment.
            alpha: weight of the uncertainty; by default the agent's own.

        Raises:
            InputError: the observation has another length than the first one.
        """
        if self._model is None:
            return np.zeros(self.n_actions)
        o, model = self._context(observation), self._model
        d = len(o)
        if self._disjoint:
            means = model.thetas @ o
            variances = (model.inverses @ o) @ o
        else:
            k = self._bits.shape[1]
            means = self._bits @ (model.thetas.reshape(k, d) @ o)
            # o^T A^-1 o by pairs of functions, so that no vector of all products is built.
            pairs = np.einsum("i,aib->ab", o, (model.inverses.reshape(-1, d) @ o).reshape(k, d, k))
            variances = ((self._bits @ pairs) * self._bits).sum(axis=1)
        # Rounding can make a variance slightly negative.
        weight = self.alpha if alpha is None else alpha
        bounds: Floats = means / self.scale.value + weight * np.sqrt(np.maximum(variances, 0.0))
        return bounds

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """The next untried action where actions share nothing, or the one with the largest bound."""
        return self._next(observation, self.allowed(info))

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        """The action of `act`; without `rng` the action with the largest expected reward."""
        if rng is not None:
            return self._next(observation, allowed)
        expected = self.bounds(observation, 0.0)
        return self.order.largest(np.where(self.tried, expected, -np.inf) if self._disjoint else expected, allowed)

    def update(self, transition: Transition) -> None:
        """Add the features and the reward to the regression."""
        o = self._context(transition.observation)
        reward = self.scale.add(transition.reward)
        action = int(transition.action)
        if self._model is None:
            self._begin(len(o))
        if self._disjoint:
            self.model.add(action, o, reward)
        else:
            self.model.add(0, np.outer(self._bits[action], o).ravel(), reward)
        self.tried[action] = True

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The order and progress of the first sweep, the scale and the regressions."""
        known = {} if self._model is None else self._model.arrays()
        return {
            "order": self.order.actions.copy(),
            "tried": self.tried.copy(),
            "n_seen": np.array(self._n_seen),
            **self.scale.arrays(),
            **known,
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the state from `arrays`."""
        self.order.actions, self.tried = arrays["order"].copy(), arrays["tried"].copy()
        self.scale.restore(arrays)
        # Earlier versions: regressions without entries if nothing was learnt, else disjoint ones.
        if "sums" in arrays and arrays["sums"].shape[1]:
            self._begin(int(arrays.get("n_seen", np.array(arrays["sums"].shape[1]))))
            self.model.restore(arrays)

    def _next(self, observation: Any, allowed: NDArray[np.bool_]) -> int:
        untried = self.order.first(allowed & ~self.tried) if self._disjoint else None
        return self.order.largest(self.bounds(observation), allowed) if untried is None else untried

    def _begin(self, n_seen: int) -> None:
        """Make empty regressions for observations of this length, which includes the constant."""
        self._n_seen = n_seen
        k, d = (self.n_actions, n_seen) if self._disjoint else (1, self._bits.shape[1] * n_seen)
        self._model = Ridge(k, d, self.ridge, self.discount, self.window)

    def _context(self, observation: Any) -> Floats:
        """o."""
        if self.features == "action":
            return np.ones(1)
        o = with_one(vector(observation))
        if self._n_seen >= 0 and len(o) != self._n_seen:
            raise InputError(f"the observation has {len(o) - 1} entries, this agent has learnt from {self._n_seen - 1}")
        return o
