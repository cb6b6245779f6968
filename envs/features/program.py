"""Program: a profile of the code under test, constant during an episode."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Final

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View, squash

__all__ = ["HALVES", "Program"]

HALVES: Final[Mapping[str, float]] = MappingProxyType(
    {
        "lines": 200.0,
        "imports": 5.0,
        "classes": 3.0,
        "functions": 20.0,
        "longest_function": 30.0,
        "operations": 20.0,
        "parameters": 2.0,
        "branches": 100.0,
        "branches_per_function": 5.0,
        "nesting": 4.0,
        "loops": 1.0,
        "returns": 2.0,
        "calls": 0.5,
        "strings": 30.0,
        "numbers": 10.0,
        "patterns": 2.0,
        "raises": 10.0,
        "handlers": 3.0,
        "type_checks": 5.0,
        "attribute_writes": 10.0,
        "yields": 3.0,
    }
)
"""The count at which the feature is one half."""

SHARES: Final = (
    *("subclasses", "receivers", "typed_parameters", "optional_parameters", "typed_results"),
    *("ordering", "equality", "membership", "identity", "truth", "rounds"),
)
"""The numbers that are in [0, 1] already."""


class Program(Block):
    """32 numbers about the source: 21 counts x as x / (x + half) with the half of `HALVES`, and 11 shares.

    `fitgym.subject.profile.profile` defines each number. They are computed from the source and the signatures, without
    executing anything. With them, a policy trained on many modules can treat modules differently.
    """

    reads_inactive: ClassVar[bool] = False

    def names(self, view: View) -> list[str]:
        return [f"program_{name}" for name in (*HALVES, *SHARES)]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        found = engine.subject.profile
        return [*(squash(found[name], half) for name, half in HALVES.items()), *(found[name] for name in SHARES)]
