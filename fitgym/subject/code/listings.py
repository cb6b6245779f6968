"""Listings: the constants that a name of the source stands for, such as the keys of a table."""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["listed", "listings"]

_BUILDING = frozenset({"dict", "frozenset", "list", "OrderedDict", "set", "tuple", "MappingProxyType"})


def listings(tree: ast.AST) -> dict[str, tuple[str, ...]]:
    """Return the constants in each display that a module or a class gives a name.

    The names are those of the module (`NAME`) and of its classes (`Class.NAME`).
    """
    found: dict[str, tuple[str, ...]] = {}
    for prefix, body in _bodies(tree):
        for statement in body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    texts = listed(value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    texts = listed(value)
                case _:
                    continue
            if texts:
                found[f"{prefix}{name}"] = texts
    return found


def _bodies(tree: ast.AST) -> Iterator[tuple[str, list[ast.stmt]]]:
    body: list[ast.stmt] = getattr(tree, "body", [])
    yield "", body
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield f"{node.name}.", node.body


def listed(node: ast.expr) -> tuple[str, ...]:
    """Return the texts and numbers among the keys of a dict, or the items of another container, as source text.

    Example: `{"a": 1, "b": 2}`, `dict(a=1, b=2)` and `frozenset(["a", "b"])` list `'a'` and `'b'`.
    """
    return tuple(dict.fromkeys(repr(value) for value in _constants(node)))


def _constants(node: ast.expr) -> Iterator[str | bytes | int | float]:
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            parts: list[ast.expr] = items
        case ast.Dict(keys=keys):
            parts = [key for key in keys if key is not None]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=words) if name in _BUILDING:
            yield from (word.arg for word in words if word.arg is not None)
            for argument in arguments[:1]:
                yield from _constants(argument)
            return
        case ast.BinOp(left=left, op=ast.Add() | ast.BitOr(), right=right):
            yield from _constants(left)
            yield from _constants(right)
            return
        case _:
            return
    for part in parts:
        if isinstance(part, ast.Constant) and type(part.value) in (str, bytes, int, float):
            yield part.value  # type: ignore[misc]
