"""Returns: where the functions of a source return a value."""

from __future__ import annotations

import ast

__all__ = ["returning_lines"]


def returning_lines(tree: ast.Module) -> frozenset[int]:
    """Return the first lines of the `return` statements that return something else than the constant None."""
    return frozenset(
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Return)
        and node.value is not None
        and not (isinstance(node.value, ast.Constant) and node.value.value is None)
    )
