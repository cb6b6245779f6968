"""Format strings: f-strings with one difference."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitgym.mutants.text import span_of

__all__ = ["of_format_string"]


def of_format_string(node: ast.JoinedStr) -> Iterator[str]:
    """Yield an f-string without each of its parts, and with simpler values, padded to the same line count.

        a value without its format or conversion     `{x!r:>8}` by `{x}`
        a choice                                     `{a if b else c}` by `{a}` and `{c}`
        a connective                                 `{a or b}` by `{a}` and `{b}`
        a slice                                      `{a[1:]}` by `{a}`
        a call with one argument                     `{f(a)}` by `{a}`

    The parts are written anew, because before Python 3.12 it is not known where they stand. F-strings that cannot be
    written anew are left out.
    """
    first, _, last, _ = span_of(node)
    for index, part in enumerate(node.values):
        for other in (None, *_simpler(part)):
            values = [*node.values[:index], *([] if other is None else [other]), *node.values[index + 1 :]]
            try:
                text = ast.unparse(ast.JoinedStr(values))
            except ValueError:  # before Python 3.12, some quotes cannot be nested
                continue
            yield f"({text}{_NEWLINE * (last - first)})" if last > first else text


def _simpler(part: ast.expr) -> Iterator[ast.FormattedValue]:
    """Yield a value of an f-string with one difference."""
    if not isinstance(part, ast.FormattedValue):
        return
    if part.format_spec is not None or part.conversion in _TELLING:
        yield ast.FormattedValue(part.value, -1, None)
    others: list[ast.expr] = []
    match part.value:
        case ast.IfExp(body=body, orelse=orelse):
            others = [body, orelse]
        case ast.BoolOp(values=values):
            others = values
        case ast.Subscript(value=value, slice=ast.Slice()):
            others = [value]
        case ast.Call(args=[argument], keywords=[]) if not isinstance(argument, ast.Starred):
            others = [argument]
    for other in others:
        yield ast.FormattedValue(other, part.conversion, part.format_spec)


_TELLING = (ord("a"), ord("r"))  # without `!s`, most values have the same text
_NEWLINE = "\n"
