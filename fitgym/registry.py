"""Registries of extensions: the name of an extension is the name of the file that defines it.

A folder of extensions holds `base.py` with the base class, and one file per extension. Each file defines exactly one
public subclass. Files are listed without importing them; a file is imported when its extension is loaded.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from collections.abc import Collection, Sequence
from typing import Any, Generic, TypeVar

from fitgym.errors import FitgymError, InputError, UnknownName

__all__ = ["Registry", "keywords", "parse_options"]

Base = TypeVar("Base")


class Registry(Generic[Base]):
    """The extensions of one folder.

    Args:
        package: import name of the folder, for example "fitgym.fitness".
        base: the base class of all extensions in the folder.
        noun: the word for one extension in messages, for example "fitness function".
        parts: names of files that define no extension, besides `base` and names that begin with `_`.
    """

    def __init__(self, package: str, base: type[Base], noun: str, *, parts: Collection[str] = ()) -> None:
        self.package = package
        self.base = base
        self.noun = noun
        self.parts = frozenset(parts) | {"base"}
        self._loaded: dict[str, type[Base]] = {}

    def names(self) -> list[str]:
        """Return the names of all extensions, sorted; only the folder's own package is imported."""
        folder = importlib.import_module(self.package)
        return sorted(
            module.name
            for module in pkgutil.iter_modules(folder.__path__)
            if not module.ispkg and module.name not in self.parts and not module.name.startswith("_")
        )

    def load(self, name: str) -> type[Base]:
        """Return the class that the file `name` defines.

        Raises:
            UnknownName: there is no such file.
            FitgymError: the file does not define exactly one public subclass of the base class.
        """
        if name in self._loaded:
            return self._loaded[name]
        if name not in self.names():
            raise UnknownName(self.noun, name, self.names())
        module = importlib.import_module(f"{self.package}.{name}")
        found = [
            member
            for key, member in vars(module).items()
            if inspect.isclass(member)
            and issubclass(member, self.base)
            and member.__module__ == module.__name__
            and not key.startswith("_")
        ]
        if len(found) != 1:
            raise FitgymError(
                f"{module.__file__} defines {len(found)} public subclasses of {self.base.__name__}, expected exactly "
                "one: start the names of the others with an underscore or move them to files of their own"
            )
        self._loaded[name] = found[0]
        return found[0]


def keywords(cls: type) -> dict[str, Any]:
    """Return the keyword-only arguments of a constructor with their defaults.

    If the constructor takes `**keywords`, those of the base class are included.
    """
    found: dict[str, Any] = {}
    for owner in cls.__mro__:
        if "__init__" in vars(owner):
            parameters = list(inspect.signature(vars(owner)["__init__"]).parameters.values())
            found |= {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in found}
            if not any(p.kind is p.VAR_KEYWORD for p in parameters):
                break
    return found


def parse_options(text: str, known: Sequence[str], who: str, words: Collection[str] = ()) -> dict[str, Any]:
    """Parse constructor options `key=value,key=value`, as written after the colon in `name:...`; values are JSON.

    Args:
        text: the options, may be empty.
        known: the accepted keys.
        words: keys whose value is plain text, without quotation marks.
        who: the owner of the options, for messages, such as "agent 'ucb'".

    Raises:
        InputError: a key is unknown, or a value is not JSON.
    """
    found: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals or key not in known:
            accepted = ", ".join(f"{name}=..." for name in known) or "nothing"
            raise InputError(f"{who} has no option '{part}'; expected after the colon: {accepted}")
        try:
            found[key] = value if key in words else json.loads(value)
        except json.JSONDecodeError:
            raise InputError(f"{who}: {key} is '{value}', expected a number, true or false") from None
    return found
