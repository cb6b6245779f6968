"""Branch distance: how close a condition came to the opposite outcome.

A comparison is measured as the distances to three relations, see `fitgym.instrument.relations`. Strings are measured in
`fitgym.instrument.text_distance`.

References:
    EvoSuite 1.0.7 (class `BranchDistance` of the bytecode replacement, K = 1), after Korel 1990 and Tracey et al. 1998:
    |a - b| for equality, and gap + 1 for a strict order that does not hold. Java has no long integers, no comparison of
    containers and no truth values of objects, so each function here describes its own distance.

The outcome is authoritative. Operands may be partially ordered (sets), unordered (NaN), or of mixed or unknown types.
If the measured relation contradicts the outcome, only the outcome counts. Therefore the distance to an outcome is 0
exactly when the outcome occurred. It is never negative, never NaN and always finite.

Only objects of exactly the built-in types and a few numeric and time types are measured. A subclass may override any
method, and calling it would be a side effect that the original program does not have.
"""

from __future__ import annotations

import sys
from builtins import id
from collections.abc import Callable
from itertools import islice
from typing import Any

from fitgym.instrument.relations import FALSE_SLOTS, FAR, FURTHEST, TRUE_SLOTS, Relations, finite, nu, ordered
from fitgym.instrument.text_distance import text, text_within

__all__ = ["ITEMS", "compared", "contained", "nearest", "size", "truth"]

# `TRUE_SLOTS` and `FALSE_SLOTS` as bit sets.
_RELATIONS = {
    operator: (sum(1 << slot for slot in TRUE_SLOTS[operator]), sum(1 << slot for slot in FALSE_SLOTS[operator]))
    for operator in TRUE_SLOTS
}

ITEMS = 8
"""Number of elements of a container that are compared."""

# Types are looked up by id: a metaclass may define `__eq__` and `__hash__`, or make its classes unhashable.
_INTEGERS = frozenset({id(int), id(bool)})
_NUMBERS = frozenset({*_INTEGERS, id(float)})
_SETS = frozenset({id(set), id(frozenset)})
_CONTAINERS = frozenset({*_SETS, id(list), id(tuple), id(dict)})
_SIZED = frozenset({*_CONTAINERS, id(str), id(bytes), id(bytearray), id(range)})
# Comparing these never runs code of the program, at any nesting.
_LEAVES = frozenset({*_NUMBERS, id(complex), id(str), id(bytes), id(type(None))})
_EXACT = 2**53
_LONGEST = 64

# Relations of operands that cannot be measured: only the outcome counts, as one relation if it implies one.
_UNMEASURED: dict[tuple[str, bool], Relations] = {
    ("<", True): (0.0, 1.0, 1.0),
    ("<", False): (1.0, 1.0, 0.0),
    ("<=", True): (0.0, 1.0, 1.0),
    ("<=", False): (1.0, 1.0, 0.0),
    ("==", True): (1.0, 0.0, 1.0),
    ("==", False): (0.0, 1.0, 0.0),
    ("!=", True): (0.0, 1.0, 0.0),
    ("!=", False): (1.0, 0.0, 1.0),
    (">", True): (1.0, 1.0, 0.0),
    (">", False): (0.0, 1.0, 1.0),
    (">=", True): (1.0, 1.0, 0.0),
    (">=", False): (0.0, 1.0, 1.0),
}


def compared(operator: str, left: Any, right: Any, outcome: bool) -> Relations:
    """Return (d_lt, d_eq, d_gt) for one evaluation of `left operator right` with result `outcome`.

    Numbers are measured as in `fitgym.instrument.relations`. So are `Decimal`, dates (in days), times and durations (in
    seconds). Strings and bytes: see `text`. Lists and tuples: see `_sequences`. Dicts: see `_mappings`. Sets: the
    number of elements that only one of them has. Values of different kinds have the distance `FAR` to equality, and two
    objects of unknown kinds have the distance 1.
    """
    kind = id(type(left))
    other = id(type(right))
    found: Relations | None
    if kind in _NUMBERS and other in _NUMBERS:
        found = _numbers(left, right)
    elif kind == other:
        measure = _MEASURES.get(kind) or _measure_of_loaded(type(left))
        found = measure(left, right) if measure is not None else None
    else:
        found = _mixed(left, right)
    if found is None:
        return _UNMEASURED[operator, outcome]
    lt, eq, gt = found
    seen = (0 if lt else 1) | (0 if eq else 2) | (0 if gt else 4)
    true, false = _RELATIONS[operator]
    if (true & seen != 0) is outcome and (false & seen != 0) is not outcome:
        return found
    # For NaN, partial orders, floats with a rounded difference, and numbers of mixed types the outcome decides.
    scale = max(eq, 1.0)
    lt, eq, gt = _UNMEASURED[operator, outcome]
    return (lt * scale, eq * scale, gt * scale)


def contained(operator: str, left: Any, right: Any, outcome: bool) -> tuple[float, float]:
    """Return (distance to true, distance to false) of `in`, `not in`, `is`, `is not`.

    Towards membership it is the least distance to equality with one of the first `ITEMS` elements. For a string in a
    string it is the least number of characters to change at one of the first `TEXT` positions. Towards identity, and
    away from membership or identity, it is 1.
    """
    if outcome:
        wanted = 1.0
        if operator == "not in":
            wanted = nearest(left, right)
        return (0.0, wanted)
    wanted = 1.0
    if operator == "in":
        wanted = nearest(left, right)
    return (wanted, 0.0)


def truth(value: Any, outcome: bool) -> tuple[float, float]:
    """Return (distance to true, distance to false) of a condition value.

    The distance of a true number to false is its absolute value, of a container its length, of any other object 1. The
    distance of a false value to true is 1.
    """
    if not outcome:
        return (1.0, 0.0)
    kind = id(type(value))
    if kind in _NUMBERS or kind == id(complex):
        try:
            return (0.0, finite(abs(value)))
        except OverflowError:
            return (0.0, FURTHEST)
    if kind in _SIZED:
        return (0.0, size(value))
    return (0.0, 1.0)


def size(container: Any) -> float:
    """Return the number of elements of a built-in container; `FURTHEST` for a range too long for `len`."""
    try:
        return float(len(container))
    except OverflowError:
        return FURTHEST


def _numbers(left: Any, right: Any) -> Relations:
    if left == right:
        return (1.0, 0.0, 1.0)
    if type(left) is int and type(right) is int and -_EXACT < left - right < _EXACT:
        return (
            (0.0, float(right - left), right - left + 1.0)
            if left < right
            else (left - right + 1.0, float(left - right), 0.0)
        )
    if left != left or right != right:
        return (0.0, FAR, 0.0)
    try:
        gap = finite(left - right)
    except OverflowError:
        gap = FURTHEST
    # The difference of an integer and a float may round to 0 although they differ.
    gap = gap or sys.float_info.min
    return ordered(-1 if left < right else 1, gap, gap)


def _complex(left: complex, right: complex) -> Relations:
    if left == right:
        return (1.0, 0.0, 1.0)
    try:
        gap = finite(abs(left - right))
    except OverflowError:
        gap = FURTHEST
    return (0.0, gap if gap == gap and gap > 0.0 else FAR, 0.0)


def _sequences(left: Any, right: Any) -> Relations:
    """Measure two lists or two tuples.

    The distance to equality is the difference in length plus nu of the distance of each of the first `ITEMS` pairs.
    The order is that of the first pair that differs. If they are longer than `_LONGEST` or hold objects that are not
    built-in, only the lengths count.
    """
    longer = abs(len(left) - len(right))
    if not (_is_plain(left) and _is_plain(right)):
        return (0.0, float(longer or 1), 0.0)
    if left == right:
        return (1.0, 0.0, 1.0)
    total = float(longer)
    first: Relations | None = None
    for one, two in zip(left[:ITEMS], right[:ITEMS]):  # noqa: B905  (an option costs as much as a comparison)
        if one == two:
            continue
        if type(one) is str and type(two) is str:
            relations = text(one, two)
        elif id(type(one)) in _NUMBERS and id(type(two)) in _NUMBERS:
            relations = _numbers(one, two)
        else:
            relations = compared("==", one, two, False)
        total += nu(relations[1])
        first = first or relations
    if first is not None:
        return (first[0], total, first[2])
    if not longer or min(len(left), len(right)) > ITEMS:
        return (0.0, total or 1.0, 0.0)  # they differ beyond the first `ITEMS` pairs
    return ordered(-1 if len(left) < len(right) else 1, total, total)


def _mappings(left: Any, right: Any) -> Relations:
    """Measure two dicts.

    The distance to equality is the number of keys that only one has, plus nu of the distance of the values of each
    common key.
    If they hold objects that are not built-in, or many items, only the lengths count.
    """
    if not all(_is_plain(part) for part in (left, right, left.values(), right.values())):
        return (0.0, float(max(abs(len(left) - len(right)), 1)), 0.0)
    if left == right:
        return (1.0, 0.0, 1.0)
    total = float(len(left.keys() ^ right.keys()))
    for key, value in left.items():
        if key in right and value != right[key]:
            total += nu(compared("==", value, right[key], False)[1])
    return (0.0, total, 0.0)


def _sets(left: Any, right: Any) -> Relations:
    """Measure two sets by the number of elements that only one has. Inclusion is only known from the outcome."""
    if not (_is_plain(left) and _is_plain(right)):
        return (0.0, float(max(abs(len(left) - len(right)), 1)), 0.0)
    difference = float(len(left ^ right))
    return (0.0, difference, 0.0) if difference else (1.0, 0.0, 1.0)


def _is_plain(container: Any, depth: int = 2) -> bool:
    """Return True if comparing the container runs no code of the program. Long containers return False."""
    if len(container) > _LONGEST:
        return False
    for item in container:
        if type(item) is int or type(item) is str:
            continue
        kind = id(type(item))
        if kind in _LEAVES:
            continue
        if kind not in _CONTAINERS or kind == id(dict) or not depth or not _is_plain(item, depth - 1):
            return False
    return True


def _mixed(left: Any, right: Any) -> Relations | None:
    """Measure two objects of different types. Numbers are compared as floats; other kinds have the distance `FAR`."""
    one, two = type(left), type(right)
    if id(one) in _MEASURES or id(two) in _MEASURES:
        if id(one) in _SETS and id(two) in _SETS:
            return _sets(left, right)
        return (0.0, FAR, 0.0)
    if _is_number(one) and _is_number(two):
        return _as_floats(left, right)
    return (0.0, FAR, 0.0) if id(one) in _NUMBERS or id(two) in _NUMBERS else None


def _is_number(kind: type) -> bool:
    return id(kind) in _NUMBERS or _measure_of_loaded(kind) is _as_floats


def _as_floats(left: Any, right: Any) -> Relations:
    """Measure Decimals and Fractions as floats, because decimal arithmetic sets flags of the program's context."""
    try:
        return _numbers(float(left), float(right))
    except OverflowError:
        return (0.0, FURTHEST, 0.0)
    except ValueError:  # a signalling NaN
        return (0.0, FAR, 0.0)


def _seconds(left: Any, right: Any) -> Relations | None:
    """Measure dates with times, or durations, in seconds."""
    try:
        difference = left - right
    except TypeError:  # only one of them has a time zone
        return None
    except OverflowError:
        return (0.0, FURTHEST, 0.0)
    gap = difference.total_seconds()
    return ordered((gap > 0) - (gap < 0), abs(gap), abs(gap))


def _days(left: Any, right: Any) -> Relations:
    gap = left.toordinal() - right.toordinal()
    return ordered((gap > 0) - (gap < 0), float(abs(gap)), float(abs(gap)))


_MEASURES: dict[int, Callable[[Any, Any], Relations | None]] = {
    id(complex): _complex,
    id(str): text,
    id(bytes): text,
    id(bytearray): text,
    id(list): _sequences,
    id(tuple): _sequences,
    id(dict): _mappings,
    id(set): _sets,
    id(frozenset): _sets,
    id(type(None)): lambda left, right: (1.0, 0.0, 1.0),
}

# By name, so that measuring imports no module that the program did not import.
_LOADED: dict[tuple[str, str], Callable[[Any, Any], Relations | None]] = {
    ("decimal", "Decimal"): _as_floats,
    ("fractions", "Fraction"): _as_floats,
    ("datetime", "datetime"): _seconds,
    ("datetime", "timedelta"): _seconds,
    ("datetime", "date"): _days,
}


_MODULES = frozenset([module for module, _ in _LOADED])

# Read from `type`, because a metaclass may override attribute access.
_module_of: Callable[[type], Any] = type.__dict__["__module__"].__get__
_name_of: Callable[[type], str] = type.__dict__["__qualname__"].__get__


def _measure_of_loaded(kind: type) -> Callable[[Any, Any], Relations | None] | None:
    """Return the measure of a standard library class that the program has imported, None for other classes."""
    module = _module_of(kind)
    if type(module) is not str or module not in _MODULES:
        return None
    measure = _LOADED.get((module, _name_of(kind)))
    if measure is not None and getattr(sys.modules.get(module), _name_of(kind), None) is kind:
        return measure
    return None


def nearest(needle: Any, container: Any) -> float:
    """Return the least distance to equality with an element of a container, 1 if it cannot be measured."""
    kind = id(type(container))
    own = id(type(needle))
    if kind in (id(str), id(bytes)):
        if own == kind:
            return text_within(needle, container)
        return 1.0 if own in _INTEGERS and container else FAR
    if own not in _LEAVES or (kind not in _CONTAINERS and kind != id(range)) or not container:
        return 1.0
    if kind == id(range):
        if own not in _NUMBERS:
            return FAR
        first, last = container[0], container[-1]
        if min(first, last) <= needle <= max(first, last):
            return 1.0
        return min(_numbers(needle, first)[1], _numbers(needle, last)[1])
    least = FAR
    if own == id(str):
        size = len(needle)
        for item in islice(container, ITEMS):
            # The distance of two strings is at least their difference in length; other leaves are `FAR`.
            if type(item) is str and item != needle and -least < len(item) - size < least:
                least = min(least, text(needle, item)[1])
        return least
    for item in islice(container, ITEMS):
        if id(type(item)) in _LEAVES and item != needle:
            least = min(least, compared("==", needle, item, False)[1])
    return least
