"""Doubles: plain objects that replace objects of a class, with the attribute types that the class declares."""

from __future__ import annotations

from collections.abc import Callable

from fitgym.subject.introspection.names import find_class
from fitgym.subject.types.hints import ANY, NAMESPACES, NONE, Hint, choices, union

__all__ = ["typed"]

_DETAILED = {"record": ("dict", "mapping"), "row": ("list", "sequence")}
"""Kinds of hints that name each item, and the kinds of declared types that they fill in."""

Attribute = Callable[[type, str], Hint | None]
"""Returns the declared type of an attribute of a class, None if it is unknown."""


def typed(double: Hint, declared: Hint, attribute: Attribute) -> Hint:
    """Return the double with the types that the declared class gives its attributes, if that is one known class.

    An attribute whose own attributes are used stays a double. An undeclared one keeps the type that its uses suggest.

    Args:
        double: the attributes in use.
        declared: the type of the parameter.
        attribute: looks up an attribute.
    """
    classes = [cls for one in choices(declared) if one.kind == "class" and (cls := find_class(one.name)) is not None]
    if len(classes) != 1:
        return double
    parts = [
        _typed(used, attribute(classes[0], name) or ANY, attribute)
        for name, used in zip(double.texts, double.args, strict=True)
    ]
    return double._replace(args=tuple(parts))


def _typed(used: Hint, declared: Hint, attribute: Attribute) -> Hint:
    if declared == ANY:
        return used
    inner = next((part for part in choices(used) if part.name in NAMESPACES), None)
    if inner is not None:
        return union([typed(inner, declared, attribute), *(part for part in choices(declared) if part == NONE)])
    for detailed in choices(used):  # the keys that the code reads say more than `dict[str, Any]`
        if any(part.kind in _DETAILED.get(detailed.kind, ()) for part in choices(declared)):
            return detailed
    if used.kind == "callable" == declared.kind:
        return declared._replace(args=(*declared.args[:-1], _typed(used.args[-1], declared.args[-1], attribute)))
    return declared
