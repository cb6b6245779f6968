"""Built names: the parts with which the code completes the names of attributes that it looks up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

__all__ = ["completions"]

_LOOKING_UP = frozenset({"delattr", "getattr", "globals", "hasattr", "locals", "setattr", "vars"})
_PLACE = re.compile(r"%s|\{[^{}]*\}")
_MOST = 100

_Frame = tuple[str, str]
"""The constant beginning and end of a name."""


def completions(tree: ast.Module) -> tuple[str, ...]:
    """Return texts that complete a built name to one that the module defines, in order of definition.

    `getattr(self, "visit_" + kind)` beside a method `visit_name` gives "name". The name may also be built by an f-string,
    by `%` or by `format`, anywhere in a function that looks up attributes or variables by name.
    """
    frames: dict[_Frame, None] = {}
    names: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.setdefault(node.name)
            if any(_looks_up(inner) for inner in ast.walk(node)):
                frames.update(dict.fromkeys(_frames(node)))
        elif isinstance(node, ast.ClassDef):
            names.setdefault(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.setdefault(node.id)
    found = {
        name[len(start) : len(name) - len(end)]: None
        for name in names
        for start, end in frames
        if name.startswith(start) and name.endswith(end) and len(name) > len(start) + len(end)
    }
    return tuple(found)[:_MOST]


def _looks_up(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _LOOKING_UP


def _frames(function: ast.AST) -> Iterator[_Frame]:
    """Yield the frames of names that a function builds around one value."""
    for node in ast.walk(function):
        match node:
            case ast.JoinedStr(values=values):
                text = "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in values)
            case ast.BinOp(left=ast.Constant(value=str(start)), op=ast.Add()):
                text = start + "{}"
            case ast.BinOp(op=ast.Add(), right=ast.Constant(value=str(end))):
                text = "{}" + end
            case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
                pass
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
                pass
            case _:
                continue
        parts = _PLACE.split(text)
        if len(parts) == 2 and len("".join(parts).strip("_")) > 1 and "x".join(parts).isidentifier():
            yield parts[0], parts[1]
