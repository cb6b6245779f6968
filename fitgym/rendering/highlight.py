"""Syntax highlighting: Python source as HTML, line by line."""

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
"""The CSS class of a token type and its subtypes. There are few, so that marks on lines stand out more than syntax."""


def highlighted(source: str) -> list[str]:
    """Return the lines of a source as HTML, with classes for comments, strings, numbers, keywords and definitions.

    Args:
        source: any text; a text that is not Python is only escaped.

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
    """Return the CSS class of a Pygments token; "" if it has none."""
    return next((short for name, short in LEADING.items() if f"{token}.".startswith(f"{name}.")), "")
