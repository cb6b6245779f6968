"""Factories: functions and methods of a package whose annotation says that they return objects of a class."""

from __future__ import annotations

import contextlib
import re
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass

from fitgym.subject.introspection.callables import unwrapped

__all__ = ["Factories", "Factory", "is_factory_name"]

_MOST_INDEXED = 20_000  # functions of one package
_BUILDING = re.compile(r"(from|parse|loads?|create|make|new|build|open|read|decode|of)(_|\d|$)")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Factory:
    """A function or method that returns objects of a class.

    Attributes:
        function: without decorators.
        module, name: where a test finds it, with the class in the name of a method.
        owner: the class of a method, None for a function.
    """

    function: types.FunctionType
    module: str
    name: str
    owner: type | None


class Factories:
    """The annotated public functions of the loaded modules of a package, and the methods that are named like factories.

    Args:
        package: its name.
    """

    def __init__(self, package: str) -> None:
        self._package = package
        self._by_word: dict[str, list[Factory]] | None = None

    def mentioning(self, cls: type) -> list[Factory]:
        """Return the functions, then the methods, whose return annotation mentions the name of a class."""
        if self._by_word is None:
            self._by_word = {}
            for place, factory in enumerate(self._all()):
                if place >= _MOST_INDEXED:
                    break
                given = factory.function.__annotations__["return"]
                text = given.__qualname__ if isinstance(given, type) else str(given)  # `tuple[Node, ...]` is no class
                for word in dict.fromkeys(_WORD.findall(text)):
                    self._by_word.setdefault(word, []).append(factory)
        return sorted(self._by_word.get(cls.__name__, []), key=lambda factory: factory.owner is not None)

    def _all(self) -> Iterator[Factory]:
        for module_name, module in sorted(sys.modules.items()):
            if module_name.partition(".")[0] != self._package or not isinstance(module, types.ModuleType):
                continue
            for name, value in list(vars(module).items()):
                with contextlib.suppress(Exception):  # an object of the package that fails when it is inspected
                    if name.startswith("_") or getattr(value, "__module__", None) != module_name:
                        continue
                    if isinstance(value, type):
                        for member, raw in list(vars(value).items()):
                            if isinstance(raw, types.FunctionType) and is_factory_name(member):
                                yield from _annotated(raw, module_name, f"{value.__qualname__}.{member}", value)
                    elif isinstance(value, types.FunctionType):
                        yield from _annotated(value, module_name, name, None)


def is_factory_name(name: str) -> bool:
    """The name of a method says that it builds an object, as in `from_text` and `parse`."""
    return _BUILDING.match(name) is not None


def _annotated(raw: types.FunctionType, module: str, name: str, owner: type | None) -> Iterator[Factory]:
    function = unwrapped(raw)
    if isinstance(function, types.FunctionType) and "return" in function.__annotations__:
        yield Factory(function, module, name, owner)
