"""Draws small SVG pictures in the page's colours: for light, dark and colour-blind-safe pages."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

__all__ = ["ALONE", "circle", "figure", "label", "line", "rect", "svg"]

ALONE = """
svg { --ground: #ffffff; --ink: #1b1f24; --faint: #5c636b; --line: #d5dae0; --blue: #0072b2; --orange: #d55e00;
      --band: #d3e8f6; }
@media (prefers-color-scheme: dark) { svg { --ground: #131416; --ink: #e4e7eb; --faint: #a4abb4; --line: #3a3f46;
      --blue: #56b4e9; --orange: #e69f00; --band: #123f5c; } }
text { font-family: system-ui, -apple-system, "Segoe UI", sans-serif; }
"""
"""The colours of a picture in a separate file. On a page, `fitgym.css` sets them for `svg.drawn`."""


def svg(width: int, height: int, shapes: Iterable[str], said: str, *, alone: bool = False) -> str:
    """Return a picture.

    Args:
        width: of the drawing, in units; it is shown as wide as the column.
        height: of the drawing, in units.
        shapes: the shapes of the picture.
        said: a sentence with its content, for screen readers.
        alone: the picture is a separate file, with a background and colours.
    """
    ground = f'<style>{ALONE}</style><rect width="{width}" height="{height}" rx="8" fill="var(--ground)"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawn" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(said)}">{ground if alone else ""}{"".join(shapes)}</svg>'
    )


def figure(drawing: str, caption: str) -> str:
    """Return a picture with its caption, as HTML for a page."""
    return f'<figure class="picture">{drawing}<figcaption>{escape(caption, quote=False)}</figcaption></figure>'


def label(x: float, y: float, words: str, *, size: int = 13, colour: str = "ink", anchor: str = "start") -> str:
    """Return a line of text whose baseline is at `y`."""
    where = f'x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}"'
    return f'<text {where} fill="var(--{colour})">{escape(words, quote=False)}</text>'


def line(points: Iterable[tuple[float, float]], colour: str, width: float = 1.0) -> str:
    """Return straight lines from point to point."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="var(--{colour})" stroke-width="{width:g}"/>'


def circle(x: float, y: float, radius: float, colour: str) -> str:
    """Return a filled circle."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="var(--{colour})"/>'


def rect(x: float, y: float, width: float, height: float, colour: str) -> str:
    """Return a filled rectangle."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="var(--{colour})"/>'
