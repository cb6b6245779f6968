"""Numbered tasks: an environment with generated tasks draws one from its split at every reset.

A task is a number from which a program or a landscape is generated. The splits are ranges of numbers, the same for
every environment with numbered tasks:

| split | numbers | for |
|---|---|---|
| validation | 0 to 199 | choosing among policies and settings |
| test | 200 to 399 | reporting |
| train | 1,000 to 2^31 - 1 | learning |

Numbers from 400 to 999 belong to no split. They are reserved for judging a policy that somebody else has trained.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from fitgym.errors import InputError, UnknownName

__all__ = ["SPLITS", "drawn", "numbers", "task_of"]

LARGEST: Final = 2**31
"""The exclusive upper bound of task numbers."""

SPLITS: Final[Mapping[str, range]] = {
    "train": range(1000, LARGEST),
    "validation": range(200),
    "test": range(200, 400),
}
"""The numbers of each split."""


def numbers(split: str) -> range:
    """Return the numbers of a split, or of an explicit range with both ends included, such as 400-499.

    Raises:
        UnknownName: there is no such split.
        InputError: the range is empty or out of bounds.
    """
    if split in SPLITS:
        return SPLITS[split]
    first, dash, last = split.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal()):
        raise UnknownName("split", split, [*SPLITS, "a range of numbers such as 400-499"])
    if not int(first) <= int(last) < LARGEST:
        raise InputError(f"split '{split}' has no tasks: expected FIRST-LAST with FIRST <= LAST < 2^31")
    return range(int(first), int(last) + 1)


def drawn(split: str, chance: np.random.Generator) -> int:
    """Draw a task of a split uniformly.

    Raises:
        InputError: see `numbers`.
    """
    found = numbers(split)
    return int(chance.integers(found.start, found.stop))


def task_of(given: Any) -> int:
    """Check the task number given to `reset(options={"task": ...})`.

    Raises:
        InputError: it is not a whole number from 0 to 2^31 - 1.
    """
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not 0 <= given < LARGEST:
        raise InputError(f"task {given!r} cannot be used: expected a whole number from 0 to 2^31 - 1")
    return int(given)
