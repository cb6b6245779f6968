"""Actions that set the probabilities of random test generation, each within a sensible range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from fitgym.engine import Engine
from fitgym.envs.action.base import Action, Numbers
from fitgym.errors import InputError, UnknownName
from fitgym.testcase.rates import DEFAULT, Rates

__all__ = ["RANGES", "RateNumbers", "SetRates"]

RANGES: Final[Mapping[str, tuple[float, float]]] = {
    "tested_rate": (0.1, 0.9),
    "object_rate": (0.0, 0.8),
    "setter_rate": (0.0, 0.5),
    "delete_rate": (0.05, 0.9),
    "change_rate": (0.05, 0.9),
    "insert_rate": (0.05, 0.9),
    "insert_again": (0.1, 0.8),
    "object_reuse": (0.3, 1.0),
    "primitive_reuse": (0.0, 0.9),
    "ill_typed": (0.0, 0.3),
    "static_pool": (0.0, 0.95),
    "dynamic_pool": (0.0, 1.0),
    "pattern_rate": (0.0, 0.8),
    "assembled_rate": (0.0, 0.6),
    "optional_rate": (0.0, 1.0),
    "null_probability": (0.0, 0.5),
    "accepted_rate": (0.0, 0.5),
    "small_numbers": (0.0, 1.0),
    "random_perturbation": (0.0, 0.8),
    "repeat_builders": (0.0, 1.0),
    "repeat_calls": (0.0, 0.5),
    "repeat_items": (0.0, 0.5),
}
"""The lowest and the highest value of each rate that an agent may set. The default lies in between."""


@dataclass(frozen=True, kw_only=True)
class SetRates(Action):
    """Sets the rates of random test generation from the next generation.

    Attributes:
        rates: all rates.
        changed: the chosen rates by name.
    """

    rates: Rates
    changed: Mapping[str, float]

    def apply(self, engine: Engine) -> None:
        engine.set_rates(self.rates)

    def describe(self, parts: Sequence[str]) -> tuple[float, ...]:
        """(1 + x) / 2 for each chosen rate x in [-1, 1], in the order of `parts`."""
        assert not isinstance(self.recorded, str)
        return tuple((1.0 + x) / 2.0 for x in self.recorded)

    @property
    def label(self) -> str:
        """The chosen rates, rounded."""
        return ", ".join(f"{name} {value:.2f}" for name, value in self.changed.items())


class RateNumbers(Numbers):
    """`Box(-1, 1, (n,))`: -1 is the lowest value of a rate, 0 its default and 1 the highest, linear in between.

    The zero vector therefore restores the defaults exactly. `object_rate` is reduced if its sum with `tested_rate`
    would exceed 1.

    Args:
        names: names of the rates, see `RANGES`.

    Raises:
        InputError: no rate is named, or one is named twice.
        UnknownName: a name is not in `RANGES`.
    """

    def __init__(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in RANGES:
                raise UnknownName("rate", name, list(RANGES))
        if not names or len(set(names)) < len(names):
            raise InputError(f"the rates are {list(names)}, expected at least one and each of them once")
        super().__init__(names, f"rates {', '.join(names)}")

    def read(self, raw: Any) -> SetRates:
        numbers = self.numbers(raw).tolist()
        changed = {name: _between(name, x) for name, x in zip(self.names, numbers, strict=True)}
        tested = changed.get("tested_rate", DEFAULT.tested_rate)
        changes: dict[str, Any] = {
            **changed,
            "object_rate": min(changed.get("object_rate", DEFAULT.object_rate), 1.0 - tested),
        }
        shown = {name: changes[name] for name in self.names}
        return SetRates(
            name=",".join(f"{name}={value:.4g}" for name, value in shown.items()),
            recorded=tuple(numbers),
            rates=replace(DEFAULT, **changes),
            changed=shown,
        )


def _between(name: str, x: float) -> float:
    """Return the rate for a number x in [-1, 1]."""
    low, high = RANGES[name]
    default: float = getattr(DEFAULT, name)
    return default + x * (high - default) if x >= 0 else default + x * (default - low)
