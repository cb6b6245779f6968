"""Constants as canonical source text: 1, 1.0 and True are three different texts."""

from __future__ import annotations

import ast
import math
from types import EllipsisType

__all__ = ["KINDS", "LONGEST", "Scalar", "canonical", "kind_of_text", "text_of"]

Scalar = None | bool | int | float | complex | str | bytes

KINDS = ("none", "bool", "int", "float", "complex", "str", "bytes", "ellipsis")
"""The results of `kind_of_text`."""

LONGEST = 1000
"""Maximum length of the text of a constant, in characters. A longer one costs more than it yields."""


def text_of(value: Scalar) -> str:
    """Return the canonical source text of a constant: its `repr`, and `float("...")` for nan and infinities."""
    if type(value) is str or type(value) is int:
        return repr(value)
    if isinstance(value, EllipsisType):
        return "..."  # `repr` would give a name, like that of a class
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value!r}")'
    if isinstance(value, complex):
        if not (math.isfinite(value.real) and math.isfinite(value.imag)):
            return "0j"
        # `-1j` is read as -0.0-1j: negative zeros of complex numbers cannot be written, so they are made positive.
        return repr(complex(value.real + 0.0, value.imag + 0.0))
    return repr(value)


def kind_of_text(text: str) -> str:
    """Return which of `KINDS` a canonical literal is, from its characters alone."""
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
    """The text is the `repr` of a float."""
    try:
        return repr(float(text)) == text
    except ValueError:
        return False


def canonical(text: str) -> str | None:
    """Return the canonical text of a constant in any notation, None if it is not a constant or too long."""
    if not text or len(text) > LONGEST:
        return None
    # Parsing takes 10 us. Most texts are the output of `repr`, which a cheap check can confirm.
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
