"""Equivalence: syntactic rules for replacements that no test can distinguish from the original."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from fitgym.mutants import replacements

__all__ = [
    "always_agree",
    "breaks",
    "is_for_tools",
    "is_nothing",
    "is_number",
    "is_unordered",
    "is_zero",
    "level",
    "telling",
]

_UNORDERED = (ast.Dict, ast.Set, ast.DictComp, ast.SetComp, ast.Lambda)


def telling(sign: str, right: ast.expr) -> list[str]:
    """Return the replacements of an arithmetic operator that a test can distinguish from it."""
    others = replacements.arithmetic(sign)
    if not (isinstance(right, ast.Constant) and type(right.value) is int):
        return list(others)
    # x + 0 == x - 0, x | 0 == x ^ 0, x << 0 == x >> 0 and x * 1 == x ** 1.
    same = {0: ({"+", "-"}, {"|", "^"}, {"<<", ">>"}), 1: ({"*", "**"},)}.get(right.value, ())
    return [other for other in others if {sign, other} not in same and not any({sign, other} <= each for each in same)]


def level(sign: str) -> int:
    """Return the precedence of an operator; a higher number binds more strongly."""
    levels = ("|", "^", "&", "<< >>", "+ -", "* / // %", "**")
    return next(level for level, signs in enumerate(levels) if sign in signs.split())


def always_agree(left: ast.expr, sign: str, other: str, right: ast.expr) -> bool:
    """Two comparisons always agree because they compare a length, which is never negative, with 0."""
    if is_zero(left) and _is_length(right):
        mirror = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
        return always_agree(right, mirror.get(sign, sign), mirror.get(other, other), left)
    return _is_length(left) and is_zero(right) and {sign, other} in ({">", "!="}, {"==", "<="})


def _is_length(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def is_zero(node: ast.expr) -> bool:
    """The expression is the integer 0."""
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == 0


def is_number(node: ast.expr) -> bool:
    """The expression is a literal number, with or without a minus sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def is_unordered(node: ast.expr) -> bool:
    """The value of the expression has no order, for example None, a truth value or a dictionary."""
    if isinstance(node, ast.Constant):
        return node.value is None or isinstance(node.value, (bool, complex)) or node.value is ...
    return isinstance(node, _UNORDERED)


def is_nothing(node: ast.expr | None) -> bool:
    """There is no expression, or it is None."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def is_for_tools(test: ast.expr) -> bool:
    """The condition is false in every test: `TYPE_CHECKING` or a comparison of `__name__`."""
    if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name):
        return test.left.id == "__name__"
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return bool(name == "TYPE_CHECKING")


def breaks(body: Iterable[ast.stmt]) -> bool:
    """The loop body contains a `break` that leaves this loop."""
    for statement in body:
        match statement:
            case ast.Break():
                return True
            case ast.For() | ast.AsyncFor() | ast.While():
                if breaks(statement.orelse):
                    return True
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                pass
            case ast.Match():
                if any(breaks(case.body) for case in statement.cases):
                    return True
            case ast.Try() | ast.TryStar():
                bodies = [statement.body, statement.orelse, statement.finalbody]
                if any(map(breaks, [*bodies, *(handler.body for handler in statement.handlers)])):
                    return True
            case _:
                if breaks(getattr(statement, "body", [])) or breaks(getattr(statement, "orelse", [])):
                    return True
    return False
