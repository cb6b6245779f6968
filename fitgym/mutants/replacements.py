"""Replacements: what each mutation operator puts in the place of an operator, a literal or a number.

References:
    Rojas, Vivanti, Arcuri and Fraser 2017, A Detailed Investigation of the Effectiveness of Whole Test Suite Generation,
    and EvoSuite 1.0.7, whose operators the paper uses: the sets for comparisons and literals.
    Gheyi et al. 2021, Identifying method-level mutation subsumption relations using Z3, as used by smart selection
    (Zhou et al. 2024): the subsuming operators of arithmetic.
"""

from __future__ import annotations

import math

from fitgym.mutants.operators import family
from fitgym.mutants.sql import other_statements

__all__ = ["NEGATED", "OPPOSITE", "arithmetic", "literals", "relational", "subsuming"]

OPPOSITE = {"in": "not in", "not in": "in", "is": "is not", "is not": "is", "==": "!=", "!=": "=="}
"""The comparison that is true where this one is false, for operands without an order as well."""

NEGATED = {**OPPOSITE, "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
"""The same for operands that have an order."""

# Each of the others is killed by whatever kills one of these.
_RELATIONAL = {
    "==": (">=", "<=", "False"),
    "!=": ("<", ">", "True"),
    ">": (">=", "!=", "False"),
    "<=": ("<", "==", "True"),
    ">=": (">", "==", "True"),
    "<": ("<=", "!=", "False"),
}

_SUBSUMING = {
    "+": ("*",),
    "-": ("*",),
    "*": ("+",),
    "/": ("*", "-"),
    "==": (">=", "<="),
    "!=": (">", "<"),
    ">": ("!=", ">="),
    ">=": ("==", ">"),
    "<": ("<=", "!="),
    "<=": ("==", "<"),
    "&": ("|",),
    "^": ("|",),
    "|": ("^", "&"),
    ">>": ("<<",),
    "<<": (">>",),
}

_WIDEST = 256  # bits of a literal that is changed
_TEXT = "fitgym"


def relational(sign: str, *, ordered: bool = True) -> tuple[str, ...]:
    """What a comparison is replaced by; "True" and "False" stand for one that always comes out so.

    Args:
        sign: of the comparison.
        ordered: the operands may have an order. Otherwise the opposite is all there is.
    """
    return _RELATIONAL[sign] if ordered and sign in _RELATIONAL else (NEGATED[sign],)


def arithmetic(sign: str) -> tuple[str, ...]:
    """What an operator of arithmetic is replaced by: every other one of its family, the subsuming ones first."""
    return tuple(dict.fromkeys((*_SUBSUMING.get(sign, ()), *(other for other in family(sign) if other != sign))))


def subsuming(sign: str) -> tuple[str, ...]:
    """The replacements of an operator that subsume all of its others, the table of the paper on smart selection.

    All replacements of an operator that the table does not have (`//`, `%`, `**`). The unsigned shift of Java is left out.
    `True` and `False` are no part of it.
    """
    return _SUBSUMING.get(sign) or arithmetic(sign)


def literals(value: object) -> tuple[object, ...]:
    """What a literal is replaced by, the most telling first; nothing for other literals.

        integer, float     0, 1, -1, one more, one less; 0 by 1 only, 1 by 0 only
        string, bytes      the empty one; something for an empty one; SQL by statements in which one thing is different
        True, False        the other one
        None               False

    Differs from EvoSuite: an empty string is replaced as well, and so are truth values and None.
    """
    match value:
        case bool():
            return (not value,)
        case None:
            return (False,)
        case int() if value in (0, 1):
            return (1 - value,)
        case int() if value.bit_length() <= _WIDEST:
            return _others(value, 0, value + 1, value - 1, 1, -1)
        case float() if math.isfinite(value):
            return _others(value, 0.0, value + 1.0, value - 1.0, 1.0, -1.0)
        case str():
            return (*other_statements(value), "") if value else (_TEXT,)
        case bytes():
            return (b"",) if value else (_TEXT.encode(),)
    return ()


def _others(value: float, *candidates: float) -> tuple[float, ...]:
    return tuple(dict.fromkeys(other for other in candidates if other != value))
