"""Placeholders: unique strings that represent probes until the code is compiled.

The compiler accepts constants of only a few types. So the rewritten tree has a string for each probe, and `swap`
replaces these strings in `co_consts` with the probes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import CodeType
from typing import Any

from fitgym.instrument.arithmetic import attribute, item, with_attribute, with_item

__all__ = ["ATTRIBUTE", "INTO_ATTRIBUTE", "INTO_ITEM", "ITEM", "LEADING", "Factory", "placeholder", "swap"]

Factory = Callable[..., object]
"""Returns the probe of a site: `factory(site id)`, or `factory(site id, leading=True)`."""

# No source contains this string by accident. It starts with a NUL; the id of a site or a name below follows.
_MARK = "\0fitgym:"

ITEM, ATTRIBUTE = "item", "attribute"
"""Placeholders of the functions that read the target of an augmented assignment."""

LEADING = ">"
"""Suffix of the id of a condition whose probe also counts the blocks that the condition leads to."""

INTO_ITEM, INTO_ATTRIBUTE = "[]", "."
"""Suffixes of the id of an operator whose probe also stores the result."""

_STORING: dict[str, Callable[[Any], object]] = {INTO_ITEM: with_item, INTO_ATTRIBUTE: with_attribute}


def placeholder(name: str, like: ast.AST) -> ast.Constant:
    """Return the placeholder with this name, located at `like`."""
    return ast.copy_location(ast.Constant(f"{_MARK}{name}"), like)


def swap(code: CodeType, factory: Factory) -> CodeType:
    """Return the code with all placeholders replaced by the factory's probes, including nested code objects."""
    constants: list[object] = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            constants.append(swap(constant, factory))
        elif isinstance(constant, str) and constant.startswith(_MARK):
            constants.append(_object_of(constant, factory))
        else:
            constants.append(constant)
    return code.replace(co_consts=tuple(constants))


def _object_of(mark: str, factory: Factory) -> object:
    """Return the object for a placeholder, or the string itself if it is not a placeholder."""
    name = mark.removeprefix(_MARK)
    number = name.rstrip("[].>")
    if number.isdigit():
        if name[len(number) :] == LEADING:
            return factory(int(number), leading=True)
        probe = factory(int(number))
        return probe if number == name else _STORING[name[len(number) :]](probe)
    return {ITEM: item, ATTRIBUTE: attribute}.get(name, mark)
