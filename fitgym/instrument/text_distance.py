"""Text distance: how far two strings, or two bytes objects, are from each other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from fitgym.instrument.relations import Relations, ordered

__all__ = ["TEXT", "text", "text_within"]

TEXT = 16
"""How many characters of a string are compared one by one. A longer comparison costs more than the code under test."""

# Two strings of at most this length together are measured once.
_REMEMBERED = 256


def text(left: Any, right: Any) -> Relations:
    """The relations of two strings, or two bytes or bytearrays.

    Equality: after cutting off the common beginning and end, the difference in length plus, for each of the first
    `TEXT` aligned positions, c / (c + 1) for characters whose code points are c apart, plus 1 for each aligned position
    beyond. Order: the code points apart at the first difference, or the difference in length where one begins the other.
    EvoSuite adds c / (c + 1024) and cuts nothing off; then an insertion near the beginning looks like a new string.
    """
    if type(left) is str and len(left) + len(right) <= _REMEMBERED:
        return _remembered_text(left, right)
    return _text(left, right)


def text_within(needle: Any, hay: Any) -> float:
    """The least number of characters to change in `hay` so that it contains `needle`, at least 0.5.

    Only the first `TEXT` positions and the first `TEXT` characters of `needle` count. Characters that are c code points apart
    count c / (c + 1). Where `needle` is longer than `hay`, each missing character adds 1.

    Args:
        needle: a string or bytes object that is not in `hay`.
        hay: an object of the same type.
    """
    short = len(needle) + len(hay) <= _REMEMBERED
    return _remembered_within(needle, hay) if short else _within(needle, hay)


def _text(left: Any, right: Any) -> Relations:
    if left == right:
        return (1.0, 0.0, 1.0)
    start = _common(left, right)
    if start == len(left) or start == len(right):
        gap = abs(len(left) - len(right))
    else:
        gap = abs(_codes(left[start : start + 1])[0] - _codes(right[start : start + 1])[0])
    return ordered(-1 if left < right else 1, _edit(left, right, start), float(gap))


# The same strings meet at the same conditions in most executions of a search: 0.1 instead of 2 to 5 microseconds.
_remembered_text = lru_cache(maxsize=1 << 13)(_text)


def _edit(left: Any, right: Any, start: int) -> float:
    """The distance to equality of two different strings that share their first `start` characters."""
    total = float(abs(len(left) - len(right)))
    aligned = min(len(left), len(right)) - start
    aligned -= _common_end(left, right, aligned)
    stop = start + min(aligned, TEXT)
    return total + _apart(left[start:stop], right[start:stop]) + max(aligned - TEXT, 0)


def _apart(left: Any, right: Any) -> float:
    """The sum of nu of the code points apart, over aligned positions."""
    total = 0.0
    for one, two in zip(_codes(left), _codes(right), strict=False):
        if one != two:
            gap = one - two if one > two else two - one
            total += gap / (gap + 1.0)
    return total


def _common(left: Any, right: Any) -> int:
    """How many characters the two share at the beginning, found by halving."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(left: Any, right: Any, most: int) -> int:
    """How many characters the two share at the end, at most `most`."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if left[len(left) - middle : len(left) - low] == right[len(right) - middle : len(right) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _codes(part: Any) -> Sequence[int]:
    return [*map(ord, part)] if isinstance(part, str) else part


def _within(needle: Any, hay: Any) -> float:
    """The least number of characters of `hay` to change so that it holds `needle`, over the first `TEXT` positions."""
    size = len(needle)
    if size > len(hay):
        return float(size - len(hay)) + _apart(needle[:TEXT], hay[:TEXT])
    positions = range(min(len(hay) - size + 1, TEXT))
    wanted = needle[:TEXT]
    return max(min(_apart(wanted, hay[start : start + size]) for start in positions), 0.5)


_remembered_within = lru_cache(maxsize=1 << 13)(_within)
