"""Placeholders: unique strings that stand for probes until the code is compiled.

The compiler accepts constants of a few types only. So the rewritten tree has a string in the place of each probe, and
`swap` exchanges the strings for the probes in `co_consts`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import CodeType
from typing import Any

from fitgym.instrument.arithmetic import attribute, item, with_attribute, with_item

__all__ = ["ATTRIBUTE", "INTO_ATTRIBUTE", "INTO_ITEM", "ITEM", "LEADING", "Factory", "placeholder", "swap"]

Factory = Callable[..., object]
"""Makes the probe of a site: `factory(site id)`, or `factory(site id, leading=True)`."""

# No source contains this string by accident. It begins with a NUL; a site's number or one of the following names comes next.
_MARK = "\0fitgym:"

ITEM, ATTRIBUTE = "item", "attribute"
"""The placeholders of the functions that read the target of an augmented assignment."""

LEADING = ">"
"""Follows the number of a condition whose probe also counts the blocks that the condition leads to."""

INTO_ITEM, INTO_ATTRIBUTE = "[]", "."
"""One of these follows the number of an operator whose probe also stores the result."""

_STORING: dict[str, Callable[[Any], object]] = {INTO_ITEM: with_item, INTO_ATTRIBUTE: with_attribute}


def placeholder(name: str, like: ast.AST) -> ast.Constant:
    """The placeholder of this name, located at `like`."""
    return ast.copy_location(ast.Constant(f"{_MARK}{name}"), like)


def swap(code: CodeType, factory: Factory) -> CodeType:
    """The code with the factory's probes in the place of all placeholders, inner code objects included."""
    constants: list[object] = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            constants.append(swap(constant, factory))
        elif isinstance(constant, str) and constant.startswith(_MARK):
            constants.append(_meant(constant, factory))
        else:
            constants.append(constant)
    return code.replace(co_consts=tuple(constants))


def _meant(mark: str, factory: Factory) -> object:
    """The object that a placeholder stands for. A string that is no placeholder stands for itself."""
    name = mark.removeprefix(_MARK)
    number = name.rstrip("[].>")
    if number.isdigit():
        if name[len(number) :] == LEADING:
            return factory(int(number), leading=True)
        probe = factory(int(number))
        return probe if number == name else _STORING[name[len(number) :]](probe)
    return {ITEM: item, ATTRIBUTE: attribute}.get(name, mark)
