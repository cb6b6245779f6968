"""Inner functions: a function that another one defines and returns, so that tests can call it.

A decorator or a factory returns such a function. It exists only after a call, so its signature is put together from its
code and its syntax tree.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from typing import Any

from fitgym.subject.introspection.codes import Found

__all__ = ["returned_function"]

_Inner = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def returned_function(outer: Found, space: dict[str, Any]) -> Found | None:
    """Return the inner function that every `return` of a function returns, None if there is no such function.

    The target of the result has its code, its signature and its annotations as text. It is never called.

    Args:
        outer: the function, with its code and its node.
        space: the namespace of its module.
    """
    if outer.code is None or not isinstance(outer.node, ast.FunctionDef):
        return None
    node = _returned(outer.node)
    code = None if node is None else _code_of(node, outer.code)
    if node is None or code is None:
        return None
    function = types.FunctionType(
        code,
        space,
        code.co_name,
        tuple(map(_value, node.args.defaults)),
        tuple(types.CellType() for _ in code.co_freevars),
    )
    named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    function.__kwdefaults__ = {entry.arg: _value(default) for entry, default in named if default is not None}
    entries = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    entries += [entry for entry in (node.args.vararg, node.args.kwarg) if entry is not None]
    function.__annotations__ = {
        entry.arg: ast.unparse(entry.annotation) for entry in entries if entry.annotation is not None
    }
    if not isinstance(node, ast.Lambda):
        if node.returns is not None:
            function.__annotations__["return"] = ast.unparse(node.returns)
        function.__doc__ = ast.get_docstring(node)
    return Found(function, code, node)


def _returned(outer: ast.FunctionDef) -> _Inner | None:
    """Return the node of the inner function."""
    defined: dict[str, list[_Inner]] = {}
    returned: list[ast.expr | None] = []
    for node in _own(outer.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            defined.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Return):
            returned.append(node.value)
        elif isinstance(node, ast.Yield | ast.YieldFrom):
            return None
    match returned:
        case [ast.Lambda() as only]:
            return only
        case [ast.Name(id=name), *others] if all(isinstance(one, ast.Name) and one.id == name for one in others):
            found = defined.get(name, [])
            return found[0] if len(found) == 1 and _is_bare(found[0]) else None
    return None


def _own(nodes: list[Any]) -> Iterator[ast.AST]:
    """Yield the nodes of a function's own scope; inner functions and classes without what is in them."""
    for node in nodes:
        yield node
        if not isinstance(node, _Inner | ast.ClassDef):
            yield from _own(list(ast.iter_child_nodes(node)))


def _is_bare(node: _Inner) -> bool:
    """Return whether no decorator changes the function; `functools.wraps(...)` only describes it."""
    marks = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return all(isinstance(mark, ast.Call) and ast.unparse(mark.func).rpartition(".")[2] == "wraps" for mark in marks)


def _code_of(node: _Inner, outer: types.CodeType) -> types.CodeType | None:
    """Return the code of an inner function: of those with its name, the nearest one."""
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    known = [one for one in outer.co_consts if isinstance(one, types.CodeType) and one.co_name == name]
    return min(known, key=lambda code: abs(code.co_firstlineno - node.lineno), default=None)


def _value(default: ast.expr) -> object:
    """Return the value of a default that is a literal, None for other defaults."""
    try:
        return ast.literal_eval(default)
    except ValueError:
        return None
