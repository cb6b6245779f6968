"""Template methods: inherited methods that call a method which the class overrides."""

from __future__ import annotations

import types
from collections.abc import Collection, Iterator, Sequence

from fitgym.subject.introspection.special import is_special

__all__ = ["template_methods"]

_MOST = 12  # of one class


def template_methods(
    overridden: Collection[str], elsewhere: Sequence[type]
) -> Iterator[tuple[str, types.FunctionType]]:
    """Yield the public methods of base classes that call an overridden method, directly or through other methods.

    A framework calls such hooks with suitable arguments: `HTMLParser.feed` calls `handle_starttag`, the public
    `serialize` of a field calls a private `_serialize`. The search is by name, so it may find too many methods: a name
    that the code mentions for another object counts as well.

    Args:
        overridden: names that the class and its bases in the same source define.
        elsewhere: its bases that are defined elsewhere, in method resolution order.

    Yields:
        Name and function, in the order of the bases, at most 12.

    References:
        Gamma, Helm, Johnson and Vlissides 1994, Design Patterns, Template Method.
    """
    methods: dict[str, types.FunctionType] = {}
    hooks: set[str] = set()
    for owner in elsewhere:
        for name, raw in vars(owner).items():
            if isinstance(raw, types.FunctionType) and name not in methods:
                methods[name] = raw
                if name in overridden and not is_special(name):
                    hooks.add(name)
    mentioned = {name: set(method.__code__.co_names) for name, method in methods.items()}
    leading = set(hooks)
    while more := {name for name, names in mentioned.items() if name not in leading and names & leading}:
        leading |= more
    found = [
        (name, method)
        for name, method in methods.items()
        if name in leading and name not in overridden and not name.startswith("_")
    ]
    yield from found[:_MOST]
