"""Extensions by file: the name of an extension is the name of the file that defines it.

A folder of extensions holds `base.py` with the base class and one file per extension; each file defines exactly one
public subclass. Files are listed without being imported, and imported only when their name is asked for.
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
        package: the folder as an import name, for example "fitgym.fitness".
        base: the class that every extension in it extends.
        noun: what one extension is called in messages, for example "fitness function".
        parts: names of files of the folder that define no extension, besides `base` and those that begin with `_`.
    """

    def __init__(self, package: str, base: type[Base], noun: str, *, parts: Collection[str] = ()) -> None:
        self.package = package
        self.base = base
        self.noun = noun
        self.parts = frozenset(parts) | {"base"}
        self._loaded: dict[str, type[Base]] = {}

    def names(self) -> list[str]:
        """The names of all extensions, sorted; nothing is imported but the folder itself."""
        folder = importlib.import_module(self.package)
        return sorted(
            module.name
            for module in pkgutil.iter_modules(folder.__path__)
            if not module.ispkg and module.name not in self.parts and not module.name.startswith("_")
        )

    def load(self, name: str) -> type[Base]:
        """The class that the file `name` defines.

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
    """The keyword-only arguments of a constructor with their defaults; also those that it hands on to its base class."""
    found: dict[str, Any] = {}
    for owner in cls.__mro__:
        if "__init__" in vars(owner):
            parameters = list(inspect.signature(vars(owner)["__init__"]).parameters.values())
            found |= {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in found}
            if not any(p.kind is p.VAR_KEYWORD for p in parameters):
                break
    return found


def parse_options(text: str, known: Sequence[str], who: str, words: Collection[str] = ()) -> dict[str, Any]:
    """Constructor arguments from `key=value,key=value`, the values as JSON: what follows the colon in `name:...`.

    Args:
        text: may be empty.
        known: the keys that are accepted.
        words: those of which the value is a word, without quotation marks.
        who: of what they are options, for messages, such as "agent 'ucb'".

    Raises:
        InputError: an unknown key, or a value that is not JSON.
    """
    found: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals or key not in known:
            accepted = ", ".join(f"{name}=..." for name in known) or "nothing"
            raise InputError(f"{who} does not understand '{part}' (after the colon: {accepted})")
        try:
            found[key] = value if key in words else json.loads(value)
        except json.JSONDecodeError:
            raise InputError(f"{who}: {key} is '{value}', expected a number, true or false") from None
    return found
