"""Reflection: reads classes and objects without running code of the subject.

Plain `getattr`, `isinstance` and `in` may call `__getattribute__`, `__class__`, `__eq__` or `__hash__` of the subject.
The functions of this module use the descriptors of `type` and compare by identity instead.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeGuard

from fitgym.testcase.expression import Name

__all__ = ["among", "constant", "is_class", "mro", "name_of", "owner_of", "static", "stored_attributes"]


def name_of(thing: object, home: str = "") -> Name | None:
    """Return the importable name of a class or function, None if it has none.

    A name is importable if the dotted path in `__qualname__` leads to the object in a loaded module. The candidates are
    tried in this order:

    1. `home`, if it is the object's own module or a package around it;
    2. if a part of its module's name starts with an underscore: the name without leading underscores (`csv` for
       `_csv`), then the parent packages;
    3. its own module.
    """
    namespace = type.__getattribute__(thing, "__dict__") if is_class(thing) else {}
    module = namespace.get("__module__") if is_class(thing) else getattr(thing, "__module__", None)
    if is_class(thing) and type(module) is not str:
        module = type.__dict__["__module__"].__get__(thing)  # C classes store it elsewhere
    qualname = type.__dict__["__qualname__"].__get__(thing) if is_class(thing) else _qualname(thing)
    if type(module) is not str or type(qualname) is not str or not _is_path(qualname):
        return None
    if module == "__main__":
        return None
    candidates = [home] if home and f"{module}.".startswith(f"{home}.") else []
    parts = module.split(".")
    if any(part.startswith("_") for part in parts):
        candidates.append(".".join(part.lstrip("_") for part in parts))
        candidates += [".".join(parts[:size]) for size in range(len(parts) - 1, 0, -1)]
        candidates = [name for name in candidates if not name.startswith("_")]
    candidates.append(module)
    for candidate in candidates:
        if _resolve(candidate, qualname) is thing:
            return Name(candidate, qualname)
    return None


def constant(value: object, home: str = "") -> Name | None:
    """Return the public name of an object that a module keeps (a token type, a sentinel, a registry), None without one.

    The module under test is searched first, then the module of the object's class.
    """
    module = type.__getattribute__(type(value), "__dict__").get("__module__", "builtins")
    for candidate in (home, module):
        loaded = sys.modules.get(candidate) if type(candidate) is str else None
        if not among(types.ModuleType, mro(type(loaded))):
            continue
        for name, kept in list(types.ModuleType.__getattribute__(loaded, "__dict__").items()):
            if kept is value and type(name) is str and _is_public(name):
                return Name(candidate, name)
    return None


def stored_attributes(value: Any) -> Iterator[tuple[str, object]]:
    """Yield the public attributes of an object that can be read without running its code.

    These are the instance dictionary, slots and the fields of a named tuple. An attribute that the class shadows with a
    property is left out, and so is every attribute of a class with its own `__getattribute__`: reading it in a test
    would run code.
    """
    cls = type(value)
    if type(static(cls, "__getattribute__")) is not types.WrapperDescriptorType:
        return
    fields = static(cls, "_fields")
    if among(tuple, mro(cls)) and type(fields) is tuple:
        for index, field in enumerate(fields):
            getter = static(cls, field) if type(field) is str else None
            if type(getter).__name__ == "_tuplegetter" and index < tuple.__len__(value):
                yield field, tuple.__getitem__(value, index)
    dictionary = static(cls, "__dict__")  # any other kind may be a property of the subject
    plain = type(dictionary) in (types.GetSetDescriptorType, types.MemberDescriptorType)
    namespace = dictionary.__get__(value, cls) if plain else {}
    if type(namespace) is dict:
        for name, item in list(namespace.items()):
            if type(name) is str and _is_public(name) and not _is_data_descriptor(static(cls, name)):
                yield name, item
    for owner in mro(cls):
        members = type.__getattribute__(owner, "__dict__")
        for name, member in list(members.items()) if "__slots__" in members else ():
            if type(member) is types.MemberDescriptorType and _is_public(name) and static(cls, name) is member:
                try:
                    item = member.__get__(value, cls)
                except AttributeError:
                    continue  # the slot is empty
                yield name, item


def static(cls: type, name: str) -> Any:
    """Return the class attribute `name` as it is stored, without running a descriptor; None if there is none."""
    for owner in mro(cls):
        namespace = type.__getattribute__(owner, "__dict__")
        if name in namespace:
            return namespace[name]
    return None


def owner_of(cls: type, name: str) -> type | None:
    """Return the first class in the MRO of `cls` that defines the attribute `name` itself, None if none does."""
    return next((one for one in mro(cls) if name in type.__getattribute__(one, "__dict__")), None)


def mro(cls: type) -> tuple[type, ...]:
    """Return the method resolution order of `cls`. Does not call its metaclass."""
    return _MRO(cls)


def is_class(thing: object) -> TypeGuard[type]:
    """Return True if the object is a class. `isinstance` would read its attribute `__class__`."""
    return issubclass(type(thing), type)  # the metaclass that could answer is that of `type`


def among(cls: type, classes: Iterable[type]) -> bool:
    """Return True if `cls` is one of `classes`. `in` would call the `__eq__` and `__hash__` of its metaclass."""
    for other in classes:  # noqa: SIM110  (`any` takes three times as long, and this runs for every value)
        if cls is other:
            return True
    return False


_MRO: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__


def _is_data_descriptor(attribute: object) -> bool:
    cls = type(attribute)
    return cls is not types.NoneType and any(static(cls, name) is not None for name in ("__set__", "__delete__"))


def _is_public(name: str) -> bool:
    return not name.startswith("_") and name.isidentifier()


def _is_path(qualname: str) -> bool:
    return all(part.isidentifier() for part in qualname.split("."))


def _qualname(thing: object) -> object:
    return getattr(thing, "__qualname__", None)


def _resolve(module: str, qualname: str) -> object:
    """Return the object at the dotted path in a loaded module, None if there is none. Runs no descriptors."""
    loaded = sys.modules.get(module)
    if not among(types.ModuleType, mro(type(loaded))):
        return None
    first, *rest = qualname.split(".")
    found: Any = types.ModuleType.__getattribute__(loaded, "__dict__").get(first)
    for part in rest:
        if not is_class(found):
            return None
        found = static(found, part)
        if type(found) is staticmethod:
            found = found.__func__
    return found
