"""Text distance: the distance of two strings, or of two bytes objects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from fitgym.instrument.relations import Relations, ordered

__all__ = ["TEXT", "text", "text_within"]

TEXT = 16
"""Number of characters compared one by one. A longer comparison would cost more than the code under test."""

# Results for two strings of at most this total length are cached.
_REMEMBERED = 256


def text(left: Any, right: Any) -> Relations:
    """Return the relations of two strings, or two bytes or bytearrays.

    The distance to equality is computed after the common prefix and suffix are removed. It is the sum of

    - the difference in length;
    - c / (c + 1) for each of the first `TEXT` aligned positions, where c is the difference of the code points;
    - 1 for each further aligned position.

    The distance to an order is the difference of the code points at the first different position, or the difference in
    length if one string is a prefix of the other.

    Differs from EvoSuite, which adds c / (c + 1024) and does not remove the common parts: there an insertion near the
    beginning looks like a new string.
    """
    if type(left) is str and len(left) + len(right) <= _REMEMBERED:
        return _remembered_text(left, right)
    return _text(left, right)


def text_within(needle: Any, hay: Any) -> float:
    """Return the least number of characters of `hay` to change so that it contains `needle`, at least 0.5.

    Only the first `TEXT` positions and the first `TEXT` characters of `needle` count. Characters whose code points
    differ by c count c / (c + 1). If `needle` is longer than `hay`, each missing character adds 1.

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


# Most executions of a search compare the same strings: a cached result takes 0.1 instead of 2 to 5 microseconds.
_remembered_text = lru_cache(maxsize=1 << 13)(_text)


def _edit(left: Any, right: Any, start: int) -> float:
    """Return the distance to equality of two different strings whose first `start` characters are equal."""
    total = float(abs(len(left) - len(right)))
    aligned = min(len(left), len(right)) - start
    aligned -= _common_end(left, right, aligned)
    stop = start + min(aligned, TEXT)
    return total + _apart(left[start:stop], right[start:stop]) + max(aligned - TEXT, 0)


def _apart(left: Any, right: Any) -> float:
    """Return the sum of nu of the code point differences, over aligned positions."""
    total = 0.0
    for one, two in zip(_codes(left), _codes(right), strict=False):
        if one != two:
            gap = one - two if one > two else two - one
            total += gap / (gap + 1.0)
    return total


def _common(left: Any, right: Any) -> int:
    """Return the length of the common prefix, found by binary search."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(left: Any, right: Any, most: int) -> int:
    """Return the length of the common suffix, at most `most`."""
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
    """Return the least number of characters to change so that `hay` contains `needle`, see `text_within`."""
    size = len(needle)
    if size > len(hay):
        return float(size - len(hay)) + _apart(needle[:TEXT], hay[:TEXT])
    positions = range(min(len(hay) - size + 1, TEXT))
    wanted = needle[:TEXT]
    return max(min(_apart(wanted, hay[start : start + size]) for start in positions), 0.5)


_remembered_within = lru_cache(maxsize=1 << 13)(_within)
