"""Sessions: Python code in prose, after interpreter prompts or in fenced blocks."""

from __future__ import annotations

import ast
import re

__all__ = ["blocks", "session"]

_FENCED = re.compile(
    r"^[ \t]*(```+|~~~+)[ \t]*\{?(python3?|py|pycon)\b[^\n]*\n(.*?)^[ \t]*\1", re.DOTALL | re.MULTILINE
)
_DIRECTIVE = re.compile(
    r"^([ \t]*)\.\.[ \t]+(?:code-block|code|sourcecode)::[ \t]*python3?[^\n]*\n((?:[ \t]*\n|\1[ \t]+[^\n]*\n?)+)",
    re.MULTILINE,
)


def session(text: str | None) -> list[ast.stmt]:
    """Return the statements after `>>>` prompts that can be parsed, in order."""
    if not text or ">>>" not in text:
        return []
    pieces: list[str] = []
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith(">>>"):
            pieces.append(line[4:])
        elif line.startswith("...") and pieces:
            pieces[-1] += "\n" + line[4:]
        elif pieces and pieces[-1]:
            pieces.append("")
    return [statement for piece in pieces for statement in _parsed(piece)]


def blocks(text: str) -> list[list[ast.stmt]]:
    """Return the statements of each Python block without prompts in a text in Markdown or reStructuredText.

    A block that cannot be parsed is left out.
    """
    found: list[list[ast.stmt]] = []
    pieces = [match.group(3) for match in _FENCED.finditer(text)]
    pieces += [re.sub(r"^[ \t]*:\w+:.*\n", "", match.group(2)) for match in _DIRECTIVE.finditer(text)]
    for piece in pieces:
        lines = piece.splitlines()
        margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        body = [] if ">>>" in piece else _parsed("\n".join(line[margin:] for line in lines))
        if body:
            found.append(body)
    return found


def _parsed(text: str) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
