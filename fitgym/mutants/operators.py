"""Operators: the signs of comparisons and arithmetic, and which of them can replace each other."""

from __future__ import annotations

import ast

__all__ = ["ARITHMETIC", "BITWISE", "COMPARISONS", "SIGNS", "are_alike", "family", "is_no_number"]

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}
"""The signs of comparisons."""

SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
"""The signs of arithmetic operators; matrix multiplication is left out."""

ARITHMETIC = ("+", "-", "*", "/", "//", "%", "**")
BITWISE = ("&", "|", "^", "<<", ">>")

_ALIKE = (
    frozenset({"<", "<=", "==", "!=", ">", ">="}),
    frozenset({"in", "not in"}),
    frozenset({"is", "is not"}),
    *(frozenset(f"{sign}{ending}" for sign in signs) for signs in (ARITHMETIC, BITWISE) for ending in ("", "=")),
)

# Expressions that are never numbers.
_NO_NUMBER = (
    ast.JoinedStr,
    ast.List,
    ast.Tuple,
    ast.Set,
    ast.Dict,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Lambda,
)


def family(sign: str) -> tuple[str, ...]:
    """Return the arithmetic operators that can replace `sign`, including `sign` itself."""
    return ARITHMETIC if sign in ARITHMETIC else BITWISE


def are_alike(sign: str, other: str) -> bool:
    """One operator can replace the other: both with the `=` of an augmented assignment, or both without."""
    return any(sign in signs and other in signs for signs in _ALIKE)


def is_no_number(node: ast.expr) -> bool:
    """The value of the expression cannot be a number."""
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, (int, float))
    return isinstance(node, _NO_NUMBER)
