"""Extensions: subclasses that a test makes, to define members which a class leaves to its subclasses."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from fitgym.subject.subject import subclass_name

__all__ = ["extending"]

_ITERATOR: type = type(iter([]))


def extending(base: type, hooks: Mapping[str, str]) -> Callable[..., Any]:
    """Return a function that is called like the class, and also takes values for members of a subclass.

    With such values it makes the subclass and calls it, else it calls the class.

    Args:
        base: the class.
        hooks: the beginning of the definition of each member, see `Parameter.hook`.
    """
    makers: dict[tuple[str, ...], Callable[..., type]] = {}

    def make(*args: Any, **kwargs: Any) -> Any:
        given = [name for name in hooks if name in kwargs]
        if not given:
            return base(*args, **kwargs)
        values = [kwargs.pop(name) for name in given]
        maker = makers.get(tuple(given))
        if maker is None:
            maker = makers[tuple(given)] = _maker(base, {name: hooks[name] for name in given})
        return maker(base, *values)(*args, **kwargs)

    make.__wrapped__ = base  # type: ignore[attr-defined]  # its signature, and the frame between a test and its body
    return make


def _maker(base: type, hooks: Mapping[str, str]) -> Callable[..., type]:
    """Return a function from the class and the values to the subclass."""
    name = subclass_name(base.__qualname__)
    lines = [f"def make(base{''.join(f', value{place}' for place in range(len(hooks)))}):", f" class {name}(base):"]
    for place, header in enumerate(hooks.values()):
        value = f" return fresh(value{place})" if header.endswith(":") else f" value{place}"
        lines += [f"  {line}" for line in header.splitlines()]
        lines[-1] += value
    space: dict[str, Any] = {"__name__": base.__module__, "fresh": _fresh}
    exec("\n".join([*lines, f" return {name}"]), space)
    made: Callable[..., type] = space["make"]
    return made


def _fresh(value: Any) -> Any:
    """Return a copy of a display or an iterator over one: in a test, every call of the member evaluates it again."""
    kind = type(value)
    if kind is list or kind is tuple:
        return kind([_fresh(item) for item in value])
    if kind is dict:
        return {key: _fresh(item) for key, item in value.items()}
    if kind is set:
        return set(value)
    return copy.copy(value) if kind is _ITERATOR else value
