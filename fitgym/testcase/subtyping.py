"""Subtyping: whether a value of one hint can be used where another hint is wanted."""

from __future__ import annotations

from collections.abc import Mapping

from fitgym.subject.subject import Class
from fitgym.subject.types.hints import Hint

__all__ = ["CONTAINERS", "SCALARS", "attributes", "fits", "simple_kind"]

SCALARS = {
    "builtins.int": "int",
    "builtins.str": "str",
    "builtins.float": "float",
    "builtins.bool": "bool",
    "builtins.bytes": "bytes",
    "builtins.complex": "complex",
    "builtins.NoneType": "none",
    "types.NoneType": "none",
    "builtins.ellipsis": "ellipsis",
    "types.EllipsisType": "ellipsis",
    "numbers.Number": "float",
    "numbers.Complex": "complex",
    "numbers.Real": "float",
    "numbers.Rational": "int",
    "numbers.Integral": "int",
    "typing.SupportsInt": "int",
    "typing.SupportsIndex": "int",
    "typing.SupportsFloat": "float",
    "typing.SupportsAbs": "float",
    "typing.SupportsRound": "float",
    "typing.SupportsComplex": "complex",
    "typing.SupportsBytes": "bytes",
    "typing.AnyStr": "str",
    "typing.LiteralString": "str",
    "typing.Text": "str",
    "os.PathLike": "str",
    "collections.abc.ByteString": "bytes",
    "collections.abc.Buffer": "bytes",
    "typing_extensions.Buffer": "bytes",
}
"""Classes whose objects can be written as a constant, and the kind of the constant."""

CONTAINERS = {
    "builtins.list": "list",
    "builtins.tuple": "tuple",
    "builtins.set": "set",
    "builtins.frozenset": "frozenset",
    "builtins.dict": "dict",
    "builtins.type": "type",
    "typing.List": "list",
    "typing.Tuple": "tuple",
    "typing.Set": "set",
    "typing.FrozenSet": "frozenset",
    "typing.Dict": "dict",
    "collections.abc.Iterable": "iterable",
    "collections.abc.Iterator": "iterator",
    "collections.abc.Generator": "iterator",
    "collections.abc.Collection": "iterable",
    "collections.abc.Container": "iterable",
    "collections.abc.Sized": "iterable",
    "collections.abc.Reversible": "sequence",
    "collections.abc.Sequence": "sequence",
    "collections.abc.MutableSequence": "list",
    "collections.abc.Set": "set",
    "collections.abc.MutableSet": "set",
    "collections.abc.Mapping": "mapping",
    "collections.abc.MutableMapping": "dict",
    "collections.abc.Callable": "callable",
    "typing.Iterable": "iterable",
    "typing.Iterator": "iterator",
    "typing.Generator": "iterator",
    "typing.Collection": "iterable",
    "typing.Container": "iterable",
    "typing.Sized": "iterable",
    "typing.Reversible": "sequence",
    "typing.Sequence": "sequence",
    "typing.MutableSequence": "list",
    "typing.AbstractSet": "set",
    "typing.MutableSet": "set",
    "typing.Mapping": "mapping",
    "typing.MutableMapping": "dict",
    "typing.Callable": "callable",
}
"""Classes equivalent to a hint with unspecified elements, and the kind of that hint."""

_WIDER = {
    "bool": ("int", "float", "complex"),
    "int": ("float", "complex"),
    "float": ("complex",),
    "list": ("sequence", "iterable"),
    "tuple": ("sequence", "iterable"),
    "set": ("iterable",),
    "frozenset": ("set", "iterable"),
    "dict": ("mapping", "iterable"),
    "mapping": ("iterable",),
    "sequence": ("iterable",),
    "iterator": ("iterable",),
    "str": ("sequence", "iterable"),
    "bytes": ("sequence", "iterable"),
}
"""The other kinds that a kind can replace (numbers as in PEP 484)."""

_TYPES: dict[str, type] = {
    "int": int,
    "str": str,
    "float": float,
    "bool": bool,
    "bytes": bytes,
    "complex": complex,
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "dict": dict,
    "iterator": type(iter([])),
    "callable": type(lambda: None),
}


_DISPLAYS = {"record": "dict", "row": "list"}
"""The kinds of hints with a place for each element."""


def attributes(kind: str) -> frozenset[str]:
    """Return the names of the attributes of every value of a kind; empty for kinds without values of their own."""
    return frozenset(dir(_TYPES[kind])) if kind in _TYPES else frozenset()


def simple_kind(hint: Hint) -> str:
    """Return the kind with the classes of `SCALARS` and `CONTAINERS` resolved, "class" for other classes."""
    if hint.kind in _DISPLAYS:
        return _DISPLAYS[hint.kind]
    if hint.kind == "class":
        return SCALARS.get(hint.name) or CONTAINERS.get(hint.name) or "class"
    return hint.kind


def fits(given: Hint, wanted: Hint, classes: Mapping[str, Class]) -> bool:
    """Return whether a value of the hint `given` can be used where `wanted` is required.

    Elements of containers are compared only if both sides specify them. An unknown type ("any") fits only "any". A
    union fits if each of its parts except None does.
    """
    if wanted.kind == "any" or wanted.name == "builtins.object":
        return given.kind != "none"
    if wanted.kind == "union":
        return any(fits(given, part, classes) for part in wanted.args if part.kind != "none")
    if given.kind == "union":
        parts = [part for part in given.args if part.kind != "none"]
        return bool(parts) and all(fits(part, wanted, classes) for part in parts)
    given_kind, wanted_kind = simple_kind(given), simple_kind(wanted)
    if given_kind == "class":
        known = classes.get(given.name)
        if wanted_kind == "class":
            if wanted.texts:
                return given == wanted
            return given.name == wanted.name or (known is not None and wanted.name in known.bases)
        return False
    if wanted_kind == "class" or given_kind in ("any", "none", "ellipsis", "literal", "protocol"):
        return False
    if given_kind != wanted_kind and wanted_kind not in _WIDER.get(given_kind, ()):
        return False
    if not {"record", "row"}.isdisjoint((given.kind, wanted.kind)):
        return True
    if len(given.args) == len(wanted.args) and given_kind not in ("tuple", "callable"):
        return all(
            g.kind == "any" or w.kind == "any" or fits(g, w, classes)
            for g, w in zip(given.args, wanted.args, strict=True)
        )
    return True
