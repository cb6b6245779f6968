"""Replacements: the new operators, literals and numbers of each mutation operator.

References:
    Rojas, Vivanti, Arcuri and Fraser 2017, A Detailed Investigation of the Effectiveness of Whole Test Suite
    Generation, and EvoSuite 1.0.7, whose operators the paper uses: the sets for comparisons and literals.
    Gheyi et al. 2021, Identifying method-level mutation subsumption relations using Z3, as used by smart selection
    (Zhou et al. 2024): the subsuming operators of arithmetic.
"""

from __future__ import annotations

import math

from fitgym.mutants.operators import family
from fitgym.mutants.sql import other_statements

__all__ = ["NEGATED", "OPPOSITE", "arithmetic", "literals", "relational", "subsuming"]

OPPOSITE = {"in": "not in", "not in": "in", "is": "is not", "is not": "is", "==": "!=", "!=": "=="}
"""The comparison that is true where this one is false, also for operands without an order."""

NEGATED = {**OPPOSITE, "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
"""The same for operands with an order."""

# A test that kills one of these also kills the other replacements.
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
    """Return the replacements of a comparison; "True" and "False" are constant results.

    Args:
        sign: of the comparison.
        ordered: the operands may have an order. Otherwise the only replacement is the opposite.
    """
    return _RELATIONAL[sign] if ordered and sign in _RELATIONAL else (NEGATED[sign],)


def arithmetic(sign: str) -> tuple[str, ...]:
    """Return the replacements of an arithmetic operator: all others of its family, the subsuming ones first."""
    return tuple(dict.fromkeys((*_SUBSUMING.get(sign, ()), *(other for other in family(sign) if other != sign))))


def subsuming(sign: str) -> tuple[str, ...]:
    """Return the replacements of an operator that subsume all its others, from the table of the smart selection paper.

    For an operator without an entry (`//`, `%`, `**`), all its replacements are returned. Java's unsigned shift is left
    out. `True` and `False` are not part of the table.
    """
    return _SUBSUMING.get(sign) or arithmetic(sign)


def literals(value: object) -> tuple[object, ...]:
    """Return the replacements of a literal, the most informative first; none for other literals.

        integer, float     0, 1, -1, one more, one less; 0 by 1 only, 1 by 0 only
        string, bytes      the empty one; a text for an empty one; SQL by statements with one difference
        True, False        the other one
        None               False

    Differs from EvoSuite: empty strings, truth values and None are replaced as well.
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
