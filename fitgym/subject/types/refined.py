"""Refined types: a declared type, made more precise by how the code uses the parameter."""

from __future__ import annotations

import re

from fitgym.subject.types.hints import ANY, NAMESPACES, PATH, PATH_TEXT, SEVERAL, Hint, choices, listed_in, union

__all__ = ["refined"]

_STR = Hint("class", "builtins.str")
_LITERALS = {
    _STR: re.compile(r"['\"]"),
    Hint("class", "builtins.bytes"): re.compile(r"b['\"]"),
    Hint("class", "builtins.int"): re.compile(r"-?\d+$"),
}
"""Classes of literals, each with the beginning of their source text."""


def refined(declared: Hint, used: Hint) -> Hint:
    """Return a declared type with what the body shows of its values.

    - A plain holder of attributes has the attributes that the body uses.
    - A dictionary or mapping has the keys that the body uses, as a first choice.
    - If the body compares a text or number with several constants, or uses it as the key of a table, these come first.
    - A text that the body opens is the path of a file, too.
    """
    uses = choices(used)
    if declared.kind == "class" and declared.name in NAMESPACES:
        declared = next(
            (one._replace(name=declared.name) for one in uses if one.kind == "class" and one.texts), declared
        )
    found: list[Hint] = []
    for choice in choices(declared):
        if choice.kind in ("dict", "mapping") and choice.args[:1] in ((_STR,), (ANY,)):
            records = [one for one in uses if one.kind == "record"]
            found += [one._replace(args=tuple(_closest(choice.args[1], arg) for arg in one.args)) for one in records]
        if choice in _LITERALS:
            texts = tuple(text for text in listed_in(used) if _LITERALS[choice].match(text))
            found += [Hint("literal", texts=texts)] if len(texts) >= SEVERAL else []
        found.append(choice)
    hint = union(found)
    return union([hint, PATH_TEXT]) if {PATH, PATH_TEXT} & set(uses) and _STR in choices(hint) else hint


def _closest(declared: Hint, inferred: Hint) -> Hint:
    """Return the inferred type of a value if there is one and the declared type leaves it open, else the declared one."""
    return inferred if declared.kind in ("any", "union") and inferred.kind != "any" else declared
