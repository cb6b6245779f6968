"""Unused parameters: the signature asks for them, and the code never reads them."""

from __future__ import annotations

import ast

__all__ = ["unused"]

_PLAIN = frozenset({"abstractmethod", "classmethod", "final", "override", "staticmethod"})
"""Decorators that do not read the arguments."""

_READS_ALL = frozenset({"dir", "eval", "exec", "locals", "vars"})


def unused(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    """Return the names of the parameters that the function does not read, so that any value does.

    None are known for a function whose decorators may read the arguments, that may read all its variables by name
    (`locals()`), or whose body is empty or only raises: an override of it may read them.
    """
    if isinstance(function, ast.Lambda):
        body: list[ast.stmt] = [ast.Expr(function.body)]
    else:
        body = function.body
        names = {
            one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in function.decorator_list
        }
        if not names <= _PLAIN:
            return frozenset()
        if all(isinstance(one, ast.Pass | ast.Raise) or _is_constant(one) for one in body):
            return frozenset()
    read = {node.id for one in body for node in ast.walk(one) if isinstance(node, ast.Name)}
    if read & _READS_ALL:
        return frozenset()
    arguments = function.args
    return frozenset(one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)) - read


def _is_constant(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
