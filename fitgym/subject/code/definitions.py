"""Definitions: the functions and classes of a source, and the binding of arguments in calls of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitgym.subject.code.listings import listings

__all__ = [
    "AnyFunction",
    "Definitions",
    "bound",
    "called_name",
    "is_static",
    "parameter_names",
    "positional",
    "receiver_of",
]

AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
"""The syntax node of a function."""


class Definitions:
    """The definitions of a module.

    Args:
        tree: the module.

    Attributes:
        functions: the top-level functions, by name.
        classes: all classes, by name; if several have the same name, the first.
        owners: the class of each method.
        listings: the constants in displays that the module and its classes name.
    """

    def __init__(self, tree: ast.AST) -> None:
        self.functions: dict[str, AnyFunction] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.owners: dict[AnyFunction, ast.ClassDef] = {}
        self.listings = listings(tree)
        self._index(tree)

    def method(self, owner: ast.ClassDef, name: str, depth: int = 5) -> AnyFunction | None:
        """Return the method that `self.name` refers to, from the class and its bases inside the module."""
        for statement in owner.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and statement.name == name:
                return statement
        for base in owner.bases:
            inherited = self.classes.get(base.id) if isinstance(base, ast.Name) else None
            if inherited is not None and depth:
                found = self.method(inherited, name, depth - 1)
                if found is not None:
                    return found
        return None

    def ancestors(self, owner: ast.ClassDef) -> list[ast.ClassDef]:
        """Return the class and its bases inside the module, the nearest first."""
        found = [owner]
        for known in found:
            bases = (self.classes.get(base.id) for base in known.bases if isinstance(base, ast.Name))
            found += [base for base in bases if base is not None and base not in found]
        return found

    def _index(self, node: ast.AST, owner: ast.ClassDef | None = None, top: bool = True) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                self.classes.setdefault(child.name, child)
                self._index(child, child, top=False)
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                if owner is not None:
                    self.owners[child] = owner
                elif top:
                    self.functions[child.name] = child
                self._index(child, None, top=False)
            else:
                self._index(child, owner, top)


def called_name(function: ast.expr) -> str:
    """Return `f` for `f` and `x.f`, "" for any other expression."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def parameter_names(node: AnyFunction) -> list[str]:
    """Return the names of all parameters, `*args` and `**kwargs` last."""
    arguments = node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return names + [argument.arg for argument in (arguments.vararg, arguments.kwarg) if argument is not None]


def positional(node: AnyFunction) -> list[str]:
    """Return the names of the parameters that accept positional arguments, including the receiver."""
    return [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]


def is_static(node: AnyFunction) -> bool:
    """The function is a static method: it has no receiver."""
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return any(isinstance(decorator, ast.Name) and decorator.id == "staticmethod" for decorator in decorators)


def receiver_of(node: AnyFunction, owner: ast.ClassDef | None) -> str:
    """Return the name of the receiver, "" for functions and static methods."""
    names = positional(node)
    return names[0] if owner is not None and names and not is_static(node) else ""


def bound(call: ast.Call, names: list[str]) -> Iterator[tuple[str, ast.expr]]:
    """Yield each argument of a call with the parameter that receives it, up to the first starred argument."""
    for name, argument in zip(names, call.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        yield name, argument
    for word in call.keywords:
        if word.arg is not None:
            yield word.arg, word.value
