"""Tables: displays that contain only literals, possibly hundreds of thousands of items."""

from __future__ import annotations

import ast

__all__ = ["MOST_NODES", "abridge", "is_table"]

MOST_NODES = 5_000
"""Maximum number of syntax nodes that the analyses see of one table."""

_SIGNS = (ast.USub, ast.UAdd)
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)


def is_table(node: ast.AST) -> bool:
    """The node is a list, tuple, set or dictionary display that contains only literals, at any depth."""
    return isinstance(node, _DISPLAYS) and _size(node) > 0


def abridge(tree: ast.AST) -> None:
    """Shorten each table with more than `MOST_NODES` nodes to its first items, in place.

    The first items show the analyses all that they use of a table (constants, patterns). The time of the analyses grows
    with its size.
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
    """Return the number of nodes of a literal, 0 if it contains anything else."""
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
    """Drop the items of a literal beyond `MOST_NODES` nodes; the first item stays, shortened if necessary."""
    if isinstance(node, ast.Dict):
        kept = _first([(key, value) for key, value in zip(node.keys, node.values, strict=True) if key is not None])
        node.keys, node.values = node.keys[:kept], node.values[:kept]
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        node.elts = node.elts[: _first([(item,) for item in node.elts])]


def _first(items: list[tuple[ast.expr, ...]]) -> int:
    """Return the number of items that fit, at least one."""
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
