"""Unsearched operations: calls that finished tests make and that the search never makes.

Assertions read properties, texts and lengths of objects that other modules of the package define. Minimising replaces a
stand-in by an object of the declared class and sets its attributes.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from functools import cached_property

from fitgym.subject.introspection.catalogue import Catalogue
from fitgym.subject.introspection.names import find_class
from fitgym.subject.subject import OperationKind, Parameter
from fitgym.subject.types.hints import ANY, NONE, choices, home, is_protocol, name_of

__all__ = ["add_observers", "add_setters"]

_MOST = 4  # properties of one class
_TEXTS = ("__str__", "__repr__")  # `str` calls the first one that a class defines


def add_observers(catalogue: Catalogue, module: str) -> None:
    """Add operations that observe objects of classes of the package which the module under test does not define.

    These are the classes that operations under test return, and those of their arguments.

    Args:
        catalogue: of the module; receives the operations.
        module: name of the module under test.
    """
    package = module.partition(".")[0]
    for operation in [one for one in catalogue.operations if one.is_entry_point]:
        for name in [one.name for one in choices(operation.returns) if one.kind == "class"]:
            cls = find_class(name)
            if cls is not None and name not in catalogue.classes and _is_elsewhere(cls, module, package):
                catalogue.register(cls)
    for key, cls in sorted(catalogue.classes.items()):
        if not _is_elsewhere(cls, module, package) or is_protocol(cls) or "<locals>" in cls.__qualname__:
            continue
        bases = {name_of(base) for base in cls.__mro__}
        known = {one.name.rpartition(".")[2] for one in catalogue.operations if one.owner in bases}
        place, qualname = home(cls)
        for member, is_property in _shown(cls, package):
            if member not in known:
                kind: OperationKind = "property" if is_property else "operator"
                name = f"{qualname}.{member}"
                catalogue.add(kind, place, name, key, (), ANY, under_test=False, unsearched=True)


def add_setters(catalogue: Catalogue) -> None:
    """Add operations that set the attributes which code under test uses of its arguments (`Parameter.double`).

    The arguments have a declared class whose objects accept any value of these attributes.
    """
    wanted: dict[tuple[str, str], type] = {}
    for operation in [one for one in catalogue.operations if one.is_entry_point]:
        for parameter in operation.parameters:
            classes = [find_class(one.name) for one in choices(parameter.hint) if one.kind == "class"]
            if parameter.double is None or not parameter.declared or len(classes) != 1 or classes[0] is None:
                continue
            for name in parameter.double.texts:
                if _can_set(classes[0], name):
                    wanted.setdefault((name_of(classes[0]), name), classes[0])
    value = Parameter("value", "positional_only", ANY)
    for (key, name), cls in wanted.items():
        module, qualname = home(cls)
        path = f"{qualname}.{name}"
        catalogue.add("setter", module, path, key, (value,), NONE, under_test=False, unsearched=True)


def _can_set(cls: type, name: str) -> bool:
    """Return whether the attribute is a plain one of the objects of a class, with a public name."""
    stored = inspect.getattr_static(cls, name, None)
    is_plain = stored is None or not hasattr(type(stored), "__get__")
    return (
        is_plain
        and inspect.getattr_static(cls, "__setattr__") is vars(object)["__setattr__"]
        and name.isidentifier()
        and not name.startswith("_")
    )


def _is_elsewhere(cls: type, module: str, package: str) -> bool:
    """Return whether the class belongs to another module of the package."""
    return cls.__module__ != module and str(cls.__module__).partition(".")[0] == package


def _shown(cls: type, package: str) -> Iterator[tuple[str, bool]]:
    """Yield the members that show the state of an object, each with whether it is a property.

    Only those are read that the package itself defines.
    """
    found: dict[str, object] = {}
    for base in reversed(cls.__mro__):
        if str(base.__module__).partition(".")[0] == package:
            found.update(vars(base))
    text = next((name for name in _TEXTS if isinstance(found.get(name), types.FunctionType)), None)
    if text is not None:
        yield text, False
    if isinstance(found.get("__len__"), types.FunctionType):
        yield "__len__", False
    properties = [name for name, value in found.items() if isinstance(value, property | cached_property)]
    for name in [name for name in properties if not name.startswith("_")][:_MOST]:
        yield name, True
