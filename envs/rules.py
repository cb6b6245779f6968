"""Rules that choose the part to search next, as baselines and as actions of `Programs`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from fitgym.envs.parts import Parts

__all__ = ["POINTERS", "POINTING", "RULES", "Rule"]

Rule = Callable[[Parts, np.random.Generator], int]
"""Returns the number of a part, or that of the whole subject if no part has an open branch."""

Pointer = Callable[[Parts], int]


def _whole(parts: Parts, chance: np.random.Generator | None = None) -> int:
    return parts.whole


def _random(parts: Parts, chance: np.random.Generator) -> int:
    found = _open(parts)
    return found[int(chance.integers(len(found)))]


def _round_robin(parts: Parts, chance: np.random.Generator) -> int:
    return min(_open(parts), key=lambda number: parts.seen[number].spent)


def _proportional(parts: Parts, chance: np.random.Generator) -> int:
    """Choose slices in proportion to the open branches."""
    return min(_open(parts), key=lambda n: (parts.seen[n].spent + 1.0) / max(1.0, parts.seen[n].left))


def _patient(patience: int) -> Rule:
    """Return a rule: stay with a part for `patience` idle slices, then take the one that failed least often."""

    def rule(parts: Parts, chance: np.random.Generator) -> int:
        found, seen = _open(parts), parts.seen
        if parts.last in found and seen[parts.last].idle < patience:
            return parts.last
        return min(found, key=lambda n: (seen[n].idle // patience, seen[n].spent))

    return rule


def _recent_gain(parts: Parts, chance: np.random.Generator) -> int:
    """Choose the part with the largest gain in its last slice; with probability 0.1 a random part.

    A part without a slice comes first.
    """
    found, seen = _open(parts), parts.seen
    if chance.random() < 0.1:
        return found[int(chance.integers(len(found)))]
    return max(found, key=lambda n: (seen[n].spent == 0, seen[n].gain, -seen[n].spent))


RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "whole": _whole,
        "random": _random,
        "round_robin": _round_robin,
        "proportional": _proportional,
        "recent_gain": _recent_gain,
        "nearest": lambda parts, chance: _nearest(parts),
        **{f"patient_{n}": _patient(n) for n in (1, 2, 4, 8)},
    }
)
"""The rules by name."""


def _stay(parts: Parts) -> int:
    return parts.last if parts.last in parts.open else parts.offers[0]


def _nearest(parts: Parts) -> int:
    return min(_others(parts), key=lambda n: (parts.seen[n].idle, parts.seen[n].distance))


def _promising(parts: Parts) -> int:
    return min(_others(parts), key=lambda n: (-parts.seen[n].approach, parts.seen[n].idle, parts.seen[n].spent))


POINTERS: Final[Mapping[str, Pointer]] = MappingProxyType(
    {
        "stay": _stay,
        "first": lambda parts: parts.offers[0],
        "second": lambda parts: parts.offers[1],
        "third": lambda parts: parts.offers[2],
        "nearest": _nearest,
        "promising": _promising,
        "whole": lambda parts: parts.whole,
    }
)
"""The part that each action of `Programs` points to:

| action | part |
|---|---|
| stay | the part of the last slice |
| first, second, third | the parts on offer, with the fewest slices; one that is not taken moves to their end |
| nearest | the part with the fewest idle slices, and among these the one with the nearest open branch |
| promising | the part with the largest approach in its last slice |
| whole | all parts |

All of these parts have open branches. Only `stay` points to the part of the last slice, unless no other part is open.
"""


def _pointing(patience: int, otherwise: str) -> Callable[[Parts], str]:
    """Return a rule that stays with a part for at most `patience` idle slices, then points to `otherwise`."""

    def rule(parts: Parts) -> str:
        stays = parts.last in parts.open and parts.seen[parts.last].idle < patience
        return "stay" if stays else otherwise

    return rule


POINTING: Final[Mapping[str, Callable[[Parts], str]]] = MappingProxyType(
    {
        f"patient_{patience}_{otherwise}": _pointing(patience, otherwise)
        for patience in (1, 2, 3, 5)
        for otherwise in ("first", "nearest", "promising")
    }
)
"""Rules that choose among `POINTERS`, by name."""


def _open(parts: Parts) -> Sequence[int]:
    return parts.open or [parts.whole]


def _others(parts: Parts) -> Sequence[int]:
    return [number for number in parts.open if number != parts.last] or _open(parts)
