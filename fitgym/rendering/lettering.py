"""Lettering: lines of text in a font of fixed width, put together glyph by glyph because that is fast."""

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
        draw: where to write.
        place: of its left upper corner, or of the right one.
        text: without control characters, see `plain`.
        colour: red, green and blue.
        size: of the font, in pixels.
        bold: in the bold font.
        right: the place is the end of the text.
        room: pixels that it may take; a longer text is cut off.

    Returns:
        Where the text ends, in pixels from the left.
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
    """A line of source without tabs and whatever has no glyph of its own."""
    return "".join("·" if unicodedata.category(c).startswith("C") else c for c in text.expandtabs(4))


def _written(text: str, size: int, bold: bool) -> Image.Image:
    """A line of text as a mask, put together from its glyphs, which is a tenth of the work of writing it."""
    return Image.fromarray(np.hstack([_glyph(character, size, bold) for character in text]))


@lru_cache(maxsize=1024)
def _glyph(character: str, size: int, bold: bool) -> NDArray[np.uint8]:
    """How much of each pixel a character covers, `(height, width)`; all of a font and size have the same shape."""
    font = _font(size, bold)
    mask = Image.new("L", (_advance(size, bold), sum(font.getmetrics())))
    ImageDraw.Draw(mask).text((0, 0), character, fill=255, font=font)
    return np.asarray(mask)


@lru_cache(maxsize=8)
def _advance(size: int, bold: bool) -> int:
    """From character to character, in pixels; the font is hinted, so it is a whole number."""
    return int(_font(size, bold).getlength("m"))


@lru_cache(maxsize=8)
def _font(size: int, bold: bool) -> ImageFont.FreeTypeFont:
    """DejaVu Sans Mono as it comes with matplotlib, so that pictures are the same on every machine."""
    file = Path(matplotlib.get_data_path(), "fonts", "ttf", f"DejaVuSansMono{'-Bold' * bold}.ttf")
    return ImageFont.truetype(str(file), size, layout_engine=ImageFont.Layout.BASIC)
