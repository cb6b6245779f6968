"""Protocols: the attributes that a protocol requires, and whether a class has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fitgym.subject.types.hints import is_protocol

__all__ = ["annotated", "demanded", "has", "satisfies"]


def demanded(protocol: type) -> tuple[str, ...]:
    """Return the attributes that a protocol requires, sorted."""
    own: set[str] = set()
    for base in protocol.__mro__:
        if is_protocol(base) and base.__module__ != "typing":
            own |= {n for n in vars(base) if not n.startswith("_abc_") and n not in _PROTOCOL_INTERNALS}
            own |= set(annotated(base))
    return tuple(sorted(own))


_PROTOCOL_INTERNALS = frozenset(
    [
        "__abstractmethods__",
        "__annotations__",
        "__dict__",
        "__doc__",
        "__init__",
        "__module__",
        "__new__",
        "__slots__",
        "__subclasshook__",
        "__weakref__",
        "__parameters__",
        "__orig_bases__",
        "__class_getitem__",
        "__match_args__",
        "__static_attributes__",
        "__firstlineno__",
        "__protocol_attrs__",
        "__non_callable_proto_members__",
        "__annotate__",
        "__annotate_func__",
        "__type_params__",
        "_is_protocol",
        "__callable_proto_members_only__",
        "_is_runtime_protocol",
        "__hash__",
        "__annotations_cache__",
    ]
)


def has(cls: type, attribute: str) -> bool:
    """Objects of the class have the attribute, as far as the class definition shows."""
    return any(attribute in vars(base) or attribute in annotated(base) for base in cls.__mro__)


def annotated(cls: type) -> Mapping[str, Any]:
    """Return the annotated attributes of the class itself; none if `__annotations__` is a built-in descriptor."""
    found = vars(cls).get("__annotations__")
    return found if isinstance(found, dict) else {}


def satisfies(cls: type, protocol: type) -> bool:
    """The class is not the protocol itself and has every attribute that the protocol requires."""
    wanted = demanded(protocol)
    return bool(wanted) and cls is not protocol and all(has(cls, attribute) for attribute in wanted)
