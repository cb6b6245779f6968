"""Names: resolution of names in annotations and conditions, and lookup of functions in the syntax tree."""

from __future__ import annotations

import ast
import contextlib
import importlib
import os
import sys
import types
from collections.abc import Iterator, Mapping
from typing import IO, Any

from fitgym.subject.introspection.callables import asked
from fitgym.subject.types.declarations import from_annotation
from fitgym.subject.types.hints import Hint, union

__all__ = ["Known", "Namespace", "Nodes", "assigned", "find_class", "plain"]


_PATH = str | os.PathLike[str]
_TYPESHED: Mapping[str, Any] = {
    **dict.fromkeys(("StrPath", "StrOrBytesPath"), _PATH),
    "FileDescriptorLike": int,
    "FileDescriptorOrPath": int | _PATH,
    **dict.fromkeys(("ReadableBuffer", "SizedBuffer"), bytes),
    "WriteableBuffer": bytearray,
    **dict.fromkeys(("SupportsRead", "SupportsReadline", "SupportsWrite"), IO),
    **dict.fromkeys(("SupportsItems", "SupportsKeysAndGetItem"), Mapping),
}
"""What stands for types of `_typeshed`, a module that only type checkers have."""


class Namespace(Mapping[str, Any]):
    """The names that annotations of the subject can use.

    Names that are imported for type checkers only (`if TYPE_CHECKING:`) are imported when an annotation uses them. The
    name of the package is always known, because docstrings give classes by their full names.
    """

    def __init__(self, module: types.ModuleType, tree: ast.Module) -> None:
        self.module = module
        self.imports = dict(_imports(tree))
        self.extra: tuple[Mapping[str, Any], ...] = ()

    def within(self, function: Any, owner: type | None) -> Namespace:
        """Return the same names, preceded by those of a function (its globals and type parameters) and of a class."""
        inner = Namespace.__new__(Namespace)
        inner.module, inner.imports = self.module, self.imports
        layers: list[Mapping[str, Any]] = []
        for thing in (function, owner):
            layers += [{parameter.__name__: parameter} for parameter in asked(thing, "__type_params__") or ()]
        if owner is not None:
            layers.append(vars(owner) if "<locals>" in owner.__qualname__ else {})
            layers.append(vars(sys.modules.get(owner.__module__, self.module)))
        own = asked(function, "__globals__")
        if isinstance(own, dict):
            layers.append(own)
        inner.extra = tuple(layers)
        return inner

    def __getitem__(self, name: str) -> Any:
        for layer in (*self.extra, vars(self.module)):
            if name in layer:
                return layer[name]
        if name not in self.imports and name == self.module.__name__.partition(".")[0] and name in sys.modules:
            return sys.modules[name]
        module, attribute = self.imports[name]
        package = self.module.__package__ or ""
        if module == "_typeshed" and attribute in _TYPESHED:
            return _TYPESHED[attribute]
        try:
            module = "wsgiref.types" if module == "_typeshed.wsgi" else module
            found = importlib.import_module(module, package)
            return getattr(found, attribute) if attribute else found
        except Exception:  # imports for type checkers need not be importable
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter({**vars(self.module), **self.imports})

    def __len__(self) -> int:
        return len({**vars(self.module), **self.imports})


class Known(Mapping[str, Hint]):
    """Classes, and tuples of classes, by the dotted name under which the source of a module can use them."""

    def __init__(self, module: types.ModuleType) -> None:
        self.module = module

    def __getitem__(self, name: str) -> Hint:
        found: Any = self.module
        for part in name.split("."):
            if not isinstance(found, type | types.ModuleType) or part not in vars(found):
                raise KeyError(name)
            found = vars(found)[part]
        try:
            if isinstance(found, tuple) and found and all(isinstance(item, type) for item in found):
                return union(from_annotation(item, {}) for item in found)
            if isinstance(found, type):
                return from_annotation(found, {})
        except Exception:  # a metaclass can make every question about a class fail
            raise KeyError(name) from None
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(vars(self.module))

    def __len__(self) -> int:
        return len(vars(self.module))


def assigned(node: ast.ClassDef) -> Iterator[str]:
    """Yield the names of the attributes that the methods of a class assign to their receiver."""
    for method in node.body:
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and method.args.args:
            receiver = method.args.args[0].arg
            for child in ast.walk(method):
                match child:
                    case ast.Attribute(value=ast.Name(id=name), attr=attribute, ctx=ast.Store()) if name == receiver:
                        yield attribute


def _imports(tree: ast.Module) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each imported name with its module and, for a `from` import, its name in that module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, ("." * node.level + (node.module or ""), alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    yield alias.asname, (alias.name, "")
                else:
                    yield alias.name.partition(".")[0], (alias.name.partition(".")[0], "")


class Nodes:
    """The functions and classes of the source, by qualified name."""

    def __init__(self, tree: ast.Module) -> None:
        self.functions: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda]] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self._visit(tree, "")

    def _visit(self, node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                name = prefix + ("<lambda>" if isinstance(child, ast.Lambda) else child.name)
                self.functions.setdefault(name, []).append(child)
                inner = name + "."
            elif isinstance(child, ast.ClassDef):
                self.classes[prefix + child.name] = child
                inner = prefix + child.name + "."
            self._visit(child, inner)

    def find(self, code: types.CodeType) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None:
        """Return the node of a code object, by qualified name and then by the nearest line."""
        known = self.functions.get(plain(code.co_qualname), [])
        return min(known, key=lambda node: abs(node.lineno - code.co_firstlineno), default=None)


def plain(qualname: str) -> str:
    """Return a qualified name without the marks of local scopes: `f.<locals>.g` becomes `f.g`."""
    return qualname.replace("<locals>.", "")


def find_class(name: str) -> type | None:
    """Return the class with this name; the longest prefix that is a module is its module."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        module = sys.modules.get(".".join(parts[:cut]))
        if module is None and parts[0] in sys.stdlib_module_names:
            with contextlib.suppress(Exception):
                module = importlib.import_module(".".join(parts[:cut]))
        found: Any = module
        for part in parts[cut:]:
            found = vars(found).get(part) if isinstance(found, type | types.ModuleType) else None
        if isinstance(found, type):
            return found
    return None
