"""Attributes: the attributes of the objects of loaded classes, used to infer a class from the attributes in use."""

from __future__ import annotations

import contextlib
import opcode
import sys
import types
from collections.abc import Iterable, Mapping

from fitgym.subject.introspection.names import Nodes, assigned
from fitgym.subject.introspection.special import is_private
from fitgym.subject.types.hints import Hint, name_of
from fitgym.subject.types.protocols import annotated

__all__ = ["far_attributes", "namesakes", "near_attributes", "plain_name"]

_MOST_CLASSES = 2000
_STORE = opcode.opmap["STORE_ATTR"]
_EXTENDED = opcode.opmap["EXTENDED_ARG"]
# Instructions that load a local variable last, with the bits of their argument that number it.
_LOADS = {opcode.opmap["LOAD_FAST"]: 0xFF, opcode.opmap["LOAD_DEREF"]: 0xFF} | {
    opcode.opmap[name]: 0x0F for name in ("LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST") if name in opcode.opmap
}


def near_attributes(module: types.ModuleType, nodes: Nodes) -> dict[str, frozenset[str]]:
    """Return the attributes of each class of the package that the module has a name for, by the class's name in hints.

    Args:
        module: imported.
        nodes: of its source: attributes that methods assign to their receiver count too.
    """
    package = module.__name__.partition(".")[0]
    found: dict[str, frozenset[str]] = {}
    for value in list(vars(module).values()):
        with contextlib.suppress(Exception):  # an object that fails when it is inspected
            if isinstance(value, type) and str(value.__module__).partition(".")[0] == package:
                found[name_of(value)] = _attributes_of(value, module, nodes)
    return found


def far_attributes(
    module: types.ModuleType, nodes: Nodes, near: Mapping[str, frozenset[str]]
) -> dict[str, frozenset[str]]:
    """Return the same for the public classes of the other loaded modules of the package."""
    package = module.__name__.partition(".")[0]
    found: dict[str, frozenset[str]] = {}
    for name, other in sorted(sys.modules.items()):
        if name.partition(".")[0] != package or not isinstance(other, types.ModuleType):
            continue
        for value in list(vars(other).values()):
            if len(found) >= _MOST_CLASSES:
                return found
            with contextlib.suppress(Exception):
                if isinstance(value, type) and value.__module__ == name and not is_private(value.__name__):
                    found.setdefault(name_of(value), _attributes_of(value, module, nodes))
    return {name: attributes for name, attributes in found.items() if name not in near}


def namesakes(classes: Iterable[str]) -> dict[str, Hint]:
    """Return each class, given by its name in hints, by the parameter name that stands for it.

    A parameter `grid_view` stands for the class `GridView`, if no other class has this name.
    """
    found: dict[str, list[str]] = {}
    for name in classes:
        found.setdefault(plain_name(name.rpartition(".")[2]), []).append(name)
    return {name: Hint("class", known[0]) for name, known in found.items() if len(known) == 1 and len(name) > 2}


def plain_name(name: str) -> str:
    """Return a name in lower case without underscores."""
    return name.replace("_", "").lower()


def _attributes_of(cls: type, module: types.ModuleType, nodes: Nodes) -> frozenset[str]:
    names = set(dir(cls))
    for base in cls.__mro__:
        names |= set(annotated(base))
        node = nodes.classes.get(base.__qualname__) if base.__module__ == module.__name__ else None
        if node is not None:
            names |= set(assigned(node))
        elif base.__module__.partition(".")[0] == module.__name__.partition(".")[0]:
            for member in vars(base).values():
                names |= _set_by(member.__code__) if isinstance(member, types.FunctionType) else set()
    return frozenset(names - set(dir(object)))


def _set_by(code: types.CodeType) -> set[str]:
    """Return the names of the attributes that a method sets on its receiver.

    They are read off the byte code, because parsing the source of every class of a large package takes seconds.
    """
    instructions, arguments = code.co_code[::2], code.co_code[1::2]
    found: set[str] = set()
    at = instructions.find(_STORE)
    while at >= 0:
        index, before, shift = arguments[at], at - 1, 8
        while before >= 0 and instructions[before] == _EXTENDED:
            index |= arguments[before] << shift
            before, shift = before - 1, shift + 8
        loaded = _LOADS.get(instructions[before]) if before >= 0 else None
        if loaded is not None and arguments[before] & loaded == 0:
            found.add(code.co_names[index])
        at = instructions.find(_STORE, at + 1)
    return found
