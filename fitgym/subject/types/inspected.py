"""Inspected parameters: those that a function is prepared to get values for that their annotation forbids."""

from __future__ import annotations

import ast

__all__ = ["inspected"]

_ASKS = frozenset({"callable", "hasattr", "isinstance", "issubclass", "type"})
_FOREIGN = frozenset({"AttributeError", "Exception", "BaseException", "TypeError"})  # what wrong classes end in


def inspected(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    """The parameters whose class a function looks at, by name.

    A function looks at a parameter if it asks for the class of it, matches it against patterns, or compares it with
    None. It looks at all of them if it raises or handles an exception that a value of a wrong class leads to, or returns
    NotImplemented. Only there a test with an ill-typed argument says something about the code; anywhere else it says
    that Python is not typed.
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
