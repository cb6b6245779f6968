"""The form of actions: how what an agent chooses becomes a combination of fitness functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.envs.catalogue import Action, action_name, catalogue

__all__ = ["ActionForm", "Bits", "Chosen", "Listed", "Weights", "action_form"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What an action means.

    Attributes:
        functions: that are to be active; none to leave those that are.
        name: of the action, for records.
        number: of the action from 0 on, or of its functions less one where actions have no numbers.
        weights: of the functions in the sum that guides the search; 1 for those that are not named.
    """

    functions: Action
    name: str
    number: int
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name as it is shown: weights rounded, and a word for an action that leaves everything as it was."""
        return " + ".join(f"{weight:.2f} {name}" for name, weight in self.weights.items()) or self.name or "as before"


class ActionForm(ABC):
    """A form of actions.

    Attributes:
        space: of the actions.
        names: of the actions, or of the parts of one.
        combinations: what can become active, each a combination.
    """

    space: spaces.Space[Any]
    names: list[str]
    combinations: list[Action]

    @abstractmethod
    def read(self, action: Any) -> Chosen:
        """What an action means.

        Raises:
            ValueError: it is not in the space.
        """

    def mask(self) -> NDArray[np.bool_]:
        """Nothing is forbidden, in the shape that sb3-contrib expects for the space."""
        return np.ones(len(self.names), dtype=bool)


class Listed(ActionForm):
    """`Discrete(n)`: the number of a combination in a list."""

    def __init__(self, combinations: list[Action]) -> None:
        self.combinations = combinations
        self.names = [action_name(functions) for functions in combinations]
        self.space = spaces.Discrete(len(combinations))

    def read(self, action: Any) -> Chosen:
        number = int(action)
        if not 0 <= number < len(self.combinations):
            raise ValueError(f"action {number} is not in the catalogue of {len(self.combinations)} actions")
        return Chosen(self.combinations[number], self.names[number], number)


class Bits(ActionForm):
    """`MultiBinary(n)`: for each fitness function whether it is active. No bit at all leaves active what is."""

    def __init__(self, functions: Sequence[str]) -> None:
        self.names = list(functions)
        self.combinations = [(name,) for name in functions]
        self.space = spaces.MultiBinary(len(functions))

    def read(self, action: Any) -> Chosen:
        bits = np.asarray(action)
        if bits.shape != (len(self.names),) or not np.isin(bits, (0, 1)).all():
            raise ValueError(f"action {action} is not {len(self.names)} bits, one for each fitness function")
        functions = tuple(name for name, bit in zip(self.names, bits, strict=True) if bit)
        return Chosen(functions, action_name(functions), len(functions) - 1)

    def mask(self) -> NDArray[np.bool_]:
        return np.ones(2 * len(self.names), dtype=bool)  # each bit may be 0 and may be 1


class Weights(ActionForm):
    """`Box(-1, 1, (n,))`: the weight (1 + x) / 2 of each fitness function, which is not active at -1.

    The interval is the one that algorithms with normal distributions start well in. -1 everywhere leaves active what is.
    """

    def __init__(self, functions: Sequence[str]) -> None:
        self.names = list(functions)
        self.combinations = [(name,) for name in functions]
        self.space = spaces.Box(-1.0, 1.0, (len(functions),), np.float32)

    def read(self, action: Any) -> Chosen:
        x = np.asarray(action, np.float64)
        if x.shape != (len(self.names),) or not (np.abs(x) <= 1.0).all():
            raise ValueError(f"action {action} is not {len(self.names)} numbers between -1 and 1")
        weights = {name: w for name, w in zip(self.names, ((1.0 + x) / 2.0).tolist(), strict=True) if w > 0}
        return Chosen(
            tuple(weights), "+".join(f"{w!r}*{name}" for name, w in weights.items()), len(weights) - 1, weights
        )


def action_form(kind: str | Sequence[str], functions: Sequence[str], required: Sequence[str] = ()) -> ActionForm:
    """The form that is asked for: "bits", "weights", or a catalogue with the arguments of `catalogue`.

    Raises:
        InputError: the catalogue cannot be made.
    """
    if kind == "bits":
        return Bits(functions)
    if kind == "weights":
        return Weights(functions)
    return Listed(catalogue(kind, functions, required))
