"""Elsewhere: what functions of other modules do with their parameters.

An object for a test is often made by a constructor of another module, and many constructors have no annotations.
"""

from __future__ import annotations

import ast
import sys
import tokenize
import types
from collections.abc import Mapping, Sequence
from typing import Any

from fitgym.subject.code.definitions import AnyFunction
from fitgym.subject.code.syntax import parse
from fitgym.subject.introspection.callables import unwrapped
from fitgym.subject.introspection.names import Known, Nodes, plain
from fitgym.subject.types.hints import Hint, name_of
from fitgym.subject.types.usage import Usage

__all__ = ["Elsewhere"]

_MOST_FILES = 40  # read
_MOST_LETTERS = 400_000  # of one file


class Elsewhere:
    """The uses of parameters in modules other than the one under test, without the standard library.

    Of a module, only the class of the function is looked at, or the function alone: the whole module would take too long.

    Args:
        attributes: of the loaded classes of the package, by their names in hints.
    """

    def __init__(self, attributes: Mapping[str, frozenset[str]]) -> None:
        self._attributes = attributes
        self._files: dict[str, Nodes | None] = {}
        self._usages: dict[ast.AST, Usage] = {}

    def demands(self, target: Any) -> Mapping[str, Hint]:
        """Return the inferred type of each parameter of a callable, see `Usage.demands`; none without its source.

        Args:
            target: a function, or a class, which stands for its `__init__`.
        """
        usage, node = self._of(target)
        return {} if usage is None or node is None else usage.demands(node)

    def stored(self, target: Any) -> Mapping[str, Sequence[str]]:
        """Return the attributes to which a constructor assigns its parameters, see `Usage.stored`; none without its source."""
        usage, node = self._of(target)
        return {} if usage is None or node is None else usage.stored(node)

    def _of(self, target: Any) -> tuple[Usage, AnyFunction] | tuple[None, None]:
        """Return the usage of the parameters of a callable, and its node; None and None without its source."""
        if isinstance(target, type):
            target = next((vars(cls)["__init__"] for cls in target.__mro__ if "__init__" in vars(cls)), None)
        function = unwrapped(target)
        module = sys.modules.get(str(getattr(function, "__module__", "")))
        if not isinstance(function, types.FunctionType) or module is None:
            return None, None
        if module.__name__.partition(".")[0] in sys.stdlib_module_names:
            return None, None
        nodes = self._nodes(function.__code__.co_filename)
        node = None if nodes is None else nodes.find(function.__code__)
        if nodes is None or node is None:
            return None, None
        around = nodes.classes.get(plain(function.__code__.co_qualname).rpartition(".")[0], node)
        if around not in self._usages:
            self._usages[around] = self._usage(around, module)
        return self._usages[around], node

    def _usage(self, node: ast.AST, module: types.ModuleType) -> Usage:
        named = {name_of(value) for value in list(vars(module).values()) if issubclass(type(value), type)}
        near = {name: found for name, found in self._attributes.items() if name in named}
        far = {name: found for name, found in self._attributes.items() if name not in named}
        return Usage(ast.Module([node], []), Known(module), near, far)  # type: ignore[list-item]

    def _nodes(self, file: str) -> Nodes | None:
        """Return the functions and classes in a file, None if it is no readable source or the limit is reached."""
        if file not in self._files and len(self._files) < _MOST_FILES:
            self._files[file] = _read(file)
        return self._files.get(file)


def _read(file: str) -> Nodes | None:
    try:
        with tokenize.open(file) as text:
            source = text.read(_MOST_LETTERS + 1)
        return Nodes(parse(source)) if len(source) <= _MOST_LETTERS else None
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
