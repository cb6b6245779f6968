"""Branch distance: how close a condition came to the outcome that it did not have.

A comparison is measured as the distances to three relations, see `fitgym.instrument.relations`; strings are measured in
`fitgym.instrument.text_distance`.

Equality by |a - b| and gap + 1 for a strict order that does not hold are the distances of EvoSuite 1.0.7 (class
`BranchDistance` of the bytecode replacement, K = 1), which go back to Korel 1990 and Tracey et al. 1998. Java has no long
integers, no comparison of containers and no truth of objects; each function here describes its own distance.

The outcome is authoritative. Operands may be partially ordered (sets), unordered (NaN), of mixed or unknown types. Where the
measured relation contradicts the outcome, only the outcome counts. Therefore the distance to an outcome is 0 exactly when the
outcome occurred. It is never negative, never NaN and always finite.

Only objects of exactly the built-in types and a few numeric and time types are measured. A subclass may override any method,
and a call of that method would be a side effect that the original program does not have.
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

# `TRUE_SLOTS` and `FALSE_SLOTS` as sets of bits.
_RELATIONS = {
    operator: (sum(1 << slot for slot in TRUE_SLOTS[operator]), sum(1 << slot for slot in FALSE_SLOTS[operator]))
    for operator in TRUE_SLOTS
}

ITEMS = 8
"""How many elements of a container are looked at."""

# Types are looked up by identity: a metaclass may define `__eq__` and `__hash__`, even so that its classes have no hash.
_INTEGERS = frozenset({id(int), id(bool)})
_NUMBERS = frozenset({*_INTEGERS, id(float)})
_SETS = frozenset({id(set), id(frozenset)})
_CONTAINERS = frozenset({*_SETS, id(list), id(tuple), id(dict)})
_SIZED = frozenset({*_CONTAINERS, id(str), id(bytes), id(bytearray), id(range)})
# Comparing these never runs code of the program, however they are nested in each other.
_LEAVES = frozenset({*_NUMBERS, id(complex), id(str), id(bytes), id(type(None))})
_EXACT = 2**53
_LONGEST = 64

# What is left to say when the operands cannot be measured: the outcome, as one relation where the operator implies one.
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
    """(d_lt, d_eq, d_gt) of one evaluation of `left operator right` that came out as `outcome`.

    Numbers as in `fitgym.instrument.relations`; `Decimal`, dates, times and durations likewise (days for dates, seconds for
    the others). Strings and bytes: `text`. Lists and tuples: `_sequences`. Dicts: `_mappings`. Sets: the number of elements
    that only one has. A value of another kind is `FAR` from equality; two objects of unknown kinds are 1 from it.
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
    # NaN, partial orders, floats that differ by less than the difference can tell, numbers across types.
    scale = max(eq, 1.0)
    lt, eq, gt = _UNMEASURED[operator, outcome]
    return (lt * scale, eq * scale, gt * scale)


def contained(operator: str, left: Any, right: Any, outcome: bool) -> tuple[float, float]:
    """(distance to true, distance to false) of `in`, `not in`, `is`, `is not`.

    Towards membership: the least distance to equality with one of the first `ITEMS` elements; a string in a string: the
    least number of characters to change in one of the first `TEXT` positions. Towards identity, and away from either: 1.
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
    """(distance to true, distance to false) of a value that is a condition.

    A true number is its absolute value away from false, a container its length, anything else 1; whatever is false is
    1 away from true.
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
    """The number of elements of a built-in container; `FURTHEST` for a range with more than `len` can tell."""
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
    # An integer and a float can differ by less than the rounding of the difference.
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
    """Two lists or two tuples: the difference in length plus nu of the distance of each of the first `ITEMS` pairs.

    Their order is that of the first pair that differs. Elements that are not built-in, and those of long ones, count nothing.
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
        return (0.0, total or 1.0, 0.0)  # they differ somewhere beyond
    return ordered(-1 if len(left) < len(right) else 1, total, total)


def _mappings(left: Any, right: Any) -> Relations:
    """Two dicts: the number of keys that only one has, plus nu of the distance to equality of the values of each common key.

    Where the contents are not built-in, or many, the difference in length.
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
    """Two sets: how many elements only one of them has. Their order is inclusion, and only the outcome tells it."""
    if not (_is_plain(left) and _is_plain(right)):
        return (0.0, float(max(abs(len(left) - len(right)), 1)), 0.0)
    difference = float(len(left ^ right))
    return (0.0, difference, 0.0) if difference else (1.0, 0.0, 1.0)


def _is_plain(container: Any, depth: int = 2) -> bool:
    """Nothing in the container could run code of the program when it is compared; long ones are not looked through."""
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
    """Two objects of different types: numbers of different types are measured as floats, other kinds are far apart."""
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
    """Decimal and Fraction: through floats, because arithmetic on decimals sets flags of the program's context."""
    try:
        return _numbers(float(left), float(right))
    except OverflowError:
        return (0.0, FURTHEST, 0.0)
    except ValueError:  # a signalling NaN
        return (0.0, FAR, 0.0)


def _seconds(left: Any, right: Any) -> Relations | None:
    """Dates, times of day with a date, durations."""
    try:
        difference = left - right
    except TypeError:  # one knows its time zone and the other does not
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

# Looked up by name so that measuring never imports what the program did not import.
_LOADED: dict[tuple[str, str], Callable[[Any, Any], Relations | None]] = {
    ("decimal", "Decimal"): _as_floats,
    ("fractions", "Fraction"): _as_floats,
    ("datetime", "datetime"): _seconds,
    ("datetime", "timedelta"): _seconds,
    ("datetime", "date"): _days,
}


_MODULES = frozenset([module for module, _ in _LOADED])

# Read past the metaclass, which may have its own idea of attributes.
_module_of: Callable[[type], Any] = type.__dict__["__module__"].__get__
_name_of: Callable[[type], str] = type.__dict__["__qualname__"].__get__


def _measure_of_loaded(kind: type) -> Callable[[Any, Any], Relations | None] | None:
    """The measure of a class of the standard library that the program has imported."""
    module = _module_of(kind)
    if type(module) is not str or module not in _MODULES:
        return None
    measure = _LOADED.get((module, _name_of(kind)))
    if measure is not None and getattr(sys.modules.get(module), _name_of(kind), None) is kind:
        return measure
    return None


def nearest(needle: Any, container: Any) -> float:
    """The least distance to equality with an element of a container, 1 if that cannot be told."""
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
            # No string is nearer than by the difference in length; any other leaf is far.
            if type(item) is str and item != needle and -least < len(item) - size < least:
                least = min(least, text(needle, item)[1])
        return least
    for item in islice(container, ITEMS):
        if id(type(item)) in _LEAVES and item != needle:
            least = min(least, compared("==", needle, item, False)[1])
    return least
