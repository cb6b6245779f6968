"""Changes of calls and operands: what is left if one part of an expression goes, or two change places."""

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
"""Methods that give something of the kind that they are called on."""

_ALIKE = frozenset({"abs", "max", "min", "reversed", "round", "set", "sorted"})
"""Functions that give something of the kind that they get, and something else."""

_SYMMETRIC = frozenset({"max", "min"})
"""Functions of which the order of arguments does not matter."""


def of_call(node: ast.Call, text: Text, *, silent: bool = False) -> Iterator[str]:
    """What may stand in the place of a call: what it is called on or gets, if that is of the same kind; the call with two
    neighbouring arguments exchanged; the call without one of its keyword arguments.

    Args:
        node: the call.
        text: the module.
        silent: it speaks to people, so its arguments do not matter.
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
    """One operand of an operation, without the other one."""
    yield from (_alone(node, operand, text) for operand in (node.left, node.right))


def _alone(whole: ast.expr, part: ast.expr, text: Text) -> str:
    """The text of a part in parentheses, over as many lines as the whole."""
    found = text.at(span_of(part))
    lines = _lines(whole) - _lines(part)
    bare = not lines and isinstance(part, ast.Name | ast.Constant | ast.Attribute | ast.Call | ast.Subscript)
    return found if bare else f"({found}{_NEWLINE * lines})"


def _call(node: ast.Call, parts: list[str], text: Text) -> str:
    """The call with other arguments, over as many lines."""
    inside = ", ".join(parts)
    lines = _lines(node) - _lines(node.func) - inside.count(_NEWLINE)
    return f"{text.at(span_of(node.func))}({inside}{_NEWLINE * max(0, lines)})"


def _named(name: str, value: ast.expr, text: Text) -> str:
    return f"{name}={text.at(span_of(value))}"


def _lines(node: ast.expr) -> int:
    first, _, last, _ = span_of(node)
    return last - first


_NEWLINE = "\n"
