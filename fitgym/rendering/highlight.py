"""Syntax colours: Python source as HTML, line by line."""

from __future__ import annotations

import functools
from html import escape

__all__ = ["highlighted"]

LEADING = {
    "Token.Comment": "c",
    "Token.Literal.String": "s",
    "Token.Literal.Number": "n",
    "Token.Keyword": "k",
    "Token.Operator.Word": "k",
    "Token.Name.Function": "d",
    "Token.Name.Class": "d",
    "Token.Name.Decorator": "d",
}
"""Which class a kind of token gets, and every kind below it. Few, so that marks on lines stand out more than syntax."""


def highlighted(source: str) -> list[str]:
    """The lines of a source as HTML: comments, strings, numbers, keywords and definitions have a class each.

    Args:
        source: any text; what is no Python is only escaped.

    Returns:
        As many lines as `source.split("\\n")`, without line ends; their text is that of the source.
    """
    from pygments.lexers.python import PythonLexer  # type: ignore[import-untyped]

    lines = [""]
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    for _, token, text in lexer.get_tokens_unprocessed(source):
        kind = _kind(token)
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append("")
            if part:
                shown = escape(part)
                lines[-1] += f"<i class={kind}>{shown}</i>" if kind else shown
    return lines


@functools.cache
def _kind(token: object) -> str:
    """The class of a token of Pygments, "" if it has none."""
    return next((short for name, short in LEADING.items() if f"{token}.".startswith(f"{name}.")), "")
