"""Environment variables: the names that the functions of a source read."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

__all__ = ["variables"]

_METHODS = frozenset({"get", "pop", "setdefault"})
_MOST = 12
_LEFT_ALONE = ("PATH", "PYTHON", "LD_")
"""Beginnings of the names on which the interpreter itself depends."""


def variables(tree: ast.Module) -> tuple[str, ...]:
    """Return the names of the environment variables that functions read, in the order of the source, at most twelve.

    A name is a literal or a constant of the module: `os.environ.get(DEBUG)`. What is read at import is left out, because
    a test imports the module before it sets a variable.
    """
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    found = dict.fromkeys(
        name for function in functions for node in ast.walk(function) for name in _read(node, constants)
    )
    return tuple(name for name in found if name and "=" not in name and not name.startswith(_LEFT_ALONE))[:_MOST]


def _read(node: ast.AST, constants: Mapping[str, str]) -> Iterator[str]:
    """Yield the name that an expression looks up in the environment, if it is known."""
    match node:
        case ast.Call(func=ast.Attribute(value=place, attr=method), args=[key, *_]) if (
            method in _METHODS and _is_environment(place)
        ):
            yield from _text(key, constants)
        case ast.Call(func=ast.Attribute(attr="getenv") | ast.Name(id="getenv"), args=[key, *_]):
            yield from _text(key, constants)
        case ast.Subscript(value=place, slice=key, ctx=ast.Load()) if _is_environment(place):
            yield from _text(key, constants)
        case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[place]) if _is_environment(place):
            yield from _text(key, constants)


def _is_environment(node: ast.expr) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "environ") or (
        isinstance(node, ast.Name) and node.id == "environ"
    )


def _text(node: ast.expr, constants: Mapping[str, str]) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.Name(id=name) if name in constants:
            yield constants[name]
