"""Bindings: literals and regular expressions that names of the source stand for once the module is imported.

`from shop.words import GREETINGS` and `KEY = re.compile("|".join(NAMES))` show nothing of their values in the source.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import os
import platform
import re
import sys
import types
from builtins import id
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from fitgym.subject.code.constants import LONGEST, LONGEST_NUMBER
from fitgym.subject.code.patterns import parsed, with_flags

__all__ = ["Bindings"]

MOST_ITEMS = 24
"""Maximum number of items that are read of one container."""

MOST_LITERALS = 200
MOST_PATTERNS = 40

_OF_MACHINE = (os, platform, sys)
_FLAGS = {re.ASCII: "a", re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s", re.VERBOSE: "x"}


class Bindings:
    """The values of the names that the source reads.

    These are globals, attributes of imported modules (`words.GREETINGS`) and attributes of classes of the module
    (`self.KEY`). Values are read without running code of the subject. What describes the machine is left out: the
    attributes of `os`, `platform` and `sys`, and texts like them.

    Args:
        tree: the source.
        module: the imported module.
        fleeting: whether a literal depends on this run or this machine, such as the path of a folder.

    Attributes:
        literals: numbers, texts and bytes as source text, also the items of containers, in order of use. The keys of a
            table for `str.translate` are characters.
        patterns: regular expressions with their flags inline, in order of use.
    """

    def __init__(
        self, tree: ast.Module, module: types.ModuleType, fleeting: Callable[[str], bool] = lambda literal: False
    ) -> None:
        self._globals: dict[str, Any] = types.ModuleType.__getattribute__(module, "__dict__")
        self._classes = [
            value
            for value in list(self._globals.values())
            if _is_class(value) and type.__getattribute__(value, "__dict__").get("__module__") == module.__name__
        ]
        values = list(_unique(value for node in ast.walk(tree) for value in self._values(node)))
        here = {repr(value) for one in _OF_MACHINE for value in list(vars(one).values()) if type(value) is str}
        literals = dict.fromkeys(text for one in values for text in _literals(one))
        lasting = (text for text in literals if text not in here and not fleeting(text))
        self.literals = tuple(itertools.islice(lasting, MOST_LITERALS))
        patterns = dict.fromkeys(text for one in values for text in _patterns(one))
        usable = (text for text in patterns if text and parsed(text) is not None and not fleeting(repr(text)))
        self.patterns = tuple(itertools.islice(usable, MOST_PATTERNS))

    def _values(self, node: ast.AST) -> Iterator[object]:
        """Yield what a name or an attribute stands for, if that is known."""
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                yield self._globals.get(name)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute, ctx=ast.Load()):
                owner = self._globals.get(name)
                if type(owner) is types.ModuleType and owner not in _OF_MACHINE:
                    yield types.ModuleType.__getattribute__(owner, "__dict__").get(attribute)
                elif _is_class(owner):
                    yield inspect.getattr_static(owner, attribute, None)
                elif owner is None:
                    yield from (inspect.getattr_static(cls, attribute, None) for cls in self._classes)
            case ast.Call(func=ast.Attribute(attr="translate"), args=[ast.Name() | ast.Attribute() as table]):
                for value in self._values(table):
                    if type(value) is dict:
                        numbers = (key for key in value if type(key) is int and 0 <= key < 0x110000)
                        yield [chr(number) for number in itertools.islice(numbers, MOST_ITEMS)]


def _is_class(value: object) -> bool:
    return issubclass(type(value), type)  # `isinstance` would read the attribute `__class__` of the object


def _unique(values: Iterable[object]) -> Iterator[object]:
    """Yield each object once; equality would run code of the subject."""
    seen: dict[int, object] = {}
    for value in values:
        if value is not None and id(value) not in seen:
            seen[id(value)] = value
            yield value


def _items(value: object) -> list[object]:
    """Return the first items of a container, with the keys of a dictionary; of a set in the order of their texts."""
    if type(value) is dict:
        return [part for pair in itertools.islice(value.items(), MOST_ITEMS) for part in pair]
    if type(value) is list or type(value) is tuple:
        return list(value[:MOST_ITEMS])
    if type(value) is set or type(value) is frozenset:
        plain = [item for item in value if type(item) in (int, float, str, bytes)]
        return list(sorted(plain, key=repr)[:MOST_ITEMS])
    return []


def _literals(value: object, depth: int = 2) -> Iterator[str]:
    """Yield the numbers, texts and bytes in a value as source text."""
    kind = type(value)
    if kind is str or kind is bytes:
        if len(value) <= LONGEST:  # type: ignore[arg-type]
            yield repr(value)
    elif kind is int:
        if value.bit_length() <= LONGEST_NUMBER:  # type: ignore[attr-defined]
            yield repr(value)
    elif kind is float:
        if (text := repr(value))[-1].isdigit():  # no infinity, and a number
            yield text
    elif depth:
        for item in _items(value):
            yield from _literals(item, depth - 1)


def _patterns(value: object, depth: int = 2) -> Iterator[str]:
    """Yield the regular expressions for texts in a value."""
    if type(value) is re.Pattern:
        if type(value.pattern) is str:
            yield with_flags(value.pattern, "".join(letter for flag, letter in _FLAGS.items() if value.flags & flag))
    elif depth:
        for item in _items(value):
            yield from _patterns(item, depth - 1)
