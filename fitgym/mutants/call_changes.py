"""Changes of calls and operands: one part of an expression is dropped, or two parts are swapped."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitgym.mutants.text import Text, span_of

__all__ = ["of_call", "of_operation"]

_KEEPING = frozenset(
    {
        *("capitalize", "casefold", "copy", "expandtabs", "lower", "lstrip", "removeprefix", "removesuffix"),
        *("replace", "rstrip", "strip", "swapcase", "title", "upper", "zfill"),
    }
)
"""Methods whose result has the type of their object."""

_ALIKE = frozenset({"abs", "max", "min", "reversed", "round", "set", "sorted"})
"""Functions whose result has the type of their argument, but another value."""

_SYMMETRIC = frozenset({"max", "min"})
"""Functions whose result does not depend on the order of their arguments."""


def of_call(node: ast.Call, text: Text, *, silent: bool = False) -> Iterator[str]:
    """Yield the replacements of a call.

    They are the object or an argument of the call, if it has the type of the result; the call with two adjacent
    arguments swapped; the call without one of its keyword arguments.

    Args:
        node: the call.
        text: the module.
        silent: the call only shows messages to people, so its arguments are left alone.
    """
    plain = not any(isinstance(argument, ast.Starred) for argument in node.args)
    if isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPING:
        yield _alone(node, node.func.value, text)
    elif isinstance(node.func, ast.Name) and node.func.id in _ALIKE and plain and node.args:
        yield from (_alone(node, argument, text) for argument in node.args)
    if silent or not plain:
        return
    parts = [text.at(span_of(argument)) for argument in node.args]
    keywords = [
        f"**{text.at(span_of(k.value))}" if k.arg is None else _named(k.arg, k.value, text) for k in node.keywords
    ]
    symmetric = isinstance(node.func, ast.Name) and node.func.id in _SYMMETRIC
    for place in range(0 if symmetric else len(parts) - 1):
        if parts[place] != parts[place + 1]:
            exchanged = [*parts[:place], parts[place + 1], parts[place], *parts[place + 2 :]]
            yield _call(node, [*exchanged, *keywords], text)
    for place, keyword in enumerate(node.keywords):
        if keyword.arg is not None:
            yield _call(node, [*parts, *keywords[:place], *keywords[place + 1 :]], text)


def of_operation(node: ast.BinOp, text: Text) -> Iterator[str]:
    """Yield each operand of an operation, without the other one."""
    yield from (_alone(node, operand, text) for operand in (node.left, node.right))


def _alone(whole: ast.expr, part: ast.expr, text: Text) -> str:
    """Return the text of a part in parentheses, padded to the line count of the whole."""
    found = text.at(span_of(part))
    lines = _lines(whole) - _lines(part)
    bare = not lines and isinstance(part, ast.Name | ast.Constant | ast.Attribute | ast.Call | ast.Subscript)
    return found if bare else f"({found}{_NEWLINE * lines})"


def _call(node: ast.Call, parts: list[str], text: Text) -> str:
    """Return the call with other arguments, padded to the same line count."""
    inside = ", ".join(parts)
    lines = _lines(node) - _lines(node.func) - inside.count(_NEWLINE)
    return f"{text.at(span_of(node.func))}({inside}{_NEWLINE * max(0, lines)})"


def _named(name: str, value: ast.expr, text: Text) -> str:
    return f"{name}={text.at(span_of(value))}"


def _lines(node: ast.expr) -> int:
    first, _, last, _ = span_of(node)
    return last - first


_NEWLINE = "\n"
