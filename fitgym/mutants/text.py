"""The source text, addressed like a syntax tree: by line and byte offset."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right

from fitgym.mutants.mutant import Span

__all__ = ["Text", "span_of"]

# Text that may separate an operand from the operator behind it.
_GAP = re.compile(rb"(?:[\s)\\]|#[^\n]*)*")
_WORDS = (b"not in", b"is not")


def span_of(node: ast.expr | ast.stmt) -> Span:
    """Return the position of a node."""
    assert node.end_lineno is not None and node.end_col_offset is not None, "parsed trees have ends"
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


class Text:
    """The text of one module.

    Args:
        source: with `\\n` at line ends.
    """

    def __init__(self, source: str) -> None:
        self._bytes = source.encode()
        self._starts = [0, *(match.end() for match in re.finditer(rb"\n", self._bytes))]

    def at(self, span: Span) -> str:
        """Return the text at a position."""
        start, end = self._range(span)
        return self._bytes[start:end].decode()

    def changed(self, span: Span, text: str) -> str:
        """Return the whole source with `text` in place of `span`."""
        start, end = self._range(span)
        return (self._bytes[:start] + text.encode() + self._bytes[end:]).decode()

    def spaced(self, span: Span, text: str) -> str:
        """Return `text` with a space wherever it would join a word beside `span`."""
        start, end = self._range(span)
        before, after = self._bytes[max(start - 1, 0) : start], self._bytes[end : end + 1]
        left = " " if _joins(before) and _joins(text[:1].encode()) else ""
        right = " " if _joins(after) and _joins(text[-1:].encode()) else ""
        return f"{left}{text}{right}"

    def line(self, number: int) -> str:
        """Return one line, counted from 1, without its line end."""
        end = self._starts[number] - 1 if number < len(self._starts) else len(self._bytes)
        return self._bytes[self._starts[number - 1] : end].decode()

    def operator(self, left: ast.expr, sign: str) -> Span:
        """Return the position of the operator behind an operand.

        The text there is `sign`, except for the space between the two words of `not in` and `is not`.
        """
        _, end = self._range(span_of(left))
        gap = _GAP.match(self._bytes, end)
        assert gap is not None
        start = end = gap.end()
        for word in sign.encode().split():
            gap = _GAP.match(self._bytes, end)
            assert gap is not None and self._bytes.startswith(word, gap.end()), f"no '{sign}' behind an operand"
            end = gap.end() + len(word)
        return *self._position(start), *self._position(end)

    def edited(self, whole: Span, *edits: tuple[Span, str]) -> str:
        """Return the text at `whole` with some of its parts replaced, in order."""
        at, end = self._range(whole)
        parts: list[bytes] = []
        for span, text in edits:
            first, last = self._range(span)
            parts += [self._bytes[at:first], text.encode()]
            at = last
        return b"".join([*parts, self._bytes[at:end]]).decode()

    def _range(self, span: Span) -> tuple[int, int]:
        first, start, last, end = span
        return self._starts[first - 1] + start, self._starts[last - 1] + end

    def _position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]


def _joins(character: bytes) -> bool:
    """The character can be part of a word."""
    return character.isalnum() or character == b"_" or character >= b"\x80" or character in (b'"', b"'")
