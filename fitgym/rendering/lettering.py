"""Lettering: text in a fixed-width font, assembled glyph by glyph because that is fast."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from pathlib import Path

import matplotlib
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

__all__ = ["Colour", "plain", "write"]

Colour = tuple[int, int, int]


def write(
    draw: ImageDraw.ImageDraw,
    place: tuple[int, int],
    text: str,
    colour: Colour,
    size: int = 11,
    *,
    bold: bool = False,
    right: bool = False,
    room: int = 10_000,
) -> int:
    """Write a line of text.

    Args:
        draw: the drawing.
        place: the upper left corner of the text, or the upper right one.
        text: a text without control characters, see `plain`.
        colour: red, green and blue.
        size: font size in pixels.
        bold: use the bold font.
        right: whether `place` is the right corner.
        room: maximum width in pixels; a longer text is truncated.

    Returns:
        The right end of the text, in pixels from the left.
    """
    x, y = place
    advance = _advance(size, bold)
    if len(text) * advance > room:
        text = text[: max(0, room // advance - 1)] + "…"
    width = len(text) * advance
    x -= width if right else 0
    if text:
        draw.bitmap((x, y), _written(text, size, bold), fill=colour)
    return x + width


def plain(text: str) -> str:
    """Replace tabs and control characters in a line of source, because the font has no glyphs for them."""
    return "".join("·" if unicodedata.category(c).startswith("C") else c for c in text.expandtabs(4))


def _written(text: str, size: int, bold: bool) -> Image.Image:
    """Return a line of text as a mask. Assembling glyphs takes a tenth of the time of drawing the text."""
    return Image.fromarray(np.hstack([_glyph(character, size, bold) for character in text]))


@lru_cache(maxsize=1024)
def _glyph(character: str, size: int, bold: bool) -> NDArray[np.uint8]:
    """Return the coverage of each pixel by a character, `(height, width)`; a font has one shape for all characters."""
    font = _font(size, bold)
    mask = Image.new("L", (_advance(size, bold), sum(font.getmetrics())))
    ImageDraw.Draw(mask).text((0, 0), character, fill=255, font=font)
    return np.asarray(mask)


@lru_cache(maxsize=8)
def _advance(size: int, bold: bool) -> int:
    """Return the distance between characters in pixels, a whole number because the font is hinted."""
    return int(_font(size, bold).getlength("m"))


@lru_cache(maxsize=8)
def _font(size: int, bold: bool) -> ImageFont.FreeTypeFont:
    """Load DejaVu Sans Mono from matplotlib, so that pictures are the same on every machine."""
    file = Path(matplotlib.get_data_path(), "fonts", "ttf", f"DejaVuSansMono{'-Bold' * bold}.ttf")
    return ImageFont.truetype(str(file), size, layout_engine=ImageFont.Layout.BASIC)
