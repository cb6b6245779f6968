"""Records: dicts with known keys, each with a value of its own hint."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fitgym.chance import Chance
from fitgym.testcase.draft import Draft
from fitgym.testcase.expression import Collection, Expression, Literal

__all__ = ["record"]

_COMPLETE = 0.5  # probability that no key is left out
_PRESENT = 0.7  # probability of each key otherwise

Draw = Callable[[Draft, Chance, int], Expression]


def record(fields: Sequence[tuple[Literal, Draw]], draft: Draft, rng: Chance, depth: int) -> Collection:
    """Draw a dict: with all keys half of the time, otherwise with some of them.

    Args:
        fields: each key with the form that draws its value.
        draft: the statements that values may refer to.
        rng: source of random numbers.
        depth: current nesting.
    """
    complete = rng.random() < _COMPLETE
    parts: list[Expression] = []
    for key, draw in fields:
        if complete or rng.random() < _PRESENT:
            parts += (key, draw(draft, rng, depth + 1))
    return Collection("dict", tuple(parts))
