"""Subclasses that a test makes, to define members which a class leaves to its subclasses."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fitgym.suite.text.expressions import literal_source
from fitgym.suite.text.layout import Piece, indented, laid_out, prefixed

__all__ = ["subclass"]

_TEXT = re.compile(r"b?'(?:[^'\\]|\\.)*'")


def subclass(name: str, base: str, members: Sequence[tuple[str, Piece]], width: int) -> list[str]:
    """Return the definition of a subclass, attributes first, with blank lines around it.

    Args:
        name: of the subclass.
        base: source of the class.
        members: the beginning of the definition of each member, see `Parameter.hook`, and its value.
        width: maximal length of a line.
    """
    attributes: list[str] = []
    functions: list[str] = []
    for header, value in members:
        if header.endswith(":"):
            functions += ["", *_TEXT.sub(lambda found: literal_source(found[0]), header).splitlines()]
            functions += indented(laid_out(prefixed("return ", value), width - 8))
        else:
            attributes += laid_out(prefixed(f"{header} ", value), width - 4)
    body = attributes + functions if attributes else functions[1:]
    return ["", f"class {name}({base}):", *indented(body), ""]
