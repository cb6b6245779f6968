"""Numbered tasks: an environment on generated tasks draws another one at every reset, from its split.

A task is the number from which everything about it is generated: a program, a landscape. The splits are ranges of
numbers, the same for every environment with numbered tasks:

| split | numbers | for |
|---|---|---|
| validation | 0 to 199 | choosing among policies and settings |
| test | 200 to 399 | reporting |
| train | 1,000 to 2^31 - 1 | learning |

Numbers from 400 to 999 belong to no split. They are left to people who judge a policy that somebody else has trained.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from fitgym.errors import InputError, UnknownName

__all__ = ["SPLITS", "drawn", "numbers", "task_of"]

LARGEST: Final = 2**31
"""Numbers of tasks are below it."""

SPLITS: Final[Mapping[str, range]] = {
    "train": range(1000, LARGEST),
    "validation": range(200),
    "test": range(200, 400),
}
"""The numbers of each split."""


def numbers(split: str) -> range:
    """The numbers of a split, or of a range that is written out, both ends included: 400-499.

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
    """A task of a split, each with the same probability.

    Raises:
        InputError: see `numbers`.
    """
    found = numbers(split)
    return int(chance.integers(found.start, found.stop))


def task_of(given: Any) -> int:
    """The number of a task that `reset(options={"task": ...})` was given.

    Raises:
        InputError: it is no whole number from 0 to 2^31 - 1.
    """
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not 0 <= given < LARGEST:
        raise InputError(f"task {given!r} cannot be used: expected a whole number from 0 to 2^31 - 1")
    return int(given)
