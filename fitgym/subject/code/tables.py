"""Tables: displays of nothing but literals, which can have hundreds of thousands of items."""

from __future__ import annotations

import ast

__all__ = ["MOST_NODES", "abridge", "is_table"]

MOST_NODES = 5_000
"""What the analyses see of one table, in nodes of the syntax tree."""

_SIGNS = (ast.USub, ast.UAdd)
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)


def is_table(node: ast.AST) -> bool:
    """The node is a list, tuple, set or dictionary display with literals only, at any depth."""
    return isinstance(node, _DISPLAYS) and _size(node) > 0


def abridge(tree: ast.AST) -> None:
    """Shorten each table with more than `MOST_NODES` nodes to its first items, in place.

    What the analyses learn from a table (constants, patterns) is in its first items, and their time grows with its size.
    """
    rest: list[ast.AST] = [tree]
    while rest:
        node = rest.pop()
        if isinstance(node, _DISPLAYS) and (size := _size(node)):
            if size > MOST_NODES:
                _shorten(node)
        else:
            rest.extend(ast.iter_child_nodes(node))


def _size(node: ast.AST) -> int:
    """How many nodes a literal has, 0 if there is anything else in it."""
    found = 0
    rest: list[ast.AST | None] = [node]
    while rest:
        inner = rest.pop()
        found += 1
        kind = type(inner)
        if kind is ast.Constant:
            continue
        if kind is ast.Dict:
            rest += inner.values  # type: ignore[union-attr]
            rest += inner.keys  # type: ignore[union-attr]
        elif kind is ast.List or kind is ast.Tuple or kind is ast.Set:
            if isinstance(getattr(inner, "ctx", None), ast.Store | ast.Del):
                return 0
            rest += inner.elts  # type: ignore[union-attr]
        elif kind is ast.UnaryOp and isinstance(inner.op, _SIGNS) and isinstance(inner.operand, ast.Constant):  # type: ignore[union-attr]
            continue
        else:
            return 0
    return found


def _shorten(node: ast.AST) -> None:
    """Cut the items of a literal off where `MOST_NODES` are reached; the first item stays, shortened if need be."""
    if isinstance(node, ast.Dict):
        kept = _first([(key, value) for key, value in zip(node.keys, node.values, strict=True) if key is not None])
        node.keys, node.values = node.keys[:kept], node.values[:kept]
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        node.elts = node.elts[: _first([(item,) for item in node.elts])]


def _first(items: list[tuple[ast.expr, ...]]) -> int:
    """How many of the items fit, one at least."""
    room = MOST_NODES - 1
    for index, item in enumerate(items):
        size = sum(map(_size, item))
        if size > room and index == 0:
            for part in item:
                _shorten(part)
            return 1
        if size > room:
            return index
        room -= size
    return len(items)
