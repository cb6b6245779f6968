"""Standard input: whether functions of a module read `sys.stdin`, directly or with `input`."""

from __future__ import annotations

import ast

__all__ = ["reads_input"]

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def reads_input(tree: ast.Module) -> bool:
    """Return whether a function reads the standard input.

    It calls the built-in `input` or `fileinput.input`, or uses `sys.stdin`. A default such as `stream=sys.stdin` does not
    count, because it is evaluated at import.
    """
    bodies = [
        part
        for node in ast.walk(tree)
        if isinstance(node, _FUNCTION)
        for part in (node.body if isinstance(node.body, list) else [node.body])
    ]
    imported = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "sys"
        for name in node.names
        if name.name == "stdin"
    }
    redefined = any(_name_bound(node) == "input" for node in ast.walk(tree))
    names = imported if redefined else {*imported, "input"}
    return any(_reads(node, names) for body in bodies for node in ast.walk(body))


def _name_bound(node: ast.AST) -> str:
    """Return the name that a node binds, "" for none."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.alias):
        return node.asname or node.name
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else ""


def _reads(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return (node.value.id, node.attr) in {("sys", "stdin"), ("fileinput", "input")}
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names
