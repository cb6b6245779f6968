"""The chain: whether what a batch has recorded is still what it was.

Test cases can walk up the stack and change the lists and dictionaries of the runner. A tuple cannot be changed, so after
each test case its record goes into a tuple around that of the one before; at the end the lists are compared with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["OPEN", "Seal", "holds", "sealed"]

Seal = tuple[Any, ...]
"""The seal before the test case, its result, how many traces there are, and those that it added."""

OPEN: Seal = ()
"""Of a batch of which no test case has run."""


def sealed(seal: Seal, results: Sequence[Any], fresh: Sequence[Any]) -> Seal:
    """The seal after the test case that has given the last result.

    Args:
        seal: before it.
        results: of the batch.
        fresh: traces of the batch that are new to its process.
    """
    known = seal[2] if seal else 0
    count = len(fresh)
    return seal, results[-1], count, () if count == known else tuple(fresh[known:])


def holds(seal: Seal, results: Sequence[Any], fresh: Sequence[Any]) -> bool:
    """Nothing was added, removed or replaced since it was sealed."""
    end = len(fresh)
    for result in reversed(results):
        if not seal or seal[1] is not result or seal[2] != end:
            return False
        seal, _, _, added = seal
        end -= len(added)
        if any(trace is not fresh[end + at] for at, trace in enumerate(added)):
            return False
    return seal == OPEN and end == 0
