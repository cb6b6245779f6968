"""Distinct items: the elements of a set built from expressions."""

from __future__ import annotations

from collections.abc import Sequence

from fitgym.testcase.constants import kind_of_text
from fitgym.testcase.expression import Expression, Literal

__all__ = ["distinct"]


def distinct(items: Sequence[Expression]) -> list[Expression]:
    """Return the items without those that a set would drop: 1, 1.0 and True are equal there."""
    found: dict[object, Expression] = {}
    for item in items:
        key: object = item
        if isinstance(item, Literal) and kind_of_text(item.text) in ("bool", "int", "float"):
            key = _number(item.text)
        found.setdefault(key, item)
    return list(found.values())


def _number(text: str) -> float:
    """Return the number of a literal."""
    if text.startswith("float("):
        return float(text[7:-2])
    if text in ("True", "False"):
        return float(text == "True")
    return int(text) if text.lstrip("-").isdigit() else float(text)
