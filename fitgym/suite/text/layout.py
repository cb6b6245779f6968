"""Layout: break expressions into lines as Black and ruff do, so that exported tests need no formatting.

A piece of source is a string that is never broken, or a `Bracket` whose items can be placed on separate lines. A piece
that fits on the line is not broken. Otherwise the arguments of a call move to one separate line if they fit, and else
every item gets a line with a trailing comma; the items of a literal always use the last form.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

__all__ = ["Bracket", "Pair", "Piece", "assigned", "columns", "flat", "indented", "laid_out", "prefixed", "suffixed"]

_INDENT = 4


@dataclass(frozen=True, slots=True)
class Bracket:
    """Comma-separated items between brackets.

    Attributes:
        head: text up to and including the opening bracket, for example `key=f(`.
        items: the pieces between the brackets.
        tail: the closing bracket and the text after it.
        call: the brackets belong to a call and not to a list, tuple, set or dictionary.
        single_item_comma: a single item needs a comma after it (a tuple).
        optional: the brackets are parentheses around a single item, written only if the line is broken.
    """

    head: str
    items: tuple[Piece, ...]
    tail: str
    call: bool = False
    single_item_comma: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """An item of a dictionary: a key that may be broken, and its value."""

    key: Piece
    value: Piece


Piece = str | Bracket | Pair


def flat(piece: Piece) -> str:
    """Return the piece on one line."""
    if isinstance(piece, str):
        return piece
    if isinstance(piece, Pair):
        return f"{flat(piece.key)}: {flat(piece.value)}"
    if piece.optional:
        return piece.head[:-1] + flat(piece.items[0]) + piece.tail[1:]
    comma = "," if piece.single_item_comma and len(piece.items) == 1 else ""
    return piece.head + ", ".join(map(flat, piece.items)) + comma + piece.tail


def columns(text: str) -> int:
    """Return the width of the text: East Asian characters and most emoji take two columns, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def prefixed(prefix: str, piece: Piece) -> Piece:
    """Return the piece with `prefix` directly before it."""
    if isinstance(piece, Pair):
        return Pair(prefixed(prefix, piece.key), piece.value)
    return prefix + piece if isinstance(piece, str) else replace(piece, head=prefix + piece.head)


def suffixed(piece: Piece, suffix: str) -> Piece:
    """Return the piece with `suffix` directly after it."""
    return replace(piece, tail=piece.tail + suffix) if isinstance(piece, Bracket) else flat(piece) + suffix


def laid_out(piece: Piece, width: int, *, indent: int = 0, after: int = 0) -> list[str]:
    """Return the piece as lines.

    Args:
        piece: what to write.
        width: maximal length of a line, in characters.
        indent: column at which the piece begins; only lines after the first are indented by it.
        after: number of characters that will follow on the last line.

    Returns:
        Lines of at most `width` characters, if there are brackets to break at.
    """
    text = flat(piece)
    if indent + columns(text) + after <= width or isinstance(piece, str):
        return [text]
    if isinstance(piece, Pair):
        opening = piece.value.head if isinstance(piece.value, Bracket) and piece.value.items else flat(piece.value)
        *lines, last = laid_out(piece.key, width, indent=indent, after=2 + columns(opening))
        first, *others = laid_out(prefixed(f"{last.lstrip()}: ", piece.value), width, indent=indent, after=after)
        return [*lines, (" " * indent if lines else "") + first, *others]
    if not piece.items:
        return [text]
    inner = indent + _INDENT
    if piece.optional:
        return [piece.head, " " * inner + flat(piece.items[0]), " " * indent + piece.tail]
    closing = " " * indent + piece.tail
    if piece.call:
        body = ", ".join(map(flat, piece.items))
        if inner + columns(body) <= width:
            return [piece.head, " " * inner + body, closing]
    lines = [piece.head]
    for item in piece.items:
        first, *others = laid_out(item, width, indent=inner, after=1)
        lines += [" " * inner + first, *others]
        lines[-1] += ","
    return [*lines, closing]


def assigned(target: str, piece: Piece, width: int) -> list[str]:
    """Return the lines of `target = piece`, with parentheses around an unbreakable piece if that makes it fit."""
    text = f"{target} = {flat(piece)}"
    unbreakable = not (isinstance(piece, Bracket) and piece.items)
    if unbreakable and columns(text) > width and _INDENT + columns(flat(piece)) <= width:
        return [f"{target} = (", " " * _INDENT + flat(piece), ")"]
    return laid_out(prefixed(f"{target} = ", piece), width)


def indented(lines: Sequence[str]) -> list[str]:
    """Return the lines indented by one level."""
    return [" " * _INDENT + line if line else line for line in lines]
