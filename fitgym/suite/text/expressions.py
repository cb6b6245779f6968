"""Expressions as source: literals, containers, names and lambdas as formatters write them."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from fitgym.suite.text.layout import Bracket, Pair, Piece, flat, prefixed
from fitgym.suite.text.scope import Scope
from fitgym.testcase.constants import kind_of_text
from fitgym.testcase.expression import Expression, Lambda, Literal, Name, Ref

__all__ = ["PARAMETERS", "expression_piece", "expression_source", "infix", "literal_source"]

PARAMETERS = ("x", "y", "z", "u", "v", "w")
"""Names of the parameters of lambdas."""


def expression_source(expression: Expression, names: Mapping[int, str], scope: Scope) -> str:
    """Return an expression on one line.

    Args:
        expression: what to write.
        names: the variables that hold results, by the position of the statement.
        scope: the names of importable objects; imports that are needed are added to it.

    Raises:
        KeyError: the expression refers to a statement without a variable.
    """
    return flat(expression_piece(expression, names, scope))


def literal_source(text: str) -> str:
    """Return the text of a literal as formatters write it: double quotes unless they need more escapes."""
    kind = kind_of_text(text)
    if kind == "complex" and text.startswith("("):
        value = ast.literal_eval(text)
        text = f"complex({value.real!r}, {value.imag!r})"
    if kind not in ("str", "bytes"):
        return text.replace("e+", "e")
    prefix = "b" if kind == "bytes" else ""
    text = repr(ast.literal_eval(text))[len(prefix) :]
    if text[0] == '"':
        return prefix + text
    inner = text[1:-1]
    if inner.count('"') > inner.count("\\'"):
        return prefix + text
    return prefix + '"' + inner.replace("\\'", "'").replace('"', '\\"') + '"'


def expression_piece(
    expression: Expression, names: Mapping[int, str], scope: Scope, parameters: Sequence[str] = ()
) -> Piece:
    """Return an expression as a piece that can still be broken into lines, see `expression_source`.

    Args:
        expression: what to write.
        names: the variables that hold results, by the position of the statement.
        scope: the names of importable objects; imports that are needed are added to it.
        parameters: of the enclosing lambda.
    """
    if isinstance(expression, Literal):
        text = literal_source(expression.text)
        head, bracket, inner = text.partition("(")
        if head in ("float", "complex") and bracket:
            return Bracket(head + bracket, tuple(inner[:-1].split(", ")), ")", call=True)
        return text
    if isinstance(expression, Ref):
        return names[expression.position] if expression.position >= 0 else parameters[-1 - expression.position]
    if isinstance(expression, Name):
        return scope.text(expression.module, expression.qualname)
    if isinstance(expression, Lambda):
        return _lambda(expression, names, scope)
    items = tuple(expression_piece(item, names, scope, parameters) for item in expression.items)
    match expression.kind:
        case "list":
            return Bracket("[", items, "]")
        case "tuple":
            return Bracket("(", items, ")", single_item_comma=True)
        case "dict":
            pairs = zip(items[::2], items[1::2], strict=True)
            return Bracket("{", tuple(Pair(key, value) for key, value in pairs), "}")
        case "set":
            return Bracket("{", items, "}") if items else "set()"
        case "frozenset":
            return Bracket("frozenset(", (Bracket("{", items, "}"),), ")", call=True) if items else "frozenset()"
        case "iter":
            return Bracket("iter(", (Bracket("[", items, "]"),), ")", call=True)


def _lambda(expression: Lambda, names: Mapping[int, str], scope: Scope) -> Piece:
    if expression.arity < 0:
        parameters: tuple[str, ...] = ("*args",)
    else:
        known = PARAMETERS[: expression.arity]
        parameters = (*known, *(f"x{place}" for place in range(len(known), expression.arity)))
    head = f"lambda {', '.join(parameters)}: " if parameters else "lambda: "
    body = expression_piece(expression.body, names, scope, parameters)
    if isinstance(body, str):
        return Bracket(f"{head}(", (body,), ")", optional=True)
    return prefixed(head, body)


def infix(left: str, symbol: str, right: str) -> str:
    """Return `left symbol right`; as in the formatters, powers of names and numbers have no spaces."""
    if symbol == "**" and _is_simple(left) and _is_simple(right):
        return f"{left}**{right}"
    return f"{left} {symbol} {right}"


def _is_simple(text: str) -> bool:
    bare = text.removeprefix("-")
    return bare.isidentifier() or bare[:1].isdigit()
