"""The seal: detects changes to the results that a batch has recorded.

Test cases can walk up the stack and change the lists and dictionaries of the runner. A tuple cannot be changed. So each
record goes into a tuple that contains the tuple of the record before. At the end the lists are compared with this
chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["OPEN", "Seal", "holds", "sealed"]

Seal = tuple[Any, ...]
"""The previous seal, the result of the test case, the number of traces, and the traces that it added."""

OPEN: Seal = ()
"""The seal of a batch in which no test case has run."""


def sealed(seal: Seal, results: Sequence[Any], fresh: Sequence[Any]) -> Seal:
    """Return the seal after the test case that produced the last result.

    Args:
        seal: the seal before this test case.
        results: results of the batch.
        fresh: traces of the batch that are new to its process.
    """
    known = seal[2] if seal else 0
    count = len(fresh)
    return seal, results[-1], count, () if count == known else tuple(fresh[known:])


def holds(seal: Seal, results: Sequence[Any], fresh: Sequence[Any]) -> bool:
    """Return True if no result or trace was added, removed or replaced after it was sealed."""
    end = len(fresh)
    for result in reversed(results):
        if not seal or seal[1] is not result or seal[2] != end:
            return False
        seal, _, _, added = seal
        end -= len(added)
        if any(trace is not fresh[end + at] for at, trace in enumerate(added)):
            return False
    return seal == OPEN and end == 0
