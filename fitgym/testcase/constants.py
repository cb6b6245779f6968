"""Constants as canonical source text: 1, 1.0 and True are three texts."""

from __future__ import annotations

import ast
import math
from types import EllipsisType

__all__ = ["KINDS", "LONGEST", "Scalar", "canonical", "kind_of_text", "text_of"]

Scalar = None | bool | int | float | complex | str | bytes

KINDS = ("none", "bool", "int", "float", "complex", "str", "bytes", "ellipsis")
"""What `kind_of_text` can answer."""

LONGEST = 1000
"""Longest text of a constant, in characters: a longer one costs more to send and to read than it can show."""


def text_of(value: Scalar) -> str:
    """The canonical source text of a constant: what `repr` says, nan and infinities as `float("...")`."""
    if type(value) is str or type(value) is int:
        return repr(value)
    if isinstance(value, EllipsisType):
        return "..."  # its name could not be told from that of a class
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value!r}")'
    if isinstance(value, complex):
        if not (math.isfinite(value.real) and math.isfinite(value.imag)):
            return "0j"
        # `-1j` is read as -0.0-1j: negative zeros of complex numbers cannot be written down, so they are made positive.
        return repr(complex(value.real + 0.0, value.imag + 0.0))
    return repr(value)


def kind_of_text(text: str) -> str:
    """Which of `KINDS` a canonical literal is, from its characters alone."""
    first = text[0]
    if first in "'\"":
        return "str"
    if first == "b":
        return "bytes"
    if first in "TF":
        return "bool"
    if first == "N":
        return "none"
    if text[-1] == ")":
        return "float" if first == "f" else "complex"
    if text[-1] == "j":
        return "complex"
    if "." in text or "e" in text:
        return "ellipsis" if text == "..." else "float"
    return "int"


def _is_float_text(text: str) -> bool:
    """The text is what `repr` writes for a float."""
    try:
        return repr(float(text)) == text
    except ValueError:
        return False


def canonical(text: str) -> str | None:
    """The canonical text of a constant written in any way, or None if it is no constant or too long."""
    if not text or len(text) > LONGEST:
        return None
    # Parsing takes 10 us. Most texts are what `repr` wrote, and can be shown to be.
    if text[0] in "'\"" and repr(text[1:-1]) == text:
        return text
    if text.removeprefix("-").isdecimal() and str(int(text)) == text:
        return text
    if text[-1].isdecimal() and "." in text and _is_float_text(text):
        return text
    if text.startswith("float("):
        return text if text in ('float("nan")', 'float("inf")', 'float("-inf")') else None
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    if value is not None and value is not ... and type(value) not in (bool, int, float, complex, str, bytes):
        return None
    return text_of(value)
