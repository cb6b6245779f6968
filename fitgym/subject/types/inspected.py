"""Inspected parameters: the code handles values for them that their annotation forbids."""

from __future__ import annotations

import ast

__all__ = ["inspected"]

_ASKS = frozenset({"callable", "hasattr", "isinstance", "issubclass", "type"})
_FOREIGN = frozenset({"AttributeError", "Exception", "BaseException", "TypeError"})  # raised for ill-typed values


def inspected(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    """Return the names of the parameters whose class the function inspects.

    A function inspects a parameter if it tests its class, matches it against patterns, or compares it with None by
    `is`. It inspects all of them if it raises or handles an exception that values of a wrong class cause, or returns
    NotImplemented. Only then does a test with an ill-typed argument test the code; otherwise it only shows that Python
    does not check types.
    """
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    names = frozenset(one.arg for one in every)
    found: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=asked), *_]) if name in _ASKS:
                found.add(asked)
            case ast.Compare(left=ast.Name(id=asked), ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant()]):
                found.add(asked)
            case ast.Match(subject=ast.Name(id=asked)):
                found.add(asked)
            case ast.Raise(exc=ast.Call(func=ast.Name(id=name)) | ast.Name(id=name)) if name in _FOREIGN:
                return names
            case ast.ExceptHandler(type=None):
                return names
            case ast.ExceptHandler(type=ast.expr() as caught) if _FOREIGN & {
                one.id for one in ast.walk(caught) if isinstance(one, ast.Name)
            }:
                return names
            case ast.Return(value=ast.Name(id="NotImplemented")):
                return names
    return names & found
