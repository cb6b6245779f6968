"""Converts Matplotlib figures to SVG for light and dark pages."""

from __future__ import annotations

import base64
import html
import re
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

__all__ = ["described", "for_dark", "for_light"]

PAPER, INK = np.array([0x13, 0x14, 0x16]) / 255, np.array([0xE6, 0xE6, 0xE6]) / 255
"""The colours of white and black on dark pages; the first is the background of the theme."""

LONGEST = 250


def for_light(svg: str) -> str:
    """Return a figure without its XML head, dates and fixed size, for pages with a white background."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    return svg.replace("<svg ", '<svg fill="#000000" ', 1)  # black letters carry no colour of their own


def for_dark(svg: str) -> str:
    """Return the same figure for pages with a dark background, with all colours mirrored in lightness.

    Args:
        svg: as `for_light` returns it. Images inside it are mirrored too, so that labels on them stay readable.
    """
    svg = re.sub(r"#[0-9a-fA-F]{6}\b", lambda found: _colour(found[0]), svg)
    return re.sub(r"(?<=data:image/png;base64,)[\w+/=\s]+", lambda found: _picture(found[0]), svg)


def described(svg: str) -> str:
    """Return the words in a figure, the longest first, as alternative text."""
    words = (html.unescape(word).strip() for word in re.findall(r"<!-- (.*?) -->", svg, re.DOTALL))
    kept = dict.fromkeys(" ".join(word.split()) for word in words if re.search(r"[^\W\d_]{2}", word))
    return "; ".join(sorted(kept, key=len, reverse=True))[:LONGEST]


def _mirrored(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return colours with the lightness 1 - L and the same hue and saturation, scaled to a dark page."""
    lightness = rgb.max(axis=-1, keepdims=True) + rgb.min(axis=-1, keepdims=True)
    return np.asarray(PAPER + (rgb + 1 - lightness) * (INK - PAPER))


def _colour(text: str) -> str:
    red, green, blue = np.rint(255 * _mirrored(np.array([*bytes.fromhex(text[1:])]) / 255)).astype(int)
    return f"#{red:02x}{green:02x}{blue:02x}"


def _picture(text: str) -> str:
    from PIL import Image

    pixels = np.asarray(Image.open(BytesIO(base64.b64decode(text))).convert("RGBA"), dtype=float) / 255
    dark = np.concatenate([_mirrored(pixels[..., :3]), pixels[..., 3:]], axis=-1)
    made = BytesIO()
    Image.fromarray(np.rint(255 * dark).astype(np.uint8)).save(made, "png")
    return base64.b64encode(made.getvalue()).decode()
