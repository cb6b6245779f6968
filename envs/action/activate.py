"""Actions that activate fitness functions: a combination from a catalogue, a set of bits, or weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.engine import Engine
from fitgym.envs.action.base import Action, ActionSpace, Listed, Numbers
from fitgym.envs.catalogue import action_name, catalogue, parse_action
from fitgym.errors import InputError
from fitgym.evolution.individual import Individual

__all__ = ["Activate", "Bits", "Weights", "choices", "listed"]


@dataclass(frozen=True, kw_only=True)
class Activate(Action):
    """Activates fitness functions. If the action names none, the active functions stay.

    Attributes:
        functions: the functions to activate.
        weights: their weights in the combined fitness; 1 for functions without an entry.
        population: the population to resume; None for the current one.
    """

    functions: tuple[str, ...]
    weights: Mapping[str, float] = field(default_factory=dict)
    population: tuple[Individual, ...] | None = None

    def apply(self, engine: Engine) -> None:
        if self.functions:
            population = None if self.population is None else list(self.population)
            engine.activate(self.functions, population, self.weights)

    def describe(self, parts: Sequence[str]) -> tuple[float, ...]:
        """1 for each function that the action activates, else 0."""
        return tuple(float(part in self.functions) for part in parts)

    @property
    def label(self) -> str:
        """The name for displays, with rounded weights."""
        return " + ".join(f"{weight:.2f} {name}" for name, weight in self.weights.items()) or super().label


class Bits(ActionSpace):
    """`MultiBinary(n)`: one bit per fitness function. With no bit set, the active functions stay."""

    def __init__(self, functions: Sequence[str], title: str = "") -> None:
        self.names = list(functions)
        self.functions = tuple(functions)
        self.title = title
        self.space = spaces.MultiBinary(len(self.names))

    def read(self, raw: Any) -> Activate:
        bits = np.asarray(raw)
        if bits.shape != (len(self.names),) or not np.isin(bits, (0, 1)).all():
            raise ValueError(f"action {raw} is not {len(self.names)} bits, one for each fitness function")
        functions = tuple(name for name, bit in zip(self.names, bits, strict=True) if bit)
        name = action_name(functions)
        return Activate(name=name, recorded=name, index=len(functions) - 1, functions=functions)

    def raw(self, recorded: Any) -> NDArray[np.int8]:
        if not isinstance(recorded, str):
            raise InputError(f"action {recorded!r} cannot be repeated: expected names joined by +, such as branch+line")
        chosen = parse_action(recorded, self.names) if recorded else ()
        return np.array([name in chosen for name in self.names], np.int8)

    def mask(self) -> NDArray[np.bool_]:
        return np.ones(2 * len(self.names), dtype=bool)  # each bit may be 0 and may be 1


class Weights(Numbers):
    """`Box(-1, 1, (n,))`: entry x gives a fitness function the weight (1 + x) / 2; it is inactive at -1.

    If every entry is -1, nothing changes.
    """

    def __init__(self, functions: Sequence[str], title: str = "") -> None:
        super().__init__(functions, title, functions)

    def read(self, raw: Any) -> Activate:
        x = self.numbers(raw).astype(np.float64)
        weights = {name: w for name, w in zip(self.names, ((1.0 + x) / 2.0).tolist(), strict=True) if w > 0}
        return Activate(
            name="+".join(f"{w!r}*{name}" for name, w in weights.items()),
            recorded=tuple(x.tolist()),
            index=len(weights) - 1,
            functions=tuple(weights),
            weights=weights,
        )


def listed(combinations: Sequence[tuple[str, ...]], title: str = "") -> Listed:
    """Return the `Discrete` space over several combinations."""
    names = [action_name(functions) for functions in combinations]
    actions = [
        Activate(name=name, recorded=name, index=index, functions=functions)
        for index, (name, functions) in enumerate(zip(names, combinations, strict=True))
    ]
    return Listed(actions, title, tuple(dict.fromkeys(name for functions in combinations for name in functions)))


def choices(
    kind: str | Sequence[str], functions: Sequence[str], required: Sequence[str] = (), of: str = ""
) -> ActionSpace:
    """Return the action space of a kind: "bits", "weights", or a catalogue.

    Args:
        kind: "bits", "weights", or a catalogue as in `fitgym.envs.catalogue.catalogue`.
        functions: the fitness functions to choose from.
        required: the functions that every combination of "paper" contains.
        of: the text that stands for the functions in the title; their names if empty.

    Raises:
        InputError: the catalogue cannot be built.
    """
    whose = of or ", ".join(functions)
    if kind == "bits":
        return Bits(functions, f"bits of {whose}")
    if kind == "weights":
        return Weights(functions, f"weights of {whose}")
    combinations = catalogue(kind, functions, required)
    title = f"{kind} of {whose}" if isinstance(kind, str) else f"list of {', '.join(map(action_name, combinations))}"
    return listed(combinations, title)
