"""Boxes: a sentence to the reader with a coloured bar, in light and in dark notebooks, and the same as plain text."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["Box", "inline", "shown"]

Kind = Literal["right", "wrong", "neutral"]

COLOURS: Final = {"right": "#009E73", "wrong": "#0072B2", "neutral": "#888888"}
"""Of the bar; the text keeps the colour of the page, which is light or dark."""

SIGNS: Final = {"right": "✓", "wrong": "→", "neutral": "○"}
"""The same for readers who cannot tell the colours apart."""


@dataclass(frozen=True)
class Box:
    """A title with sentences below it.

    Args:
        kind: green for right, blue for an answer that needs more work, grey for anything else.
        title: a few words.
        lines: sentences, each on a line of its own; `code` may stand between backticks.
        hint: is shown on request.
    """

    kind: Kind
    title: str
    lines: tuple[str, ...] = ()
    hint: str = ""

    def __repr__(self) -> str:
        hint = (f"Hint: {self.hint}",) if self.hint else ()
        return "\n".join([f"{SIGNS[self.kind]} {self.title}", *(f"  {line}" for line in (*self.lines, *hint))])

    def _repr_html_(self) -> str:
        style = f"border-left:4px solid {COLOURS[self.kind]};padding:0.4em 0.8em;margin:0.4em 0"
        lines = "".join(f"<div>{inline(line)}</div>" for line in self.lines)
        hint = f"<details><summary>Hint</summary>{inline(self.hint)}</details>" if self.hint else ""
        title = f"<div><strong>{SIGNS[self.kind]} {inline(self.title)}</strong></div>"
        return f'<div class="lesson-box lesson-{self.kind}" style="{style}">{title}{lines}{hint}</div>'


def inline(text: str) -> str:
    """Text as HTML; what stands between backticks is code, between asterisks it is emphasised."""
    pieces = re.split(r"`([^`]+)`", text)
    for at, piece in enumerate(pieces):
        escaped = html.escape(piece, quote=False)
        pieces[at] = f"<code>{escaped}</code>" if at % 2 else re.sub(r"\*(\S(?:[^*]*\S)?)\*", r"<em>\1</em>", escaped)
    return "".join(pieces)


def shown(value: object, unit: str = "") -> str:
    """A number with three significant digits and its unit; anything else as text."""
    if isinstance(value, float) or (hasattr(value, "__float__") and not isinstance(value, int)):
        number = float(value)
        text = f"{number:.3g}" if abs(number) < 1000 else f"{number:.0f}"
    else:
        text = str(value)
    return f"{text} {unit}".strip()
