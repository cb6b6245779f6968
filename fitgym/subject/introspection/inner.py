"""Inner functions: a function that another one defines and returns, so that tests can call it.

A decorator or a factory returns such a function. It exists only after a call, so its signature is put together from its
code and its syntax tree.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fitgym.subject.introspection.codes import Found

__all__ = ["returned_function"]

_Inner = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def returned_function(
    outer: Found, space: dict[str, Any], find: Callable[[Any], Found] = Found, depth: int = 3
) -> Found | None:
    """Return the inner function that every `return` of a function returns, None if there is no such function.

    A function may also return the result of another function of the module, which returns an inner function. Other
    calls in a `return` are ignored then: `return cached(size)(function)` says nothing about `return _decorator(size)`.

    The target of the result has its code, its signature and its annotations as text. It is never called.

    Args:
        outer: the function, with its code and its node.
        space: the namespace of its module.
        find: returns the code and the node of a function of the module.
        depth: how many functions may pass it on.
    """
    if outer.code is None or not isinstance(outer.node, ast.FunctionDef) or depth == 0:
        return None
    returned = _returns(outer.node)
    node = _returned(outer.node, returned)
    if node is None:
        return _passed_on(outer.code, returned, space, find, depth)
    code = _code_of(node, outer.code)
    if code is None:
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


def _returns(outer: ast.FunctionDef) -> list[ast.expr | None]:
    """Return the values of the `return` statements of a function; none for a generator."""
    own = list(_own(outer.body))
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own):
        return []
    return [node.value for node in own if isinstance(node, ast.Return)]


def _passed_on(
    code: types.CodeType,
    returned: Sequence[ast.expr | None],
    space: dict[str, Any],
    find: Callable[[Any], Found],
    depth: int,
) -> Found | None:
    """Return the inner function of the function whose result a function returns, None if that is not a single one."""
    if not all(isinstance(value, ast.Call) for value in returned):
        return None
    names = sorted(set(map(_called, returned)))
    called = [space[name] for name in names if isinstance(space.get(name), types.FunctionType)]
    if len(called) != 1:
        return None
    passed = find(called[0])
    return None if passed.code is code else returned_function(passed, space, find, depth - 1)


def _returned(outer: ast.FunctionDef, returned: Sequence[ast.expr | None]) -> _Inner | None:
    """Return the node of the inner function that is returned by its name."""
    defined: dict[str, list[_Inner]] = {}
    for node in _own(outer.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            defined.setdefault(node.name, []).append(node)
    match [_undressed(value) for value in returned]:
        case [ast.Lambda() as only]:
            return only
        case values:
            names = {value.id for value in values if isinstance(value, ast.Name)}
            # A decorator with optional arguments returns `inner` or `inner(function)`.
            rest = [_called(value) for value in values if not isinstance(value, ast.Name)]
            found = defined.get(next(iter(names), ""), [])
            if len(names) == 1 and names.issuperset(rest) and len(found) == 1 and _is_bare(found[0]):
                return found[0]
    return None


def _undressed(value: ast.expr | None) -> ast.expr | None:
    """Return f for `functools.wraps(...)(f)` and `functools.update_wrapper(f, ...)`, any other value as it is."""
    match value:
        case ast.Call(func=ast.Call(func=maker), args=[inner]) if _last(maker) == "wraps":
            return inner
        case ast.Call(func=maker, args=[inner, *_]) if _last(maker) == "update_wrapper":
            return inner
    return value


def _called(value: ast.expr | None) -> str:
    """Return the name of the function that an expression calls, "" for other expressions."""
    return value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""


def _last(name: ast.expr) -> str:
    """Return the last part of a dotted name."""
    return ast.unparse(name).rpartition(".")[2]


def _own(nodes: list[Any]) -> Iterator[ast.AST]:
    """Yield the nodes of a function's own scope; inner functions and classes without what is in them."""
    for node in nodes:
        yield node
        if not isinstance(node, _Inner | ast.ClassDef):
            yield from _own(list(ast.iter_child_nodes(node)))


def _is_bare(node: _Inner) -> bool:
    """Return whether no decorator changes the function; `functools.wraps(...)` only describes it."""
    marks = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return all(isinstance(mark, ast.Call) and _last(mark.func) == "wraps" for mark in marks)


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
