"""Records: dicts whose keys are known, each with a value of its own kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fitgym.subject.code.patterns import Chance
from fitgym.testcase.draft import Draft
from fitgym.testcase.expression import Collection, Expression, Literal

__all__ = ["record"]

_COMPLETE = 0.5  # how often no key is left out
_PRESENT = 0.7  # how often a key is there otherwise

Draw = Callable[[Draft, Chance, int], Expression]


def record(fields: Sequence[tuple[Literal, Draw]], draft: Draft, rng: Chance, depth: int) -> Collection:
    """A dict with all of the keys half of the time, with some of them otherwise.

    Args:
        fields: each key with what draws its value.
        draft: the statements that values may refer to.
        rng: source of chance.
        depth: nesting so far.
    """
    complete = rng.random() < _COMPLETE
    parts: list[Expression] = []
    for key, draw in fields:
        if complete or rng.random() < _PRESENT:
            parts += (key, draw(draft, rng, depth + 1))
    return Collection("dict", tuple(parts))
