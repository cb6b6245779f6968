"""Fixed: always the same fitness functions, as in common practice; the baseline of comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiBinary, Space
from numpy.typing import NDArray

from fitgym.agents._behaviour import certain
from fitgym.agents._space import fitted
from fitgym.agents.base import Agent
from fitgym.agents.transition import Action
from fitgym.errors import InputError, UnknownName

__all__ = ["Fixed", "named"]


def named(action_space: Space[Any], action_names: Sequence[str], combination: str) -> Action:
    """The action that has these fitness functions, see `Fixed`.

    Args:
        action_space: `Discrete`, `MultiBinary` or `Box`.
        action_names: of the agent.
        combination: names joined by `+`, in any order.

    Raises:
        UnknownName: there is none.
    """
    wanted = _parts(combination)
    if isinstance(action_space, Discrete):
        actions = [i for i, name in enumerate(action_names) if _parts(name) == wanted]
        if not actions:
            raise UnknownName("action", combination, action_names)
        return actions[0]
    for name in sorted(wanted - set(action_names)):
        raise UnknownName("action", name, action_names)
    bits = np.array([name in wanted for name in action_names])
    if isinstance(action_space, Box):
        low, high = action_space.low, action_space.high
        return np.where(bits, np.clip(np.float32(1), low, high), low)
    return bits.astype(np.int8)


class Fixed(Agent):
    """Takes one named action at every step.

    | space | action of `fixed:exception+branch` |
    |---|---|
    | `Discrete` | the action that has these fitness functions |
    | `MultiBinary` | these bits are 1, the others 0 |
    | `Box` | 1 for these numbers (at most their upper bound), the lower bound for the others |

    Args:
        action_space: as for every agent.
        action_names: the combinations of a catalogue, each a list of fitness functions joined by `+`; for `MultiBinary`
            and `Box` the fitness functions.
        seed: as for every agent; not used.
        combination: the action to take, for example `exception+branch`. The order of the fitness functions does not
            matter. The default is the first name.

    Raises:
        UnknownName: no action of the catalogue has these fitness functions, or one of them does not exist.
    """

    spaces: ClassVar[tuple[type[Space[Any]], ...]] = (Discrete, MultiBinary, Box)

    def __init__(
        self,
        action_space: Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        combination: str = "",
    ) -> None:
        super().__init__(action_space, action_names, seed)
        self.combination = combination or self.action_names[0]
        self.action = named(self.action_space, self.action_names, self.combination)

    @classmethod
    def options(cls, argument: str) -> dict[str, Any]:
        """The whole argument is the combination."""
        return {"combination": argument}

    def repertoire(self) -> Sequence[Action]:
        return (self.action,)

    def act(self, observation: Any, info: Mapping[str, Any]) -> Action:
        """The named action.

        Raises:
            InputError: the environment does not allow it here.
        """
        return self.choose(observation, self.allowed(info), None)

    def probabilities(self, observation: Any, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Probability 1 of the named action of `Discrete`, see `fitgym.agents._behaviour`."""
        return certain(self.choose(observation, allowed, None), self.n_actions)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> Action:
        """The named action.

        Raises:
            InputError: the environment masks it. Another action would falsify the baseline.
        """
        action = self.action
        if isinstance(action, int):
            is_allowed = bool(allowed[action])
        else:
            is_allowed = isinstance(self.action_space, Box) or bool((fitted(action, allowed) == action).all())
        if not is_allowed:
            raise InputError(f"action '{self.combination}' is not allowed here: the environment masks it")
        return action if isinstance(action, int) else action.copy()


def _parts(name: str) -> frozenset[str]:
    return frozenset(part.strip() for part in name.split("+"))
